"""What is known at one point of a script: its variables, functions and arguments."""

from __future__ import annotations

import os
from dataclasses import field, replace
from typing import TYPE_CHECKING, Mapping

from ..record import dataclass
from .pieces import Held, Piece, Place, Text, alike, merged

if TYPE_CHECKING:
    from tree_sitter import Node

    from .syntax import Script

MAX_STEPS = 20_000
MAX_CALLS = 24
_ALWAYS_SET = {
    "HOME", "USER", "LOGNAME", "PATH", "PWD", "OLDPWD", "SHELL", "TERM", "LANG", "HOSTNAME", "RANDOM",
    "SRANDOM", "SECONDS", "UID", "EUID", "PPID", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "OSTYPE",
    "MACHTYPE", "HOSTTYPE", "GROUPS", "DIRSTACK", "FUNCNAME", "SHLVL", "PIPESTATUS", "REPLY",
    "COLUMNS", "LINES",
}  # fmt: skip
"""Variables that bash or the login always sets: never taken as not set."""


class TooMuch(Exception):
    """Following the script takes more than is done; the message is a sentence for a person."""


@dataclass
class Budget:
    """Number of steps that the script may still take, all of its branches together."""

    steps: int = MAX_STEPS

    def spend(self, amount: int = 1) -> None:
        """Take steps. Raises TooMuch if none are left."""
        self.steps -= amount
        if self.steps < 0:
            raise TooMuch(f"the script takes more than {MAX_STEPS:,} steps")


@dataclass
class State:
    """Variables by name, functions, the arguments of the script or of the function that is called.

    Attributes
    ----------
    script : the path of the script itself.
    environment : the variables of the environment that may be read.
    arguments, open_arguments : `$1` and so on; why all are unknown, "" if they are not.
    shifted : True if unknown arguments were shifted: none are taken to be left then.
    variables : what each holds; nothing (an empty list) if it was unset.
    exported : the variables that programs see.
    outer : what the local variables of the function were before its call.
    folder : the folder that the script went to; "" if unknown.
    elsewhere : why variables that the script does not set may be set; "" if they are not.
    doubting : True if a condition on what is not set is unknown.
    sourced : True if a file that is not followed may set variables.
    files : the texts that the script itself writes into files, by their names.
    ended : ``exit``, ``return``, ``break``, ``continue`` if what follows is not reached; else "".
    """

    script: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    variables: dict[str, Held] = field(default_factory=dict)
    functions: dict[str, tuple[Script, Node]] = field(default_factory=dict)
    arguments: tuple[Text, ...] = ()
    open_arguments: str = ""
    shifted: bool = False
    exported: set[str] = field(default_factory=set)
    outer: dict[str, Held | None] = field(default_factory=dict)
    folder: str = ""
    elsewhere: str = ""
    doubting: bool = False
    sourced: bool = True
    files: dict[str, Text] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    calls: int = 0
    ended: str = ""

    def copy(self) -> State:
        """Another state that begins the same; the budget is shared."""
        self.budget.spend(1 + len(self.variables) // 16)
        names = ("variables", "functions", "exported", "outer", "files")
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    def scalar(self, name: str, place: Place) -> Text | None:
        """The text of a variable or argument where it is named; None if it is not set."""
        if not name.isidentifier():
            return self._special(name, place)
        held = self.variables.get(name)
        if held is not None:
            text = held if isinstance(held, Text) else held[0] if held else None
            return text.used_at(place) if text is not None else None
        if name in self.environment:
            return Text((Piece(self.environment[name], (place,), secret=True),))
        if name == "BASH_SOURCE":
            return self._special("0", place)
        if name in _ALWAYS_SET or name.startswith("BASH"):
            path = self.folder if name == "PWD" else ""
            return Text.unknown(f"${name}", place, f"`{name}` is what it is where the script runs", path)
        if name == "IFS":
            return Text((Piece(" \t\n", (place,)),))
        return Text.unknown(f"${name}", place, self.elsewhere) if self.elsewhere else None

    def _special(self, name: str, place: Place) -> Text | None:
        """`$0`, `$1`, `$#` and their kin."""
        if (name.isdecimal() and name != "0") or name == "#":
            if self.open_arguments:
                return Text.unknown(f"${name}", place, self.open_arguments)
            if name == "#":
                number = str(len(self.arguments))
                return Text((Piece(number, (place,), assumed=frozenset({"$#"})),))
            index = int(name[:6]) - 1
            known = index < len(self.arguments)
            return self.arguments[index].used_at(place) if known else None
        path, why = self.script if name == "0" else "", "is known only where the script runs"
        return Text.unknown(f"${name}", place, f"`${name}` {why}", path)

    def elements(self, name: str, place: Place) -> list[Text]:
        """The elements of an array where it is named, or all arguments."""
        if name in "@*":
            if self.open_arguments and not self.shifted:
                return [Text.unknown(f"${name}", place, self.open_arguments)]
            return [text.used_at(place) for text in self.arguments]
        held = self.variables.get(name)
        if isinstance(held, list):
            return [text.used_at(place) for text in held]
        text = self.scalar(name, place)
        return [] if text is None else [text]

    def assign(self, name: str, value: Held) -> None:
        """Give a variable a value; its first element, if it is an array and the value is none."""
        old = self.variables.get(name)
        self.variables[name] = [value, *old[1:]] if isinstance(old, list) and old and isinstance(value, Text) else value

    def absolute(self, path: str) -> str:
        """A path, seen from the folder that the script went to."""
        return os.path.normpath(os.path.join(self.folder, path)) if path else ""

    def localise(self, name: str) -> None:
        """Make a variable one of the function that is called."""
        if self.calls:
            self.outer.setdefault(name, self.variables.get(name))

    def leave(self) -> None:
        """End the function: its own variables are what they were before it."""
        for name, held in self.outer.items():
            self.variables.pop(name, None)
            if held is not None:
                self.variables[name] = held

    def unsure(self, names: set[str], place: Place, why: str) -> None:
        """Make variables unknown."""
        for name in names:
            self.variables[name] = Text.unknown(f"${name}", place, why)

    def merge(self, other: State, place: Place, why: str) -> None:
        """Keep what is known after one of two ways: what differs is unknown."""
        self.budget.spend(1 + len(self.variables) // 16)
        for name in self.variables.keys() | other.variables.keys():
            held, others = self.variables.get(name), other.variables.get(name)
            if (held, others) in ((None, []), ([], None)):  # unset in one way, of the environment in the other
                self.unsure({name}, place, why)
            elif not alike(held, others):
                self.variables[name] = merged(others, held, name, place, why)
        self.exported &= other.exported
        self.outer = {**other.outer, **self.outer}
        self.functions = {**other.functions, **self.functions}
        self.elsewhere = self.elsewhere or other.elsewhere
        self.folder = self.folder if self.folder == other.folder else ""
        if (self.arguments, self.open_arguments) != (other.arguments, other.open_arguments):
            self.open_arguments = self.open_arguments or other.open_arguments or why
