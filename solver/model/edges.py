"""Where a range begins, or where it ends: literals of which exactly one is true, and sums over those up to a position."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Callable, Iterable, Sequence

from ortools.sat.python import cp_model

from .amount import Amount, total


class Edges:
    """The positions that one edge of a range may have, each with its literal.

    At each of the given borders a literal of its own says whether the edge lies before it, so that sums from anywhere are short.
    """

    def __init__(self, model: cp_model.CpModel, name: str, borders: Sequence[int]) -> None:
        self.model, self.name, self._borders = model, name, sorted(borders)
        self._added: list[tuple[int, cp_model.IntVar]] = []

    def add(self, position: int, literal: cp_model.IntVar) -> cp_model.IntVar:
        """One more position that the edge has if this literal is true; to be called before anything is asked of sums."""
        self._added.append((position, literal))
        return literal

    def literals(self) -> list[cp_model.IntVar]:
        """All of them; exactly one is true."""
        return [literal for _, literal in self._added]

    @cached_property
    def _sorted(self) -> list[tuple[int, cp_model.IntVar]]:
        return sorted(self._added, key=lambda its: its[0])

    @cached_property
    def _positions(self) -> list[int]:
        return [position for position, _ in self._sorted]

    def _from_to(self, start: int, stop: int) -> list[tuple[int, cp_model.IntVar]]:
        """Those at positions from `start` to before `stop`."""
        return self._sorted[bisect_left(self._positions, start) : bisect_left(self._positions, stop)]

    @cached_property
    def _chain(self) -> list[Amount]:
        """For each border, 1 exactly if the edge lies before it."""
        found: list[Amount] = []
        before: Amount = 0
        for number, border in enumerate(self._borders):
            between = self._from_to(self._borders[number - 1] if number else min(self._positions, default=0), border)
            if between and border > self._positions[-1]:
                before = 1
            elif between:
                literals = [literal for _, literal in between]
                if isinstance(before, int) and len(literals) == 1:
                    before = literals[0]
                else:
                    past = self.model.new_bool_var(f"{self.name} before {border}")
                    self.model.add(past == cp_model.LinearExpr.sum(literals) + before)
                    before = past
            found.append(before)
        return found

    def before(self, position: int) -> Amount:
        """1 exactly if it lies before this position."""
        number = bisect_right(self._borders, position) - 1
        start = self._borders[number] if number >= 0 else min(self._positions, default=0)
        return total([self._chain[number] if number >= 0 else 0, *(literal for _, literal in self._from_to(start, position))])

    def upto(self, position: int) -> Amount:
        """1 exactly if it lies at this position or before."""
        return self.before(position + 1)

    def moment(self, start: int, stop: int) -> Amount:
        """How far beyond `start` it lies, if it is from there to before `stop`; else 0."""
        return weighted((literal, position - start) for position, literal in self._from_to(start, stop))

    def at_the_same(self, other: Edges) -> tuple[list[Amount], list[Amount]]:
        """For every position that one of two edges may have, whether this one is there, and whether the other one is."""
        positions = sorted({*self._positions, *other._positions})
        mine, theirs = ([total(literal for _, literal in edges._from_to(at, at + 1)) for at in positions] for edges in (self, other))
        return mine, theirs

    def worth(self, value: Callable[[int], int]) -> Amount:
        """What its position is worth."""
        return weighted((literal, value(position)) for position, literal in self._sorted)

    def leaves(self, rest: int, step: int) -> Amount:
        """1 exactly if its position leaves this rest when it is divided by `step`."""
        return self.worth(lambda position: int(position % step == rest))

    def position(self) -> Amount:
        """Where it lies."""
        return self.worth(lambda position: position)

    def hint(self, position: int, literals: bool) -> None:
        """It may lie here; with `literals` they are told too, not only those at the borders."""
        for at, literal in self._sorted if literals else ():
            self.model.add_hint(literal, at == position)
        known = {id(literal) for literal in self.literals()}
        for border, past in zip(self._borders, self._chain):
            if isinstance(past, cp_model.IntVar) and id(past) not in known:
                known.add(id(past))
                self.model.add_hint(past, position < border)

    def value(self, value: Callable[[cp_model.IntVar], int]) -> int:
        """Where it lies, given a way to read one variable."""
        return next(position for position, literal in self._sorted if value(literal))


def weighted(terms: Iterable[tuple[cp_model.IntVar, int]]) -> Amount:
    """The sum of variables times numbers."""
    its = [(variable, number) for variable, number in terms if number]
    return cp_model.LinearExpr.weighted_sum([variable for variable, _ in its], [number for _, number in its]) if its else 0
