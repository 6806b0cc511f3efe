"""All that one domain can hold: every vector of units that fits, and how it lies on the cells of the domain."""

from __future__ import annotations

from math import factorial, prod
from typing import Iterator, Sequence

from .domain_rows import Domain, Row, Vector

Contents = dict[Vector, tuple[Vector, ...]]
"""What a domain holds -> what each of its cells does. With everything in it is all that is less."""


class TooMany(Exception):
    """There is more than can be written out."""


def is_small(domain: Domain, most: int) -> bool:
    """May there be few contents? A guess that costs nothing: of k bundles that fill a domain each by itself, about 1 / k! of all amounts fit together."""
    counts = [domain.most[number] // domain.steps[number] + 1 for number in domain.open]
    return prod(counts) / factorial(len(counts)) <= most


def contents(domain: Domain, most: int) -> Contents:
    """Everything that one of these domains can hold. Raises TooMany where that, or a part of it, is more than `most`."""
    empty = (0,) * len(domain.most)
    found: Contents = {empty: ()}
    alone = len(domain.alike.sorts) == 1
    for sort, rows in zip(domain.alike.sorts, domain.rows):
        steps = domain.steps if alone else (1,) * len(empty)
        inside = _Cell([number for number in sort.open if number in domain.open], rows, steps, domain.most)
        its = []
        for vector in inside.fill(0):
            its.append(vector)
            if len(its) > most:
                raise TooMany
        found = _together(found, its, domain.most, most)
    return {vector: cells for vector, cells in found.items() if not any(amount % step for amount, step in zip(vector, domain.steps))}


def _together(found: Contents, its: Sequence[Vector], room: Vector, most: int) -> Contents:
    together: Contents = {}
    for one, cells in found.items():
        for other in its:
            vector = tuple(map(sum, zip(one, other)))
            if vector not in together and all(amount <= limit for amount, limit in zip(vector, room)):
                together[vector] = (*cells, other)
        if len(together) > most:
            raise TooMany
    return together


class _Cell:
    """Everything that a cell can hold of some bundles, in steps."""

    def __init__(self, bundles: Sequence[int], rows: Sequence[Row], steps: Sequence[int], room: Vector) -> None:
        self._bundles, self._steps, self._room = bundles, steps, room
        self._left, self._vector = [row.most for row in rows], [0] * len(room)
        self._pieces = {each: [(index, row.pieces(each)) for index, row in enumerate(rows) if row.pieces(each)] for each in bundles}

    def fill(self, position: int) -> Iterator[Vector]:
        """Every amount of the bundles from this position on, beside what is there of those before."""
        if position == len(self._bundles):
            yield tuple(self._vector)
            return
        bundle = self._bundles[position]
        yield from self.fill(position + 1)
        while self._vector[bundle] + self._steps[bundle] <= self._room[bundle] and self._add(bundle, self._steps[bundle]):
            yield from self.fill(position + 1)
        self._add(bundle, -self._vector[bundle])

    def _add(self, bundle: int, units: int) -> bool:
        """So many more, or fewer; False if that is too much, and then nothing changes."""
        if any(pieces * units > self._left[index] for index, pieces in self._pieces[bundle]):
            return False
        self._vector[bundle] += units
        for index, pieces in self._pieces[bundle]:
            self._left[index] -= pieces * units
        return True
