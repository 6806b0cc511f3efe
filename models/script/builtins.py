"""Commands of the shell itself that change what is known: assignments, export, set, shift, unset, read, source.

Source: the Bash Reference Manual, 4 (Shell Builtin Commands).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

from .conditions import HOLDS, Truth
from .expand import Expander, Unfit
from .pieces import Array, Held, Keyed, Place, Text, joined
from .state import State
from .sums import NotComputed
from .syntax import NAME, Script

if TYPE_CHECKING:
    from tree_sitter import Node

DECLARING = ("export", "declare", "typeset", "local", "readonly")
_READING = ("read", "mapfile", "readarray", "printf", "getopts")
BUILTINS = (*_READING, "let", "unset", "shift", "set", ":", "true", "false")
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
            names = {word.plain.partition("=")[0].rstrip("+-*/%") for word in given if word.known}
            if name != "printf" or "-v" in names:
                names = {each for each in names if each.isidentifier()}
                self.state.unsure(names, place, f"`{name}` sets it when the script runs")
                return Truth(None, f"it depends on how `{name}` ends")
        elif name == "let":
            return self._let(given, place)
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
                self._declared(name, names[-1], flags)
                self.assign(child)
                continue
            for text in self.expander.fields(self.script.word(*self.script.range(child))):
                word, equals, _ = text.plain.partition("=")
                if word.startswith("-"):
                    flags += word
                elif text.cut(0, len(word)).known and word.isidentifier():
                    names.append(word)
                    self._declared(name, word, flags)
                    if equals:
                        self.state.assign(word, text.cut(len(word) + 1))
        if name == "export" or "x" in flags:
            self.state.exported |= set(names)
        return HOLDS

    def _declared(self, command: str, name: str, flags: str) -> None:
        if command in ("local", "declare", "typeset"):
            self.state.localise(name)
        if "A" in flags and not isinstance(self.state.held(name), Keyed):
            self.state.variables[name] = Keyed()
        elif "a" in flags:
            self.state.variables.setdefault(name, Array())

    def assign(self, node: Node) -> None:
        """`NAME=value` and its kin."""
        target, operator = node.children[0], node.children[1]
        name = self.script.written(target).partition("[")[0]
        append, place = operator.type == "+=", self.expander.place(self.script.range(node))
        start, end = self.script.range(operator)[1], self.script.range(node)[1]
        old = self._old(name, append, place)
        value = node.child_by_field_name("value")
        if value is not None and value.type == "array":
            self.state.variables[name] = self._array(name, (start + 1, end - 1), place, append, old)
            return
        text = self.expander.one(self.script.parts(start, end))
        if target.type == "subscript":
            first, last = self.script.range(target)
            self._element((first + len(name) + 1, last - 1), name, text, old, append, place)
            return
        if append:
            before = old.get("0", Text()) if isinstance(old, dict) else old or Text()
            text = joined([before, text], place=place)
        self.state.assign(name, text)

    def _old(self, name: str, append: bool, place: Place) -> Held | None:
        """What the variable holds before; what is appended is appended to the environment's own too."""
        old = self.state.held(name)
        if append and old is None and name not in self.state.removed:
            return self.state.scalar(name, place)
        return old

    def _element(self, index: Place, name: str, value: Text, old: Held | None, append: bool, place: Place) -> None:
        """`NAME[index]=value`."""
        array, key = _array_of(old), self._key(index, old)
        if key is None or len(array) >= MAX_ELEMENTS:
            why = f"the array has more than {MAX_ELEMENTS:,} elements"
            self.state.unsure({name}, place, "which element is set is not known" if key is None else why)
            return
        array[key] = joined([array.get(key, Text()), value], place=place) if append else value
        self.state.variables[name] = array

    def _array(self, name: str, inside: Place, place: Place, append: bool, old: Held | None) -> Held:
        """What `NAME=(...)` or `NAME+=(...)` makes."""
        array = _array_of(old) if append else Keyed() if isinstance(old, Keyed) else Array()
        following = max((int(key) + 1 for key in array if key.isdecimal()), default=0)
        text = self.script.text
        for word in self.script.words(*inside):
            start, end = word.place
            bracket = self.script.close(start + 1, "]") if text[start] == "[" and "]=" in text[start:end] else 0
            if bracket and text.startswith("]=", bracket):
                key = self._key((start + 1, bracket), array)
                if key is None:
                    return Text.unknown(f"${name}", place, "a subscript of the array is not known")
                array[key] = self.expander.one(self.script.parts(bracket + 2, end))
                following = int(key) + 1 if key.isdecimal() else following
                continue
            for element in self.expander.fields(word):
                array[str(following)] = element
                following += 1
                self.state.budget.spend(len(array) // 1_000)
            if len(array) > MAX_ELEMENTS:
                return Text.unknown(f"${name}", place, f"the array has more than {MAX_ELEMENTS:,} elements")
        return array

    def _key(self, index: Place, held: Held | None) -> str | None:
        """A subscript; None if it is unknown, or is none."""
        try:
            key = self.expander.subscript(self.script.parts(*index), self.expander.place(index), held)
        except (NotComputed, Unfit):
            return None
        return key if isinstance(held, Keyed) or key.isdecimal() else None

    def _let(self, words: Sequence[Text], place: Place) -> Truth:
        """`let`: sums, whose assignments count."""
        value = 0
        for word in words:
            try:
                value = self.expander.calculate(word, place)
            except NotComputed as problem:
                name = NAME.match(word.plain)
                self.state.unsure({name[0]} if name else set(), place, f"`let` is not known: {problem}")
                return Truth(None, f"it depends on `let`: {problem}")
        return Truth(value != 0)

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


def _array_of(held: Held | None) -> Array:
    """A copy of what a variable holds, as an array."""
    if isinstance(held, Keyed):
        return Keyed(held)
    return dict(held) if isinstance(held, dict) else {"0": held} if held is not None else {}
