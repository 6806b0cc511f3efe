"""Commands of the shell itself that change what is known: assignments, export, set, shift, unset, read, source...

Source: the Bash Reference Manual, 4 (Shell Builtin Commands).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..expanding.calculation import Unfit
from ..expanding.expansion import Expander
from ..expanding.integers import NotComputed
from ..holding.state import State
from ..holding.value import Array, Held, Keyed, Text, joined
from ..syntax.commands import Assignment, Simple
from ..syntax.expansions import NAME
from ..syntax.parts import Place, Word
from .truth import Truth

DECLARING = ("export", "declare", "typeset", "local", "readonly")
_READING = ("read", "mapfile", "readarray", "printf", "getopts")
_OTHERS = ("source", ".", "eval")
BUILTINS = (*DECLARING, *_READING, *_OTHERS, "let", "unset", "shift", "set", ":", "true", "false")
SURE = (
    "echo", "cd", "pushd", "popd", "mkdir", "sleep", "wait", "trap", "umask", "ulimit", "alias", "shopt", "hash", "cat", "date", "pwd", "touch", "env",
    "printenv", "unalias", "jobs", "kill",
)  # fmt: skip
"""Other commands of which a script goes on after them as if they always succeed."""
_HOLDS = Truth(True)
MAX_ELEMENTS = 20_000


def _array_of(held: Held | None) -> Array:
    """A copy of what a variable holds, as an array."""
    if isinstance(held, Keyed):
        return Keyed(held)
    return dict(held) if isinstance(held, dict) else {"0": held} if held is not None else {}


@dataclass(frozen=True, slots=True)
class Untold:
    """A command that may set variables from what is not read: another file, or a text that is evaluated."""

    place: Place
    name: str


@dataclass
class Builtin:
    """Carries out what builtins do to a state."""

    state: State
    expander: Expander
    untold: list[Untold]

    def run(self, name: str, words: list[Text], command: Simple) -> Truth:
        """What a builtin changes, and how it ends."""
        if name in DECLARING:
            flags = "".join(word.plain for word in words[1:] if word.plain.startswith("-"))
            declared = [word.plain for word in words[1:] if word.known and word.plain.isidentifier()]
            for each in (*declared, *(word.name for word in command.words if isinstance(word, Assignment))):
                if "A" in flags and not isinstance(self.state.held(each), Keyed):
                    self.state.variables[each] = Keyed()
                elif "a" in flags:
                    self.state.variables.setdefault(each, Array())
            for written in command.words:
                if isinstance(written, Assignment):
                    if name in ("local", "declare", "typeset"):
                        self.state.localise(written.name)
                    self.assign(written)
        elif name in _OTHERS:
            self.untold.append(Untold(command.place, name))
            return Truth(None, f"it depends on how `{name}` ends")
        elif name in _READING:
            names = {word.plain.partition("=")[0].rstrip("+-*/%") for word in words[1:] if word.known}
            if name != "printf" or "-v" in names:
                self.state.unsure({each for each in names if each.isidentifier()}, command.place, f"`{name}` sets it when the script runs")
                return Truth(None, f"it depends on how `{name}` ends")
        elif name == "let":
            return self._let(words[1:], command.place)
        elif name == "unset":
            for word in words[1:]:
                if word.known and word.plain.isidentifier():
                    self.state.unset(word.plain)
        elif name == "shift":
            self._shift(words)
        elif name == "set":
            self._set(words[1:])
        return Truth(False) if name == "false" else _HOLDS

    def assign(self, assignment: Assignment) -> None:
        """`NAME=value` and its kin."""
        name, place = assignment.name, assignment.place
        if not isinstance(assignment.value, Word):
            self.state.variables[name] = self._array(assignment, self._old(assignment))
            return
        value = self.expander.one(assignment.value.parts)
        old = self._old(assignment)
        if assignment.index is not None:
            self._element(assignment, assignment.index, value, old)
            return
        if assignment.append:
            before = old.get("0", Text()) if isinstance(old, dict) else old or Text()
            value = joined([before, value], place=place)
        self.state.assign(name, value)

    def _old(self, assignment: Assignment) -> Held | None:
        """What the variable holds before; what is appended is appended to the environment's own too."""
        old = self.state.held(assignment.name)
        if assignment.append and old is None and assignment.name not in self.state.removed:
            return self.state.scalar(assignment.name, assignment.place)
        return old

    def _element(self, assignment: Assignment, index: Word, value: Text, old: Held | None) -> None:
        """`NAME[index]=value`."""
        name, place = assignment.name, assignment.place
        array, key = _array_of(old), self._key(index, old)
        if key is None or len(array) >= MAX_ELEMENTS:
            why = "which element is set is not known" if key is None else f"the array has more than {MAX_ELEMENTS:,} elements"
            self.state.unsure({name}, place, why)
            return
        array[key] = joined([array.get(key, Text()), value], place=place) if assignment.append else value
        self.state.variables[name] = array

    def _array(self, assignment: Assignment, old: Held | None) -> Held:
        """What `NAME=(...)` or `NAME+=(...)` makes."""
        items = assignment.value
        array = _array_of(old) if assignment.append else Keyed() if isinstance(old, Keyed) else Array()
        following = max((int(key) + 1 for key in array if key.isdecimal()), default=0)
        for item in items if isinstance(items, tuple) else ():
            if item.key is not None:
                key = self._key(item.key, array)
                if key is None:
                    return Text.unknown(f"${assignment.name}", assignment.place, "a subscript of the array is not known")
                array[key] = self.expander.one(item.value.parts)
                following = int(key) + 1 if key.isdecimal() else following
                continue
            for text in self.expander.fields(item.value):
                array[str(following)] = text
                following += 1
                self.state.budget.spend(len(array) // 1_000)
            if len(array) > MAX_ELEMENTS:
                return Text.unknown(f"${assignment.name}", assignment.place, f"the array has more than {MAX_ELEMENTS:,} elements")
        return array

    def _key(self, word: Word, held: Held | None) -> str | None:
        """A subscript; None where it is not known, or is none."""
        try:
            key = self.expander.subscript(word.parts, word.place, held)
        except (NotComputed, Unfit):
            return None
        return key if isinstance(held, Keyed) or key.isdecimal() else None

    def _let(self, words: list[Text], place: Place) -> Truth:
        """`let`: expressions, whose assignments count."""
        value = 0
        for word in words:
            try:
                value = self.expander.calculate(word, place)
            except NotComputed as problem:
                name = NAME.match(word.plain)
                self.state.unsure({name[0]} if name else set(), place, f"`let` is not known: {problem}")
                return Truth(None, f"it depends on `let`: {problem}")
        return Truth(value != 0)

    def _shift(self, words: list[Text]) -> None:
        amount = words[1].plain if len(words) > 1 and words[1].known else "1"
        if amount.isdecimal() and len(amount) < 6 and int(amount) <= len(self.state.arguments):
            self.state.arguments = self.state.arguments[int(amount) :]

    def _set(self, words: list[Text]) -> None:
        """`set`: options, then arguments that replace those of the script."""
        position = 0
        while position < len(words):
            word = words[position].plain
            if word == "--" or not word.startswith(("-", "+")):
                self.state.arguments = tuple(words[position + (word == "--") :])
                self.state.open_arguments = ""
                return
            position += 1 + word.count("o")  # `-euo pipefail`: an `o` takes the next word as the name of an option
