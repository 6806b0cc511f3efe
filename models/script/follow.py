"""Interpreter of a script: variables and started programs.

Nothing is executed. If a condition is unknown, both branches are interpreted. Source: the Bash
Reference Manual, 4 (Shell Builtin Commands).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Sequence

from .conditions import HOLDS, Truth, evaluate_sum, evaluate_test
from .flow import UNKNOWN, ControlFlow
from .launch import Started, is_shell, launch_of, nested_text
from .pieces import Place, VariableValue, WordText, joined
from .state import MAX_CALLS, LimitExceeded
from .syntax import MAX_DEPTH, NAME, Script, Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node

VISIBLE = (
    "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
)  # fmt: skip
"""Variables that name the accelerators visible to a program."""
_EXITS = ("exit", "return", "break", "continue")
_CLOSERS = ("then", "elif", "else", "fi", "do", "done", "esac", "}", ")", "))", "]]", "]")
_SEPARATORS = (";", "&", ";;", "\n", "&&", "||", "|", "|&")
_ASSIGNING = ("read", "mapfile", "readarray", "printf", "getopts", "let")
_BUILTINS = (*_ASSIGNING, "shift", "set", ":", "true", "false")
_SUCCEEDING = (
    "echo", "cd", "pushd", "popd", "mkdir", "sleep", "wait", "trap", "umask", "ulimit", "alias", "shopt",
    "hash", "cat", "date", "pwd", "touch", "env", "printenv", "unalias", "jobs", "kill",
)  # fmt: skip
"""Further commands assumed to succeed."""
_WORDS = (
    "string", "concatenation", "expansion", "simple_expansion", "word", "number", "raw_string",
    "command_substitution", "arithmetic_expansion", "ansi_c_string", "translated_string",
    "process_substitution", "brace_expression", "command_name", "test_command", "heredoc_body",
    "heredoc_redirect", "extglob_pattern", "regex",
)  # fmt: skip
"""Nodes read letter by letter: parse errors inside do not count."""
_SETUP_FILES = re.compile(
    r"(^|/)(activate|(set_?env|setup|setvars|conda|modules?|env-?vars)(\.(sh|bash))?|\.?(bash|z)?(rc|_?profile)|switch_env)$"
    r"|^/(etc|opt|usr)/|/etc/profile"
)
"""Files that set up a machine.

Their variables belong to the environment, as after a login.
"""
_CUT = re.compile(r"(?:[ \t]|\\\n)*\\\n(?:[ \t]|\\\n)*(#[^\n]*)")
_BLANK_ARGUMENT = re.compile(r"[ \t]*(?:\\\n[ \t]*)*(\\[ \t])")


class Follower(ControlFlow):
    """Interpreter of the statements of a script."""

    def whole(self) -> None:
        """Interpret all statements.

        Raises Unreadable at a place that bash could not read, and TooMuch.
        """
        children = self.script.root.children
        for position, node in enumerate(children):
            if self.state.ended:
                return
            self._check(node)
            following = children[position + 1 : position + 2]
            background = any(child.type == "&" for child in following)
            self.statements([node, *following] if background else [node])

    def _check(self, node: Node) -> None:
        """Check a node for syntax errors. Raises Unreadable at the first error of bash."""
        start, end = self.script.range(node)
        if node.is_missing:
            if node.type in _CLOSERS:
                raise Unreadable(f"`{node.type}` is missing", len(self.script.text))
        elif node.type == "ERROR" or not (node.is_named or node.type in _SEPARATORS):
            sign = self.script.text[start:end].strip(" \t\n\\")
            outermost = node.parent is None or node.parent.type in ("program", "ERROR")
            if sign and (outermost or sign[0] in "()&|;<>"):
                raise Unreadable(f"`{' '.join(sign.split())[:20]}` cannot stand here", start)
        elif not node.has_error:
            return
        elif node.type in _WORDS:
            self.script.word(start, end)
        elif node.type == "array":
            if any(child.is_missing for child in node.children):
                raise Unreadable("what is opened by `(` is not closed", start)
            list(self.script.words(start + 1, end - 1))
        else:
            for child in node.children:
                if child.has_error or child.is_missing:
                    self._check(child)

    def statement(self, node: Node) -> Truth:
        """Interpret a statement; return how it ends. Raises TooMuch or Unreadable."""
        self.state.budget.spend()
        follow = _FOLLOW.get(node.type)
        if follow is None:
            return HOLDS if node.type in ("comment", "ERROR") else UNKNOWN
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"commands or expansions are nested more than {MAX_DEPTH} levels deep"
            raise Unreadable(message, self._place(node)[0], limit=True)
        truth = follow(self, node)
        self.depth -= 1
        return truth

    def _group(self, node: Node) -> Truth:
        """Interpret `{ ...; }`, `( ... )` or `(( ... ))`."""
        if node.children[0].type == "((":
            return self._condition(node)
        shell = self._aside() if node.type == "subshell" else self
        return shell.statements(node.children[1:-1])

    def _condition(self, node: Node) -> Truth:
        """Evaluate `[ ... ]`, `[[ ... ]]` or `(( ... ))`."""
        start, end = self.script.range(node)
        kind, expander, shown = node.children[0].type, self._expander, self.script.shown((start, end))
        inside = (start + len(kind), end - len(kind))
        if kind == "((":
            return evaluate_sum(inside, expander, shown)
        words = list(self.script.words(*inside))
        return evaluate_test(words if kind == "[[" else expander.all_fields(words), shown, expander)

    def _function(self, node: Node) -> Truth:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.state.functions[self.script.written(name)] = (self.script, body)
        return HOLDS

    # -- assignments

    def _assignments(self, node: Node) -> Truth:
        for child in node.named_children if node.type == "variable_assignments" else [node]:
            self._assign(child)
        return HOLDS

    def _assign(self, node: Node) -> None:
        """Interpret `NAME=value`, `NAME+=value` or `NAME=(...)`."""
        target, operator, place = node.children[0], node.children[1], self._place(node)
        name = self.script.written(target).partition("[")[0]
        start, end = self.script.range(operator)[1], self.script.range(node)[1]
        value, text = node.child_by_field_name("value"), None
        if target.type == "subscript":
            why = "an element of it is set by its number, which is not followed"
            self.state.unsure({name}, place, why)
            return
        is_array = value is not None and value.type == "array"
        if not is_array:  # the expansion may set the variable itself
            text = self._expander.one(self.script.parts(start, end))
        old = self.state.variables.get(name) if operator.type == "+=" else None
        if operator.type == "+=" and old is None:
            old = self.state.scalar(name, place)
        if text is None:
            self.state.variables[name] = self._array(name, (start + 1, end - 1), place, old)
            return
        before = old[0] if isinstance(old, list) and old else old
        text = joined([before, text], place=place) if isinstance(before, WordText) else text
        self.state.assign(name, text)

    def _array(self, name: str, inside: Place, place: Place, old: VariableValue | None) -> VariableValue:
        """Return the value of `NAME=(...)` or `NAME+=(...)`."""
        array = list(old) if isinstance(old, list) else [old] if old is not None else []
        for word in self.script.words(*inside):
            written = self.script.text[slice(*word.place)]
            if written[0] == "[" and "]=" in written:
                why = "elements that are set by their numbers are not followed"
                return WordText.unknown(f"${name}", place, why)
            array += self._expander.fields(word)
            self.state.budget.spend(len(array) // 100)
        return array

    def _declare(self, node: Node) -> Truth:
        """Interpret `export`, `declare`, `local` and similar commands."""
        command, flags = self.script.written(node).split()[0], ""
        for child in node.named_children:
            if child.type == "variable_assignment":
                name = self.script.written(child.children[0]).partition("[")[0]
                self._declared(command, name, flags, self._place(node))
                self._assign(child)
                continue
            for text in self._expander.fields(self.script.word(*self.script.range(child))):
                name, equals, _ = text.plain.partition("=")
                if name.startswith("-"):
                    flags += name
                elif text.cut(0, len(name)).known and name.isidentifier():
                    self._declared(command, name, flags, self._place(node))
                    if equals:
                        self.state.assign(name, text.cut(len(name) + 1))
        return HOLDS

    def _declared(self, command: str, name: str, flags: str, place: Place) -> None:
        """Make a variable local or exported; an associative array or a reference is unknown."""
        if command in ("local", "declare", "typeset"):
            self.state.localise(name)
        if command == "export" or "x" in flags:
            self.state.exported.add(name)
        if "A" in flags or "n" in flags:
            self.state.unsure({name}, place, f"what `{command} {flags}` makes is not followed")

    # -- commands

    def _unset(self, node: Node) -> Truth:
        for text in self._expander.all_fields(self.script.command_words(node)):
            if text.known and text.plain.isidentifier():
                self.state.variables[text.plain] = []
        return HOLDS

    def _redirected(self, node: Node) -> Truth:
        """Interpret a statement with redirections.

        A here-document is a file that the statement writes, or its input.
        """
        body, targets = node.child_by_field_name("body"), []
        stdin: WordText | None = None
        for child in node.children:
            targets += [child] if child.type == "file_redirect" else []
            if child.type == "heredoc_redirect":
                stdin = self._heredoc(child)
                targets += [part for part in child.children if part.type == "file_redirect"]
                for inner in child.named_children:
                    if inner.type in ("command", "pipeline", "list"):
                        self._aside().statement(inner)
        if body is None:
            return HOLDS
        if stdin is None or body.type != "command":
            return self.statement(body)
        for target in targets:
            name = target.child_by_field_name("destination")
            if name is not None and target.children[0].type in (">", ">|", "&>"):
                file = self._expander.one(self.script.parts(*self.script.range(name)))
                self.state.files.update({file.plain: stdin} if file.known else {})
                break
        return self._simple(body, stdin)

    def _heredoc(self, node: Node) -> WordText | None:
        """Return the text of a here-document."""
        parts = {child.type: child for child in node.children}
        if not {"heredoc_start", "heredoc_body"} <= parts.keys():
            return None
        inside = self.script.range(parts["heredoc_body"])
        if any(sign in self.script.written(parts["heredoc_start"]) for sign in "'\"\\"):
            return self.script.origin.cut(*inside)
        return self._expander.one(self.script.parts(*inside, True))

    def _simple(self, node: Node, stdin: WordText | None = None) -> Truth:
        """Interpret a simple command: a function, a builtin, a nested text or a program."""
        expander, place = self._expander, self._place(node)
        written = self.script.command_words(node)
        blank = _BLANK_ARGUMENT.match(self.script.text, self.script.range(node)[1])
        if blank:  # to bash, a backslash before a blank is an argument
            written.append(self.script.word(*blank.span(1)))
        words = expander.all_fields(written)
        if not words:
            for child in node.children:
                if child.type == "variable_assignment":
                    self._assign(child)
            return HOLDS
        for child in node.children:
            if child.type == "herestring_redirect":
                inside = self.script.range(child.named_children[-1])
                stdin = expander.one(self.script.parts(*inside))
        name = words[0].plain if words[0].known else ""
        if name in self.state.functions:
            return self._call(self.state.functions[name], words)
        if name in ("[", "test"):
            shown = self.script.shown(self.script.range(node))
            return evaluate_test(words[1 : -1 if name == "[" else None], shown, expander)
        if name in _EXITS:
            return self._leave(name, place)
        if name in _BUILTINS:
            return self._builtin(name, words[1:], place)
        if self._is_self_call(node, words):
            shown = self.script.shown(self.script.range(node))
            raise LimitExceeded(f"`{shown}` begins the script itself again, without an end")
        if name in ("eval", "source", "."):
            return self._included_text(name, words, place)
        if name in _CLOSERS:
            raise Unreadable(f"`{name}` has no beginning", place[0])
        return self._start(node, words, stdin, blank.end(1) if blank else 0)

    def _builtin(self, name: str, words: Sequence[WordText], place: Place) -> Truth:
        """Apply a builtin to the state; return how it ends."""
        state, first = self.state, words[0].plain if words and words[0].known else "1"
        if name in _ASSIGNING and (name != "printf" or any(word.plain == "-v" for word in words)):
            matches = [NAME.match(word.plain) for word in words if word.known]
            names = {match[0] for match in matches if match}
            state.unsure(names, place, f"`{name}` sets it when the script runs")
            return Truth(None, f"it depends on how `{name}` ends")
        if name == "shift" and first.isdecimal() and len(first) < 6:
            number, state.shifted = int(first), True
            state.arguments = state.arguments[number if number <= len(state.arguments) else 0 :]
        plain = [word.plain for word in words]
        if name == "set" and "--" in plain:
            state.arguments, state.open_arguments = tuple(words[plain.index("--") + 1 :]), ""
        return Truth(name != "false")

    def _is_self_call(self, node: Node, words: Sequence[WordText]) -> bool:
        """Return True if a command restarts this script without any change or started program."""
        is_source = words[0].plain in ("source", ".")
        file = next((word for word in words[1:] if word.plain[:1] != "-"), WordText())
        file = file if is_source or is_shell(words[0]) else words[0]
        path = os.path.join(self.state.folder or os.path.dirname(self.state.script), file.path)
        if not file.path or os.path.normpath(path) != self.state.script or words[-1] is not file:
            return False
        changed = self.state.variables if is_source else self.state.exported
        moved = not self.state.folder and any(command.words[0].plain in ("cd", "pushd") for command in self.started)
        assigned = any(child.type == "variable_assignment" for child in node.children)
        unsure = any(self.unsure) or any(self.depends)
        return not (changed or moved or assigned or unsure or any(map(launch_of, self.started)))

    def _start(self, node: Node, words: list[WordText], stdin: WordText | None, end: int) -> Truth:
        """Record a program, or interpret the text of a shell if known."""
        name, (start, stop) = words[0].plain, self.script.range(node)
        unknown = Truth(None, f"it depends on how `{self.script.shown((start, stop))}` ends")
        inner = nested_text(words, stdin, self.state.files)
        if inner is not None:
            follower = self._aside()
            follower.state.arguments, follower.state.open_arguments = tuple(inner[1]), ""
            follower._inner(inner[0])
            return unknown
        if name == "cd" and words[0].known:
            paths = [word.path for word in words[1:] if not word.plain.startswith("-")]
            self.state.folder = self.state.absolute(paths[0]) if paths else ""
        if not end and node.parent is not None and node.parent.type == "redirected_statement":
            files = [child for child in node.parent.children if child.type == "file_redirect"]
            end = max((self.script.range(child)[1] for child in files), default=0)
        cut, place = _CUT.match(self.script.text, stop), self.script.origin.place
        replaces = name == "exec" and len(words) > 1
        self.started.append(
            Started(
                words=tuple(words[replaces:]),
                place=place(start, max(end, stop)),
                cut=place(*cut.span(1)) if cut else None,
                condition=next(filter(None, self.unsure), ""),
                visible=self._visible(node),
                folder=self.state.folder,
            )
        )
        if replaces:
            self.state.ended = "exit"
        return HOLDS if name in _SUCCEEDING else unknown

    def _visible(self, node: Node) -> tuple[str, WordText] | None:
        """Return the variable with the visible accelerators of a program, and its text.

        It is assigned in the command or exported.
        """
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        aside = self._aside() if assigned else self
        for child in assigned:
            aside._assign(child)
            aside.state.exported.add(self.script.written(child.children[0]))
        candidates = ((name, aside.state.variables.get(name)) for name in VISIBLE if name in aside.state.exported)
        return next(((name, text) for name, text in candidates if isinstance(text, WordText)), None)

    # -- texts, functions, exits

    def _included_text(self, name: str, words: list[WordText], place: Place) -> Truth:
        """Interpret `eval` of a known text, or `source` of a file written by the script."""
        text = joined(words[1:], " ", place) if name == "eval" else None
        if name != "eval" and len(words) > 1:
            text = self.state.files.get(words[1].plain)
        if text is None or all(piece.unknown or not piece.text.strip() for piece in text.pieces):
            self.unread.append(place)
            if self.state.sourced and name != "eval" and not _SETUP_FILES.search("".join(word.plain for word in words[1:2])):
                shown = " ".join(word.plain for word in words[:2])[:60]
                self.state.elsewhere = f"`{shown}` is not followed, which may set it"
            return Truth(None, f"it depends on how `{name}` ends")
        return self._inner(text)

    def _inner(self, text: WordText) -> Truth:
        """Interpret a text that the script itself contains."""
        self._enter()
        outer, self.script = self.script, Script(text.plain, text)
        try:
            self.whole()
        except Unreadable:
            self.unread.append(text.place(0, len(text.plain)))
        self.state.calls -= 1
        self.script = outer
        return Truth(None, "it depends on how a text that is evaluated ends")

    def _enter(self) -> None:
        """Begin a function or a text. Raises TooMuch at the depth limit."""
        if self.state.calls >= MAX_CALLS:
            raise LimitExceeded(f"the script calls itself more than {MAX_CALLS} levels deep")
        self.state.calls += 1

    def _call(self, function: tuple[Script, Node], words: list[WordText]) -> Truth:
        """Call a function of the script."""
        self._enter()
        state, script = self.state, self.script
        arguments, open_arguments, outer = state.arguments, state.open_arguments, state.outer
        state.arguments, state.open_arguments, state.outer = tuple(words[1:]), "", {}
        self.script = function[0]
        truth = self.statement(function[1])
        self.script, state = script, self.state
        state.calls -= 1
        state.leave()
        state.arguments, state.open_arguments, state.outer = arguments, open_arguments, outer
        state.ended = "" if state.ended == "return" else state.ended
        return truth

    def _leave(self, name: str, place: Place) -> Truth:
        """Interpret `exit` and similar commands.

        An exit due to unset inputs is skipped: users will provide these inputs.
        """
        assumed = frozenset[str]().union(*self.depends)
        if name != "exit" or not assumed or any(self.unsure):
            self.state.ended = name
            return HOLDS
        self.went_past = True
        for variable in sorted(assumed):
            if variable.startswith("$"):
                why = "the script ends early without its arguments, so it will be given some"
                self.state.open_arguments = why
            else:
                why = f"the script ends early where `{variable}` is not set, so it will be set"
                why += f"; `--allow-env {variable}` reads it"
                self.state.unsure({variable}, place, why)
        return HOLDS


_FOLLOW = {
    "list": Follower._list,
    "pipeline": Follower._pipeline,
    "negated_command": Follower._negated,
    "if_statement": Follower._if,
    "case_statement": Follower._case,
    "for_statement": Follower._loop,
    "c_style_for_statement": Follower._loop,
    "while_statement": Follower._loop,
    "compound_statement": Follower._group,
    "subshell": Follower._group,
    "test_command": Follower._condition,
    "function_definition": Follower._function,
    "variable_assignment": Follower._assignments,
    "variable_assignments": Follower._assignments,
    "declaration_command": Follower._declare,
    "unset_command": Follower._unset,
    "redirected_statement": Follower._redirected,
    "command": Follower._simple,
}
