"""What is known at one point of a script: its variables, functions and arguments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Mapping

from ..syntax.commands import Command
from ..syntax.parts import Place
from .value import Held, Piece, Text, alike, in_order

MAX_STEPS = 20_000
MAX_CALLS = 24
_ALWAYS_SET = {
    "HOME", "USER", "LOGNAME", "PATH", "PWD", "OLDPWD", "SHELL", "TERM", "LANG", "HOSTNAME", "RANDOM", "SRANDOM", "SECONDS", "UID", "EUID",
    "PPID", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "OSTYPE", "MACHTYPE", "HOSTTYPE", "GROUPS", "DIRSTACK", "FUNCNAME", "SHLVL",
    "PIPESTATUS", "REPLY", "COLUMNS", "LINES",
}  # fmt: skip
"""Variables that bash or the login always sets: never taken as not set."""


class TooMuch(Exception):
    """Following the script takes more than is done; the message is a sentence for a person."""


@dataclass
class Budget:
    """How many steps the script may still take, all of its branches together."""

    steps: int = MAX_STEPS

    def spend(self, amount: int = 1) -> None:
        """Takes steps. Raises TooMuch where none are left."""
        self.steps -= amount
        if self.steps < 0:
            raise TooMuch(f"the script takes more than {MAX_STEPS:,} steps")


@dataclass
class State:
    """Variables by name, functions, the arguments of the script or of the function that is called.

    Attributes
    ----------
    environment : the variables of the environment that may be read.
    arguments : `$1` and so on; `open_arguments` where the script needs some, which nobody gave: then why each is not known.
    removed : variables that were unset in the script.
    outer : what the local variables of the function that is called were before it; None for those that were not set.
    ended : how the statements that follow are not reached: ``exit``, ``return``, ``break`` or ``continue``; "" where they are.
    """

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    variables: dict[str, Held] = field(default_factory=dict)
    functions: dict[str, Command] = field(default_factory=dict)
    arguments: tuple[Text, ...] = ()
    open_arguments: str = ""
    removed: set[str] = field(default_factory=set)
    outer: dict[str, Held | None] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    calls: int = 0
    ended: str = ""

    def copy(self) -> State:
        """Another state that begins the same; the budget is shared."""
        self.budget.spend(1 + len(self.variables) // 16)
        return replace(
            self, variables=dict(self.variables), functions=dict(self.functions), removed=set(self.removed), outer=dict(self.outer)
        )

    def held(self, name: str) -> Held | None:
        """What a variable of the script holds; None if it sets none of this name."""
        return self.variables.get(name)

    def scalar(self, name: str, place: Place) -> Text | None:
        """The text of a variable or argument where it is named; None if it is not set."""
        if name.isdecimal() or name in "@*#?$!-":
            return self._special(name, place)
        found = self.variables.get(name)
        if isinstance(found, dict):
            return found["0"].used_at(place) if "0" in found else None
        if found is not None:
            return found.used_at(place)
        if name in self.removed:
            return None
        if name in self.environment:
            return Text((Piece(self.environment[name], (place,), secret=True),))
        if name in _ALWAYS_SET or name.startswith("BASH"):
            return Text.unknown(f"${name}", place, f"`{name}` is what it is where the script runs")
        return Text((Piece(" \t\n", (place,)),)) if name == "IFS" else None

    def _special(self, name: str, place: Place) -> Text | None:
        if name == "#":
            if self.open_arguments:
                return Text.unknown("$#", place, self.open_arguments)
            return Text((Piece(str(len(self.arguments)), (place,), assumed=frozenset({"$#"})),))
        if name in ("?", "$", "!", "-", "0"):
            return Text.unknown(f"${name}", place, f"`${name}` is known only where the script runs")
        if not name.isdecimal():
            return None
        if self.open_arguments:
            return Text.unknown(f"${name}", place, self.open_arguments)
        position = int(name[:6]) - 1
        return self.arguments[position].used_at(place) if position < len(self.arguments) else None

    def elements(self, name: str, place: Place) -> list[Text]:
        """The elements of an array where it is named, or all arguments."""
        if name in "@*":
            if self.open_arguments:
                return []
            return [text.used_at(place) for text in self.arguments]
        found = self.variables.get(name)
        if isinstance(found, dict):
            return [text.used_at(place) for _, text in in_order(found)]
        text = self.scalar(name, place)
        return [] if text is None else [text]

    def assign(self, name: str, value: Held) -> None:
        """Gives a variable another value; the first element, where it is an array and the value is none."""
        old = self.variables.get(name)
        if isinstance(old, dict) and isinstance(value, Text):
            value = {**old, "0": value}
        self.variables[name] = value
        self.removed.discard(name)

    def localise(self, name: str) -> None:
        """A variable becomes one of the function that is called."""
        if self.calls:
            self.outer.setdefault(name, self.variables.get(name))

    def leave(self) -> None:
        """The function ends: its own variables are what they were before it."""
        for name, held in self.outer.items():
            if held is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = held

    def unset(self, name: str) -> None:
        """Takes a variable away."""
        self.variables.pop(name, None)
        self.removed.add(name)

    def unsure(self, names: set[str], place: Place, why: str) -> None:
        """These variables are not known from here on."""
        for name in names:
            self.variables[name] = Text.unknown(f"${name}", place, why)

    def merge(self, other: State, place: Place, why: str) -> None:
        """What is known where one of two ways was taken, and it is not known which: what differs is not known."""
        self.budget.spend(1 + len(self.variables) // 16)
        names = self.variables.keys() | other.variables.keys()
        differing = {name for name in names if not alike(self.variables.get(name), other.variables.get(name))}
        differing |= self.removed ^ other.removed
        self.unsure(differing, place, why)
        self.removed &= other.removed
        self.outer = {**other.outer, **self.outer}
        self.functions = {**other.functions, **self.functions}
        if self.arguments != other.arguments or self.open_arguments != other.open_arguments:
            self.open_arguments = self.open_arguments or other.open_arguments or why

    def become(self, other: State) -> None:
        """Takes over everything from another state."""
        self.variables, self.functions, self.removed = other.variables, other.functions, other.removed
        self.arguments, self.open_arguments, self.ended = other.arguments, other.open_arguments, other.ended
