"""Commands of the shell itself that change what is known: assignments, export, set, shift, unset, read, source.

Source: the Bash Reference Manual, 4 (Shell Builtin Commands).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ..record import dataclass
from .conditions import HOLDS, Truth
from .expand import Expander
from .pieces import Held, Place, Text, joined
from .state import State
from .syntax import NAME, Script

if TYPE_CHECKING:
    from tree_sitter import Node

DECLARING = ("export", "declare", "typeset", "local", "readonly")
_READING = ("read", "mapfile", "readarray", "printf", "getopts", "let")
BUILTINS = (*_READING, "unset", "shift", "set", ":", "true", "false")
SURE = (
    "echo", "cd", "pushd", "popd", "mkdir", "sleep", "wait", "trap", "umask", "ulimit", "alias", "shopt", "hash", "cat",
    "date", "pwd", "touch", "env", "printenv", "unalias", "jobs", "kill",
)  # fmt: skip
"""Other commands of which a script goes on after them as if they always succeed."""
MAX_ELEMENTS = 20_000


@dataclass
class Builtins:
    """Carries out what assignments and builtins do to a state."""

    script: Script
    state: State
    expander: Expander

    def run(self, words: list[Text], place: Place) -> Truth:
        """What a builtin changes, and how it ends."""
        name, given = words[0].plain, words[1:]
        if name in _READING:
            names = {match[0] for word in given if word.known and (match := NAME.match(word.plain))}
            if name != "printf" or any(word.plain == "-v" for word in given):
                self.state.unsure(names, place, f"`{name}` sets it when the script runs")
                return Truth(None, f"it depends on how `{name}` ends")
        elif name == "unset":
            for word in given:
                if word.known and word.plain.isidentifier():
                    self.state.unset(word.plain)
        elif name == "shift":
            amount = given[0].plain if given and given[0].known else "1"
            if amount.isdecimal() and len(amount) < 6 and int(amount) <= len(self.state.arguments):
                self.state.arguments = self.state.arguments[int(amount) :]
        elif name == "set":
            self._set(given)
        return Truth(False) if name == "false" else HOLDS

    def declare(self, node: Node) -> Truth:
        """`export`, `declare`, `local` and their kin."""
        name, flags, names = self.script.written(node).split()[0], "", list[str]()
        for child in node.named_children:
            if child.type == "variable_assignment":
                target = child.named_children[0]
                names.append(self.script.written(target).partition("[")[0])
                self._declared(name, names[-1], flags, self.expander.place(self.script.range(node)))
                self.assign(child)
                continue
            for text in self.expander.fields(self.script.word(*self.script.range(child))):
                word, equals, _ = text.plain.partition("=")
                if word.startswith("-"):
                    flags += word
                elif text.cut(0, len(word)).known and word.isidentifier():
                    names.append(word)
                    self._declared(name, word, flags, self.expander.place(self.script.range(node)))
                    if equals:
                        self.state.assign(word, text.cut(len(word) + 1))
        if name == "export" or "x" in flags:
            self.state.exported |= set(names)
        return HOLDS

    def _declared(self, command: str, name: str, flags: str, place: Place) -> None:
        if command in ("local", "declare", "typeset"):
            self.state.localise(name)
        if "A" in flags or "n" in flags:
            self.state.unsure({name}, place, f"what `{command} {flags}` makes is not followed")
        elif "a" in flags:
            self.state.variables.setdefault(name, [])

    def assign(self, node: Node) -> None:
        """`NAME=value` and its kin."""
        target, operator = node.children[0], node.children[1]
        name = self.script.written(target).partition("[")[0]
        append, place = operator.type == "+=", self.expander.place(self.script.range(node))
        start, end = self.script.range(operator)[1], self.script.range(node)[1]
        old = self._old(name, append, place)
        value = node.child_by_field_name("value")
        if target.type == "subscript":
            self.state.unsure({name}, place, "an element of it is set by its number, which is not followed")
            return
        if value is not None and value.type == "array":
            self.state.variables[name] = self._array(name, (start + 1, end - 1), place, old if append else None)
            return
        text = self.expander.one(self.script.parts(start, end))
        if append:
            before = old[0] if isinstance(old, list) and old else old if isinstance(old, Text) else Text()
            text = joined([before, text], place=place)
        self.state.assign(name, text)

    def _old(self, name: str, append: bool, place: Place) -> Held | None:
        """What the variable holds before; what is appended is appended to the environment's own too."""
        old = self.state.held(name)
        if append and old is None and name not in self.state.removed:
            return self.state.scalar(name, place)
        return old

    def _array(self, name: str, inside: Place, place: Place, old: Held | None) -> Held:
        """What `NAME=(...)` or `NAME+=(...)` makes."""
        array = list(old) if isinstance(old, list) else [old] if old is not None else []
        if isinstance(old, Text) and not old.known:
            return old
        for word in self.script.words(*inside):
            if word.parts and self.script.text[word.place[0]] == "[" and "]=" in self.script.text[slice(*word.place)]:
                return Text.unknown(f"${name}", place, "elements that are set by their numbers are not followed")
            array += self.expander.fields(word)
            self.state.budget.spend(len(array) // 1_000)
            if len(array) > MAX_ELEMENTS:
                return Text.unknown(f"${name}", place, f"the array has more than {MAX_ELEMENTS:,} elements")
        return array

    def _set(self, words: Sequence[Text]) -> None:
        """`set`: options, then arguments that replace those of the script."""
        position = 0
        while position < len(words):
            word = words[position].plain
            if word == "--" or not word.startswith(("-", "+")):
                self.state.arguments = tuple(words[position + (word == "--") :])
                self.state.open_arguments = ""
                return
            position += 1 + word.count("o")  # `-euo pipefail`: an `o` takes the next word as an option's name
