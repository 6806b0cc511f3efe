"""Arithmetic over the variables of a script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Sequence

from ..holding.state import State
from ..holding.value import Piece, Text, derived
from ..syntax.parts import Part, Place
from .arithmetic import compute
from .integers import NotComputed

MAX_REFERENCES = 16


class Unfit(Exception):
    """A part of a word is not followed; the message says why."""


@dataclass
class Calculator(ABC):
    """Computes expressions of a script in a state. `text` is the script; `sources` what the last number depends on."""

    text: str
    state: State
    sources: list[Text] = field(default_factory=list)

    @abstractmethod
    def one(self, parts: Sequence[Part]) -> Text:
        """The text of parts that are not split."""

    def number(self, parts: Sequence[Part], place: Place) -> int:
        """The value of an arithmetic expression. Raises NotComputed."""
        return self.calculate(self.one(parts), place)

    def calculate(self, text: Text, place: Place) -> int:
        """The value of the expression that a text is. Raises NotComputed."""
        self.sources = [text]
        return self._compute(text, place, 0)

    def unknown(self, place: Place, why: str) -> Text:
        """What stands at a place, as text that is not known."""
        return Text.unknown(self.text[place[0] : place[1]], place, why)

    def shown(self, place: Place) -> str:
        """What stands at a place, in one short line."""
        return " ".join(self.text[place[0] : place[1]].split())[:60]

    def _compute(self, text: Text, place: Place, depth: int) -> int:
        if not text.known:
            raise NotComputed(text.why_unknown)
        if depth > MAX_REFERENCES:
            raise NotComputed("variables refer to each other without end")

        def lookup(name: str) -> int:
            """A variable; its text is an expression again."""
            self.state.budget.spend()
            held = self.state.scalar(name, place)
            if held is None:
                self.sources.append(Text((Piece("", (place,), unset=frozenset({name})),)))
                return 0
            self.sources.append(held)
            return self._compute(held, place, depth + 1)

        def store(name: str, value: int) -> None:
            """An assignment within the expression."""
            self.state.assign(name, derived(str(value), self.sources, place))

        self.state.budget.spend(1 + len(text.plain) // 50)
        return compute(text.plain, lookup, store)
