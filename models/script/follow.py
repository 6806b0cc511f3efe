"""Interpreter of a script: variables and started programs.

Nothing is executed. If a condition is unknown, both branches are interpreted. Source: the Bash
Reference Manual, 4 (Shell Builtin Commands).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Mapping, Sequence

from ..text.environment import NO_VENDOR
from ..text.files import is_below, text_of
from . import facts
from .expand import NotComputed, has_braces
from .flow import HOLDS, UNKNOWN, ControlFlow, Operand, Truth, may_end
from .launch import StartedCommand, base, inherit, launch_of, launches_in, nested_text, read_stated, script_call, shell_call
from .pieces import Place, WordText, join
from .state import INPUT, OUTPUT, LimitExceeded
from .syntax import CLOSERS, NAME, Script, Unreadable, Word, check_depth

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CALLS = 24
NOWHERE = "//dev/null"
"""Name of the file whose text nobody reads."""
_EXITS = ("exit", "return", "break", "continue")
_ASSIGNING = ("read", "mapfile", "readarray", "printf", "getopts")
_BUILTINS = (*_ASSIGNING, "let", "shift", "shopt", "set", ":", "true", "false")
_SHELL = facts("shell")
_SUCCEEDING, _SILENT, _CHANGING = (frozenset(_SHELL[name]) for name in ("succeeding", "silent", "changing"))
"""Further commands that are assumed to succeed, that print nothing, or that change their files."""
_PROBES: Mapping[str, str] = _SHELL["probes"]
"""Vendors whose machines alone carry out a command with these arguments."""
_SETUP_FILES = re.compile(
    r"(^|/)(activate|(set_?env|setup|setvars|conda|modules?|env-?vars|nvm)(\.(sh|bash))?|\.?(bash|z)?(rc|_?profile)|switch_env)$"
    r"|^/(dev|etc|opt|usr)/|/etc/profile|(\.cargo|\.local/bin)/env$"
)
"""Files that set up a machine.

Their variables belong to the environment, as after a login.
"""
_CUT = re.compile(r"(?:[ \t]|\\\n)*\\\n(?:[ \t]|\\\n)*(#[^\n]*)")


class Follower(ControlFlow):
    """Interpreter of the statements of a script."""

    def statement(self, node: Node) -> Truth:
        """Interpret a statement; return how it ends. Raises LimitExceeded or Unreadable."""
        self.state.budget.spend()
        interpret = getattr(self, f"_visit_{node.type}", None)
        if interpret is None:
            return HOLDS if node.type in ("comment", "ERROR") else UNKNOWN
        self.depth += 1
        check_depth(self.depth, self.script.place(node)[0])
        truth: Truth = interpret(node)
        self.depth -= 1
        if truth.value is False and "e" in self.state.flags and not (self.tested or self.state.ended) and may_end(node):
            with self._within(truth):
                went_past = self.went_past
                self._leave("exit", (), self.script.place(node))
                self.went_past = went_past
        return truth

    def _visit_subshell(self, node: Node) -> Truth:
        """Interpret `{ ...; }`, `( ... )` or `(( ... ))`."""
        if node.children[0].type == "((":
            return self._visit_test_command(node)
        shell = self.fork() if node.type == "subshell" else self
        truth = shell.statements(node.children[1:-1])
        self._take_output(shell)
        return truth

    _visit_compound_statement = _visit_subshell

    def _take_output(self, shell: Follower) -> None:
        """Take over what a subshell printed."""
        if OUTPUT in self.state.variables:
            self.state.variables[OUTPUT] = shell.state.variables[OUTPUT]

    def capture(self, script: Script) -> WordText:
        """Return what a script within `$(...)` prints, without the line ends at its end."""
        shell = self.fork()
        shell.script, shell.started, shell.state.variables[OUTPUT] = script, [], WordText()
        shell.state.flags -= {"e"}
        shell._enter()
        try:
            truth = shell.statements(script.root.children)
        except Unreadable as problem:
            return WordText.unknown("$()", script.origin.place(0), str(problem))
        self.started += filter(launch_of, shell.started)
        self.captured = truth if truth.value is False else HOLDS
        text = shell.state.text_of(OUTPUT) or WordText()
        return text.cut(0, len(text.plain.rstrip("\n")))

    def _visit_test_command(self, node: Node) -> Truth:
        """Evaluate `[ ... ]`, `[[ ... ]]` or `(( ... ))`."""
        (start, end), kind = self.script.range(node), node.children[0].type
        body, excerpt = (start + len(kind), end - len(kind)), self.script.show((start, end))
        if kind == "((":
            return self._sum_at(body)
        words = list(self.script.words(*body))
        if kind == "[":
            return self._test(self.fields(words), excerpt)
        operands = [Operand(self.script.text[slice(*word.place)], self.text(word.parts), word.parts) for word in words]
        return self.evaluate(operands, excerpt)

    def _test(self, words: Sequence[WordText], excerpt: str) -> Truth:
        return self.evaluate([Operand(word.plain, word) for word in words], excerpt)

    def _visit_function_definition(self, node: Node) -> Truth:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.state.functions[self.script.read(name)] = (self.script, body)
        return HOLDS

    # -- assignments

    def _visit_variable_assignments(self, node: Node) -> Truth:
        self.captured = HOLDS
        for child in node.named_children if node.type == "variable_assignments" else [node]:
            self._assign(child)
        return self.captured

    _visit_variable_assignment = _visit_variable_assignments

    def _target(self, node: Node) -> str:
        return self.script.read(node.children[0]).partition("[")[0]

    def _assign(self, node: Node) -> None:
        """Interpret `NAME=value`, `NAME+=value` or `NAME=(...)`."""
        state, name, operator, place = self.state, self._target(node), node.children[1], self.script.place(node)
        start, end = self.script.range(operator)[1], self.script.range(node)[1]
        value = node.child_by_field_name("value")
        if node.children[0].type == "subscript":
            return state.unsure({name}, place, "an element of it is set by its number, which is not followed")
        is_array = value is not None and value.type == "array"
        text = WordText() if is_array else self.text(self.script.parts(start, end))  # which may set the variable itself
        old = state.variables.get(name, state.scalar(name, place)) if operator.type == "+=" else None
        if not is_array:
            text = text.assuming(self.assumed, place)
            before = old[0] if isinstance(old, list) and old else old
            return state.assign(name, join([before, text], place=place) if isinstance(before, WordText) else text)
        array = list(old) if isinstance(old, list) else [old] if old is not None else []
        for word in self.script.words(start + 1, end - 1):
            if re.match(r"\[.*\]=", self.script.text[slice(*word.place)], re.DOTALL):
                return state.unsure({name}, place, "elements that are set by their numbers are not followed")
            array += self.fields([word])
            state.budget.spend(len(array) // 100)
        state.variables[name] = array

    def _visit_declaration_command(self, node: Node) -> Truth:
        """Interpret `export`, `declare`, `local` and similar commands."""
        state, place, (command, *_) = self.state, self.script.place(node), self.script.read(node).split()
        flags, names = "", set[str]()
        for child in node.named_children:
            is_assigned = child.type == "variable_assignment"
            word = Word(self.script.parts(*self.script.range(child)), self.script.range(child))
            for text in [WordText.of(self._target(child), place)] if is_assigned else self.fields([word]):
                name, equals, _ = text.plain.partition("=")
                flags += name if name.startswith("-") else ""
                if not (text.cut(0, len(name)).known and name.isidentifier()):
                    continue
                names.add(name)
                if command in ("local", "declare", "typeset") and state.calls:
                    state.outer.setdefault(name, state.variables.get(name))
                state.exported |= {name} if command == "export" or "x" in flags else set()
                if equals:
                    state.assign(name, text.cut(len(name) + 1))
                elif is_assigned:
                    self._assign(child)
                if is_assigned and has_braces(word.parts):  # of a command, they make several assignments
                    state.unsure({name}, place, "braces that make several words are not followed")
        if "n" in flags:
            names |= {value.plain for name in names if (value := state.scalar(name, place)) is not None}
        if set(flags) & set("Ailnu"):
            state.unsure(names, place, f"what `{command} {flags}` makes is not followed")
        return HOLDS

    def _visit_unset_command(self, node: Node) -> Truth:
        for text in self.fields(self.script.command_words(node)):
            name, is_element, _ = text.plain.partition("[")
            if name not in self.state.variables:  # `-f`, or a function alone is named so
                self.state.functions.pop(name, None)
            if is_element:
                self.state.unsure({name}, self.script.place(node), "an element of it is taken out, which is not followed")
            elif text.known and name.isidentifier():
                self.state.variables[name] = []
        return HOLDS

    # -- commands

    def _visit_redirected_statement(self, node: Node) -> Truth:
        """Interpret a statement with another input or output."""
        body, parts, before = node.child_by_field_name("body"), [*node.children], self.state.save(INPUT, OUTPUT)
        for child in node.children:
            if child.type == "heredoc_redirect":
                self.state.put(INPUT, self.heredoc(child))
                parts += child.children
        outputs = [output for part in parts if (output := self._redirection(part)) is not None]
        pipe = next((part for part in parts if part.type == "pipeline"), None)
        if body is None:  # `$(<FILE)` prints it
            self.print(self.state.text_of(INPUT) or WordText.unknown("<", self.script.place(node), "a file is not read"))
            self.state.put(INPUT, before[INPUT])
            return HOLDS
        if outputs or pipe is not None:
            self.state.put(OUTPUT, WordText())
        truth, text = self.test([body], any(part.type in ("&&", "||") for part in parts)), self.state.text_of(OUTPUT)
        self.state.restore(before if outputs or pipe is not None else {INPUT: before[INPUT]})
        for file, appends in outputs:
            start = self.state.text_of(file) if appends else WordText()
            self.state.put(file, None if start is None or text is None else join([start, text]))
        if pipe is not None:
            self.state.put(INPUT, text)
            truth = self._visit_pipeline(pipe)
            self.state.put(INPUT, before[INPUT])
            return truth
        for sign, part in zip(parts, parts[1:]):
            truth = self._continue(truth, sign.type == "&&", part) if sign.type in ("&&", "||") else truth
        return truth

    def _redirection(self, part: Node) -> tuple[str, bool] | None:
        """Apply a redirection of the input; return the file of a redirected output.

        True stands beside it if the output is appended. An unknown file is `NOWHERE`.
        """
        name, kinds = part.child_by_field_name("destination"), [child.type for child in part.children]
        if part.type == "herestring_redirect":
            text = self.text(self.script.parts(*self.script.range(part.named_children[-1])))
            self.state.put(INPUT, join([text, WordText.of("\n", self.script.place(part))]))
        if part.type != "file_redirect" or name is None or (kinds[0] == "file_descriptor" and self.script.read(part)[:1] != "1"):
            return None
        start, end = self.script.range(name)
        if kinds[-1] == "process_substitution":
            self.state.put(INPUT, None)  # its commands are not followed
            return None if kinds[-2] == "<" else (NOWHERE, False)
        file = self.text(self.script.parts(start, end))
        if kinds[-2] == "<":
            self.state.put(INPUT, self.state.find_written(file))
            return None
        return (self.state.file(file) if kinds[-2] != ">&" else "") or NOWHERE, ">>" in kinds[-2]

    def _visit_command(self, node: Node) -> Truth:
        """Interpret a simple command, whose own assignments and input hold for it alone."""
        self.dropped = set()
        words = self.fields(self.script.command_words(node))
        if words and words[0].plain[:1] == "-" and self.dropped:  # `$PYTHON -m module`, set outside of the script
            name = min(self.dropped)
            words.insert(0, WordText.unknown(f"${name}", self.script.place(node), f"`{name}` is not set in the script"))
        prefixes = [child for child in node.children if child.type in ("variable_assignment", "herestring_redirect")]
        names = [self._target(child) if child.type == "variable_assignment" else INPUT for child in prefixes]
        before, exports_before, new_names = self.state.save(*names), self.state.exported, set(names) - {INPUT}
        for child, name in zip(prefixes, names):
            self._redirection(child) if name == INPUT else self._assign(child)
        if not words:
            return HOLDS
        self.state.exported = exports_before | new_names
        truth = self._carry_out(node, words)
        self.state.restore(before)
        self.state.exported -= new_names - exports_before
        return truth

    def _carry_out(self, node: Node, words: Sequence[WordText]) -> Truth:
        """Carry out a command: a function, a builtin, a nested text or a program."""
        place, excerpt, state = self.script.place(node), self.script.show(self.script.range(node)), self.state
        name, *following = (word.plain if word.known else "" for word in words)
        if name == "time" and following and following[0] in state.functions:
            name, words = following[0], words[1:]
        if name in state.functions:
            return self._call(*state.functions[name], words[1:], node)
        if name in ("[", "test"):
            return self._test(words[1 : -1 if name == "[" else None], excerpt)
        if name in _EXITS:
            return self._leave(name, words[1:], place)
        if name in _BUILTINS:
            return self._builtin(name, words[1:], place)
        if self._is_self_call(words):
            raise LimitExceeded(f"`{excerpt}` begins the script itself again, without an end")
        if name in ("eval", "source", "."):
            return self._include(name, words[1:], place)
        if name in CLOSERS:
            raise Unreadable(f"`{name}` has no beginning", place[0])
        why = f"it depends on how `{excerpt}` ends"
        if name == "trap" and len(words) > 2 and (launches_in(words[1].plain) or words[1].plain in state.functions):
            self._run_either(f"it depends on whether `{words[2].plain}` comes", place, lambda: self.fork()._evaluate(words[1]))
            return HOLDS
        if name == "alias" and "expand_aliases" in state.flags:
            self.unread.append(place)
        inner = nested_text(words, state.text_of(INPUT), state.find_written)
        if inner is not None:
            shell = self.fork()
            shell.state.become_child(*inherit(words))
            shell.state.variables |= read_stated(words)
            if (call := shell_call(words)) is not None:
                shell.state.set_flags(word.plain for word in words[call[0] + 1 :])
            shell.state.call(inner[1])
            shell.state.within, shell.tested = tuple(words), False
            shell._evaluate(inner[0])
            self._take_output(shell)
            return Truth(None, why)
        if vendor := _PROBES.get(" ".join(word.plain for word in words[1:])):
            return Truth(vendor in state.vendors) if state.vendors else Truth(None, NO_VENDOR)
        self._start(node, words)
        if OUTPUT in state.variables:
            text = state.print_output(name, words[1:], place)
            silent = WordText() if name in _SILENT else WordText.unknown(excerpt, place, f"`{excerpt}` is a command, which is not run")
            self.print(silent if text is None else text)
        for word in words[1:]:
            if name == "tee" and word.plain[:1] != "-":
                state.put(state.file(word), state.text_of(INPUT))
            elif name in _CHANGING and state.find_written(word) is not None:
                state.put(state.file(word), WordText.unknown(word.plain, place, f"`{name}` changes it"))
        return HOLDS if name in _SUCCEEDING else Truth(None, why)

    def _builtin(self, name: str, words: Sequence[WordText], place: Place) -> Truth:
        state, plain = self.state, [word.plain for word in words]
        if name == "let":
            return [self.sum_of(word, place, word.plain[:40]) for word in words or [WordText()]][-1]
        if name in _ASSIGNING and (name != "printf" or "-v" in plain):
            return self._read_input(name, words, place)
        if name == "shift":
            count = words[0] if words else WordText.of("1", place)
            if count.known and count.plain.isdecimal():
                return Truth(state.shift(int(count.plain[:6])), depends=frozenset[str]() if state.given else frozenset({"$#"}))
            state.variables["@"] = [WordText.unknown("$@", place, count.why_unknown or "`shift` is without a number", perhaps=True)]
        if name == "set":
            state.set_flags(plain)
            if "--" in plain:
                state.call(words[plain.index("--") + 1 :])
        if name == "shopt" and plain[:2] == ["-s", "expand_aliases"]:
            state.flags |= {"expand_aliases"}
        if name == "printf":
            self.print(WordText.unknown("printf", place, "what `printf` makes is not followed"))
        return Truth(name != "false")

    def _read_input(self, name: str, words: Sequence[WordText], place: Place) -> Truth:
        """Interpret `read` of a known text; what `mapfile` and similar commands set is unknown."""
        state, options, names = self.state, "", [word.plain for word in words]
        if name == "getopts" and not state.arguments and len(words) <= 2:
            return Truth(False, depends=frozenset[str]() if state.given else frozenset({"$#"}))
        stdin = state.text_of(INPUT)
        text = stdin or WordText()
        while name == "read" and names and names[0].startswith("-"):
            options += names.pop(0)[1:]
        line, sign, rest = text.plain.partition("\n")
        try:
            fields = self.separate(text.cut(0, len(line)))
        except NotComputed:
            options = "?"
        is_known = name == "read" and stdin is not None and text.known and set(options) <= set("ra") and all(map(NAME.fullmatch, names))
        if is_known and names and ("r" in options or "\\" not in line) and ("a" in options or len(fields) <= len(names)):
            state.put(INPUT, text.cut(len(line) + 1))
            for variable, value in zip(names, [*fields, *(WordText() for _ in names)]):
                state.put(variable, fields if "a" in options else value)
            return Truth(bool(sign or rest))
        unknown = {match[0] for word in words if word.known and (match := NAME.match(word.plain))} | {"OPTIND"}
        state.unsure(unknown, place, f"`{name}` sets it when the script runs")
        return Truth(None, f"it depends on how `{name}` ends")

    def _is_self_call(self, words: Sequence[WordText]) -> bool:
        """Return True if a command restarts this script without any change or started program."""
        state, is_source = self.state, words[0].plain in ("source", ".")
        arguments = words[1:] if is_source else words if shell_call(words) is None else script_call(words)
        file = arguments[0] if arguments else WordText()
        path = os.path.join(state.folder or os.path.dirname(state.script), file.path)
        if not file.path or os.path.normpath(path) != state.script or words[-1] is not file:
            return False
        variables = state.variables if is_source else state.exported
        has_cd = not state.folder and any(command.words[0].plain in ("cd", "pushd") for command in self.started)
        return not (variables or has_cd or self.why_unsure or self.assumed or any(map(launch_of, self.started)))

    def _start(self, node: Node, words: Sequence[WordText]) -> None:
        (start, stop), end = self.script.range(node), 0
        if words[0].plain == "cd" and words[0].known:
            paths = [word.path for word in words[1:] if not word.plain.startswith("-")]
            self.state.folder = self.state.absolute(paths[0]) if paths else ""
        if node.parent is not None and node.parent.type == "redirected_statement":
            end = max((self.script.range(child)[1] for child in node.parent.children if child.type == "file_redirect"), default=0)
        cut, place = _CUT.match(self.script.text, stop), self.script.origin.place
        replaces = words[0].plain == "exec" and words[0].known and len(words) > 1
        values = ((name, self.state.variables.get(name)) for name in self.state.exported)
        variables = {name: text for name, text in values if isinstance(text, WordText)}
        command = StartedCommand(
            words=tuple(words[replaces:]),
            place=place(start, max(end, stop)),
            cut=place(*cut.span(1)) if cut else None,
            condition=self.why_unsure,
            variables=variables if base(words[0].plain) != "env" or inherit(words)[0] else {},
            folder=self.state.folder,
            dropped=frozenset(self.dropped),
            needs_all="u" in self.state.flags,
            within=self.state.within,
            unread_files=self.state.unread_files,
            written=self.state.written_texts,
        )
        if self.script.origin.cut(start, start + 1).is_foreign and launch_of(command):
            self.unread.append(command.place)  # an edit would change the wrong file
        else:
            self.started.append(command)
        self.state.ended = "exit" if replaces else self.state.ended

    # -- texts, functions, exits

    def _include(self, name: str, words: Sequence[WordText], place: Place) -> Truth:
        """Interpret `eval` of a known text, or `source` of a written or readable file."""
        file, state, is_eval, path = words[0].plain if words else "", self.state, name == "eval", ""
        text = join(words, " ", place) if is_eval else state.find_written(words[0]) if words else None
        if text is None and words and not _SETUP_FILES.search(file) and (path := self._readable(words[0])):
            text = WordText.foreign(text_of(path), place)
        if text is None or not any(piece.text.strip() and not piece.unknown for piece in text.pieces):
            self.unread.append(place)
            if not (is_eval or _SETUP_FILES.search(file)):
                state.unread_files += (place,)
                state.elsewhere = f"`{f'{name} {file}'.strip()[:60]}` is not followed, which may set it"
            return Truth(None, f"it depends on how `{name}` ends")
        outer, state.source = (state.source, state.variables["@"], state.given), path or state.source
        if words[1:] and not is_eval:
            state.call(words[1:])
        truth, state = self._evaluate(text), self.state
        state.source = outer[0]
        if not is_eval:
            state.ended = "" if state.ended == "return" else state.ended
            if words[1:]:
                state.variables["@"], state.given = outer[1:]
        return truth

    def _readable(self, file: WordText) -> str:
        """Return the real path of a file beside the script; "" if not readable."""
        path = file.path and os.path.join(self.state.folder or os.path.dirname(self.state.script), file.path)
        real = os.path.realpath(path) if path and "\0" not in path else ""
        return real if real and is_below(real, self.state.readable) and os.path.isfile(real) else ""

    def _evaluate(self, text: WordText) -> Truth:
        """Interpret a text that the script itself contains."""
        if not any(piece.text and not piece.unknown for piece in text.pieces):
            self.unread += [text.place()] if text.pieces else []
            return UNKNOWN
        self._enter()
        outer, self.script = self.script, Script(text.plain, text, self.script.time)
        try:
            self.statements(self.script.root.children)
        except Unreadable:
            self.unread.append(text.place(0, len(text.plain)))
        self.state.calls -= 1
        self.script = outer
        return Truth(None, "it depends on how a text that is evaluated ends")

    def _enter(self) -> None:
        """Begin a function or a text. Raises LimitExceeded at the depth limit."""
        if self.state.calls >= MAX_CALLS:
            raise LimitExceeded(f"the script calls itself more than {MAX_CALLS} levels deep")
        self.state.calls += 1

    def _call(self, script: Script, body: Node, words: Sequence[WordText], node: Node) -> Truth:
        self._enter()
        outer, outer_state = (self.script, self.returned), (self.state.given, self.state.outer)
        self.state.outer = {"@": self.state.variables["@"]}
        parts = (part for word in self.script.command_words(node) for part in word.parts)
        self.state.call(words)
        self.state.given = outer_state[0] or not any(part.is_list and part.text in ("@", "*") for part in parts)
        self.script, self.returned = script, False
        truth = self.statement(body)
        truth = Truth(None, "it depends on where a function returns") if self.returned else truth
        (self.script, self.returned), state = outer, self.state
        state.calls -= 1
        state.restore(state.outer)
        state.given, state.outer = outer_state
        state.ended = "" if state.ended == "return" else state.ended
        return truth

    def _leave(self, name: str, words: Sequence[WordText], place: Place) -> Truth:
        """Interpret `exit` and similar commands; the number after it is how a function ends.

        An exit due to unset inputs is skipped: users will provide these inputs. Outside of functions
        and sourced files, `return` fails and ends nothing.
        """
        if name == "return" and not self.state.calls:
            return Truth(False)
        if self.broken and name in ("exit", "return"):  # unless a loop was left before
            self.returned = self.returned or name == "return"
            return UNKNOWN
        if name != "exit" or not self.assumed or self.why_unsure:
            levels = int(words[0].plain[:2]) if name in ("break", "continue") and words and words[0].plain.isdecimal() else 1
            self.state.ended, self.exit_place = name + "+" * (levels - 1), place
            if name in ("break", "continue"):
                return HOLDS
            return Truth(words[0].plain == "0") if words and words[0].known else UNKNOWN
        self.went_past = True
        for variable in sorted(self.assumed):
            if variable.startswith("$"):
                why = "the script ends early without its arguments, so it will be given some"
                self.state.variables["@"] = [WordText.unknown("$@", place, why, perhaps=True)]
            else:
                why = f"the script ends early where `{variable}` is not set, so it will be set"
                self.state.unsure({variable}, place, f"{why}; `--allow-env {variable}` reads it")
        return HOLDS
