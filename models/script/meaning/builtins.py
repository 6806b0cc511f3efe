"""Commands of the shell itself that change what is known: assignments, export, set, shift, unset, read, source...

Source: the Bash Reference Manual, 4 (Shell Builtin Commands).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..syntax.commands import Assignment, Simple
from ..syntax.parts import Place, Word
from .arithmetic import NotComputed
from .conditions import Truth
from .expansion import Expander
from .state import State
from .value import Array, Held, Text, joined

DECLARING = ("export", "declare", "typeset", "local", "readonly")
_READING = ("read", "mapfile", "readarray", "printf", "getopts", "let")
_OTHERS = ("source", ".", "eval")
BUILTINS = (*DECLARING, *_READING, *_OTHERS, "unset", "shift", "set", ":", "true", "false")
SURE = (
    "echo", "cd", "pushd", "popd", "mkdir", "sleep", "wait", "trap", "umask", "ulimit", "alias", "shopt", "hash", "cat", "date", "pwd", "touch", "env",
    "printenv", "unalias", "jobs", "kill",
)  # fmt: skip
"""Other commands of which a script goes on after them as if they always succeed."""
_HOLDS = Truth(True)
MAX_ELEMENTS = 20_000


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
            for written in command.words:
                if isinstance(written, Assignment):
                    if name in ("local", "declare", "typeset"):
                        self.state.localise(written.name)
                    self.assign(written)
            flags = "".join(word.plain for word in words[1:] if word.plain.startswith("-"))
            if "A" in flags or "a" in flags:
                for word in words[1:]:
                    if word.known and word.plain.isidentifier():
                        self.state.variables.setdefault(word.plain, {})
        elif name in _OTHERS:
            self.untold.append(Untold(command.place, name))
            return Truth(None, f"it depends on how `{name}` ends")
        elif name in _READING:
            names = {word.plain.partition("=")[0].rstrip("+-*/%") for word in words[1:] if word.known}
            if name != "printf" or "-v" in names:
                self.state.unsure({each for each in names if each.isidentifier()}, command.place, f"`{name}` sets it when the script runs")
                return Truth(None, f"it depends on how `{name}` ends")
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
        old = self.state.held(name)
        if assignment.append and old is None and name not in self.state.removed:
            old = self.state.scalar(name, place)
        if not isinstance(assignment.value, Word):
            self.state.variables[name] = self._array(assignment, old)
            return
        value = self.expander.one(assignment.value.parts)
        if assignment.index is not None:
            key = self._key(assignment.index, isinstance(old, dict))
            array: Array = dict(old) if isinstance(old, dict) else {"0": old} if old else {}
            if key is None:
                self.state.unsure({name}, place, "which element is set is not known")
            elif len(array) < MAX_ELEMENTS:
                array[key] = joined([array.get(key, Text()), value], place=place) if assignment.append else value
                self.state.variables[name] = array
            return
        if assignment.append:
            before = old.get("0", Text()) if isinstance(old, dict) else old or Text()
            value = joined([before, value], place=place)
        self.state.assign(name, value)

    def _array(self, assignment: Assignment, old: Held | None) -> Held:
        """What `NAME=(...)` or `NAME+=(...)` makes."""
        items = assignment.value
        array: Array = {}
        if assignment.append and old is not None:
            array = dict(old) if isinstance(old, dict) else {"0": old}
        following = max((int(key) + 1 for key in array if key.isdecimal()), default=0)
        for item in items if isinstance(items, tuple) else ():
            if item.key is not None:
                key = self._key(item.key, True)
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

    def _key(self, word: Word, array: bool) -> str | None:
        """A subscript; None where it is not known."""
        text = self.expander.one(word.parts)
        if not text.known or text.secret:
            return None
        if text.plain.isdecimal() and len(text.plain) < 10:
            return str(int(text.plain))
        if array and text.plain and not any(letter in "+-*/$()[]" for letter in text.plain):
            held = self.state.held(text.plain)
            if held is None:
                return text.plain
        try:
            return str(self.expander.calculate(text, word.place))
        except NotComputed:
            return text.plain if array else None

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
