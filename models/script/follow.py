"""A script followed from its first statement: what its variables become, and which commands it starts.

Nothing is executed. If it is unknown which way the script takes, both are followed, and what differs is unknown after.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterator, Sequence

from .builtins import BUILTINS, DECLARING, SURE, Builtins
from .conditions import HOLDS, Truth, computed, extended, tested
from .expand import Expander
from .launch import Started, nested_text, written_file
from .pieces import Place, Text, joined
from .state import MAX_CALLS, TooMuch
from .syntax import MAX_DEPTH, Script, Unreadable, Word
from .ways import UNKNOWN, Ways

if TYPE_CHECKING:
    from tree_sitter import Node

VISIBLE = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Variables that name the accelerators that a program sees."""
_LEAVING = ("exit", "return", "break", "continue")
_CLOSERS = ("then", "elif", "else", "fi", "do", "done", "esac", "}", ")", "))", "]]", "]")
_SEPARATORS = (";", "&", ";;", "\n", "&&", "||", "|", "|&")
_WORDS = (
    "string", "concatenation", "expansion", "simple_expansion", "word", "number", "raw_string", "command_substitution",
    "arithmetic_expansion", "ansi_c_string", "translated_string", "process_substitution", "brace_expression",
    "command_name", "test_command", "heredoc_body", "heredoc_redirect", "extglob_pattern", "regex",
)  # fmt: skip
"""Nodes that are read here letter by letter: what the tree has wrong in them does not count."""
_CUT = re.compile(r"(?:[ \t]|\\\n)*\\\n(?:[ \t]|\\\n)*(#[^\n]*)")
_BLANK_ARGUMENT = re.compile(r"[ \t]*(?:\\\n[ \t]*)*(\\[ \t])")


class Follower(Ways):
    """Follows the statements of a script."""

    def whole(self) -> None:
        """Follow all statements. Raises Unreadable, at the first that bash could not read, and TooMuch."""
        children = self.script.root.children
        for position, node in enumerate(children):
            if self.state.ended:
                return
            self._check(node)
            if node.is_named:
                self._one_of(children, position)

    def _check(self, node: Node) -> None:
        """Raises Unreadable at the first place that bash could not read."""
        start, end = self.script.range(node)
        if node.is_missing:
            if node.type in _CLOSERS:
                raise Unreadable(f"`{node.type}` is missing", len(self.script.text))
            return
        if not node.has_error and (node.is_named or node.type in _SEPARATORS):
            return
        written = self.script.text[start:end]
        if node.type == "ERROR" or not node.is_named:
            sign = written.strip(" \t\n\\")
            if sign and (node.parent is None or node.parent.type in ("program", "ERROR") or sign[0] in "()&|;<>"):
                raise Unreadable(f"`{' '.join(sign.split())[:20]}` cannot stand here", start)
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
        """Follow one statement; how it ends. Raises TooMuch or Unreadable."""
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

    # -- commands

    def _group(self, node: Node) -> Truth:
        """`{ ...; }`, `( ... )`, `(( ... ))`."""
        if node.children[0].type == "((":
            start, end = self.script.range(node)
            return computed((start + 2, end - 2), self._expander, self._expander.shown((start, end)))
        if node.type == "subshell":
            return self._aside().statements(node.children[1:-1])
        return self.statements(node.children[1:-1])

    def _condition(self, node: Node) -> Truth:
        start, end = self.script.range(node)
        width = len(node.children[0].type)
        inside, expander = (start + width, end - width), self._expander
        if node.children[0].type == "[[":
            return extended(inside, expander)
        if width == 2:
            return computed(inside, expander, expander.shown((start, end)))
        words = [text for word in self.script.words(*inside) for text in expander.fields(word)]
        return tested(words, expander.shown((start, end)), expander)

    def _function(self, node: Node) -> Truth:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.state.functions[self.script.written(name)] = (self.script, body)
        return HOLDS

    def _assignments(self, node: Node) -> Truth:
        nodes = node.named_children if node.type == "variable_assignments" else [node]
        for each in nodes:
            self._builtins.assign(each)
        return HOLDS

    def _declaration(self, node: Node) -> Truth:
        return self._builtins.declare(node)

    def _unset(self, node: Node) -> Truth:
        texts = [text for word in self.script.command_words(node) for text in self._expander.fields(word)]
        return self._builtins.run([Text.unknown("unset", (0, 0), ""), *texts], self._place(node))

    def _redirected(self, node: Node) -> Truth:
        body = node.child_by_field_name("body")
        stdin: Text | None = None
        for child in node.children:
            if child.type == "heredoc_redirect":
                stdin = self._heredoc(child)
                inner = [each for each in child.named_children if each.type in ("command", "pipeline", "list")]
                for each in inner:
                    self._aside().statement(each)
        if body is None:
            return HOLDS
        if stdin is not None and body.type == "command":
            file = written_file(self.script, node, self._expander)
            if file:
                self.state.files[file] = stdin
            return self._simple(body, stdin)
        return self.statement(body)

    def _heredoc(self, node: Node) -> Text | None:
        """The text of a here-document."""
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        if start is None or body is None:
            return None
        first, end = self.script.range(body)
        if any(sign in self.script.written(start) for sign in "'\"\\"):
            return self.script.origin.cut(first, end)
        return self._expander.one(self.script.parts(first, end, True))

    def _simple(self, node: Node, stdin: Text | None = None) -> Truth:
        expander, place = self._expander, self._place(node)
        words = [text for word in self._words(node) for text in expander.fields(word)]
        if words and words[0].plain == "time" and words[0].known:
            words = words[1 + (len(words) > 1 and words[1].plain == "-p") :]
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        if not words:
            for each in assigned:
                self._builtins.assign(each)
            return HOLDS
        for child in node.children:
            if child.type == "herestring_redirect":
                stdin = expander.one(self.script.parts(*self.script.range(child.named_children[-1])))
        name, shown = words[0].plain if words[0].known else "", expander.shown(self.script.range(node))
        if name in ("command", "builtin") and len(words) > 1 and not words[1].plain.startswith("-"):
            words = words[1:]
            name = words[0].plain if words[0].known else ""
        elif name in self.state.functions:
            return self._call(self.state.functions[name], words)
        if name in ("[", "test"):
            given = words[1:-1] if name == "[" and words[-1].plain == "]" else words[1:]
            return tested(given, shown, expander)
        if name in _LEAVING:
            return self._leave(name, place)
        if name in BUILTINS:
            return self._builtins.run(words, place)
        if name in ("eval", "source", "."):
            return self._taken_in(name, words, place)
        if name in DECLARING:  # behind `command` or `builtin`
            return HOLDS
        if name in _CLOSERS:
            raise Unreadable(f"`{name}` has no beginning", place[0])
        return self._start(node, words, assigned, stdin, shown)

    def _words(self, node: Node) -> Iterator[Word]:
        """The words of a command; a backslash before a blank at its end is one too."""
        yield from self.script.command_words(node)
        if blank := self._blank_argument(node):
            yield self.script.word(*blank)

    def _blank_argument(self, node: Node) -> Place | None:
        """Where a backslash before a blank stands after a command, which is an argument to bash."""
        blank = _BLANK_ARGUMENT.match(self.script.text, self.script.range(node)[1])
        return blank.span(1) if blank else None

    def _start(self, node: Node, words: list[Text], assigned: Sequence[Node], stdin: Text | None, shown: str) -> Truth:
        """A program: noted, or followed if it is a shell whose text is known."""
        inner = nested_text(words, stdin, self.state.files)
        if inner is not None:
            follower = self._aside()
            follower.state.arguments, follower.state.open_arguments = tuple(inner[1]), ""
            follower._inner(inner[0])
            return Truth(None, f"it depends on how `{shown}` ends")
        name, (start, end) = words[0].plain, self.script.range(node)
        if name == "cd" and words[0].known:
            given = [word for word in words[1:] if not word.plain.startswith("-")]
            self.state.folder = self.state.absolute(given[0].path) if given else ""
        replaces = name == "exec" and len(words) > 1
        if blank := self._blank_argument(node):
            end = blank[1]
        elif node.parent is not None and node.parent.type == "redirected_statement":
            redirected = [child for child in node.parent.children if child.type == "file_redirect"]
            end = max([end, *(self.script.range(child)[1] for child in redirected)])
        cut = _CUT.match(self.script.text, self.script.range(node)[1])
        visible = self._visible(assigned)
        why = next((why for why in self.unsure if why), "")
        place = self.script.origin.place(*cut.span(1)) if cut else None
        whole = self.script.origin.place(start, end)
        self.started.append(Started(tuple(words[replaces:]), whole, place, why, visible, self.state.folder))
        if replaces:
            self.state.ended = "exit"
        return HOLDS if name in SURE else Truth(None, f"it depends on how `{shown}` ends")

    def _visible(self, assigned: Sequence[Node]) -> Text | None:
        """What names the accelerators that a program sees: an assignment before it, or an exported variable."""
        aside = self.state.copy() if assigned else self.state
        builtins, names = Builtins(self.script, aside, Expander(self.script, aside)), set(aside.exported)
        for each in assigned:
            builtins.assign(each)
            names.add(self.script.written(each.children[0]))
        held = [aside.held(name) for name in VISIBLE if name in names]
        return next((text for text in held if isinstance(text, Text)), None)

    def _taken_in(self, name: str, words: list[Text], place: Place) -> Truth:
        """`eval` of a known text, or `source` of a file that the script wrote: followed here."""
        text = joined(words[1:], " ", place) if name == "eval" else None
        if name != "eval" and len(words) > 1:
            text = self.state.files.get(words[1].plain)
        if text is None or all(piece.unknown or not piece.text.strip() for piece in text.pieces):
            self.untold.append((place, name))
            return Truth(None, f"it depends on how `{name}` ends")
        return self._inner(text)

    def _inner(self, text: Text) -> Truth:
        """Follow a text that the script itself holds."""
        if self.state.calls >= MAX_CALLS:
            raise TooMuch(f"texts are evaluated in each other more than {MAX_CALLS} levels deep")
        kept, self.script = self.script, Script(text.plain, text)
        self.state.calls += 1
        try:
            self.whole()
        except Unreadable:
            self.untold.append((kept.origin.place(0, 0) if not text.pieces else text.pieces[0].frames[0], "eval"))
        self.state.calls -= 1
        self.script = kept
        return Truth(None, "it depends on how a text that is evaluated ends")

    def _call(self, function: tuple[Script, Node], words: list[Text]) -> Truth:
        """A function of the script."""
        state = self.state
        if state.calls >= MAX_CALLS:
            raise TooMuch(f"functions call each other more than {MAX_CALLS} levels deep")
        arguments, open_, outer, script = state.arguments, state.open_arguments, state.outer, self.script
        state.arguments, state.open_arguments, state.outer = tuple(words[1:]), "", {}
        state.calls += 1
        self.script = function[0]
        truth = self.statement(function[1])
        self.script = script
        self.state.calls -= 1
        self.state.leave()
        self.state.arguments, self.state.open_arguments, self.state.outer = arguments, open_, outer
        if self.state.ended == "return":
            self.state.ended = ""
        return truth

    def _leave(self, name: str, place: Place) -> Truth:
        """`exit` and its kin. An exit that comes only because something was not given is gone past: it will be given."""
        depends = frozenset(each for names in self.depends for each in names)
        if name != "exit" or not depends or self.unsure:
            self.state.ended = name
            return HOLDS
        self.went_past = True
        for each in sorted(depends):
            if each.startswith("$"):
                self.state.open_arguments = "the script ends early without its arguments, so it will be given some"
            else:
                why = f"the script ends early where `{each}` is not set, so it will be set; `--allow-env {each}` reads it"
                self.state.variables[each] = Text.unknown(f"${each}", place, why)
        return HOLDS

    @property
    def _builtins(self) -> Builtins:
        return Builtins(self.script, self.state, self._expander)


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
    "declaration_command": Follower._declaration,
    "unset_command": Follower._unset,
    "redirected_statement": Follower._redirected,
    "command": Follower._simple,
}
