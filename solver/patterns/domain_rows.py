"""What fits one domain: the rows of its cells, the whole groups that it holds, its share of what is spread."""

from __future__ import annotations

from math import gcd, lcm
from typing import Collection, Iterator

from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pool import Pool
from ..objectives.rooms import rooms_of
from .alike import Alike, Sort

Vector = tuple[int, ...]
"""Units of each counted bundle, in the order of the layout."""


@dataclass(frozen=True)
class Row:
    """Pieces of one size: those that the units of each bundle take, by its number, are together no more than `most`."""

    taken: dict[int, int]
    most: int

    def pieces(self, bundle: int) -> int:
        """How many a unit of the bundle takes."""
        return self.taken.get(bundle, 0)

    def holds(self, vector: Vector) -> bool:
        """Is it kept by so many units?"""
        return sum(pieces * vector[bundle] for bundle, pieces in self.taken.items()) <= self.most


class Domain:
    """What is known of any of the domains that are alike.

    Attributes
    ----------
    steps : each bundle has a multiple of so many units there.
    most : most units of each bundle that it could hold, were that alone.
    open : the numbers of the bundles that may be there.
    rows : for each cell what fits there.
    groups : what fits of groups that the domain holds whole, in all its cells: what is too little for one of them is lost.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], alike: Alike) -> None:
        self.layout, self.alike = layout, alike
        self.steps = tuple(lcm(*(bundle.whole(level) for level in levels)) // bundle.unit for bundle in layout.counted)
        self.most = tuple(self._most(levels[0], number) for number in range(len(layout.counted)))
        self.open = tuple(number for number, most in enumerate(self.most) if most)
        self.rows = [self._rows(sort) for sort in alike.sorts]
        self.groups = [row for pool in layout.pools for row in self._groups(pool)]

    def _most(self, level: str, number: int) -> int:
        if not any(number in sort.open for sort in self.alike.sorts):
            return 0
        bundle, name = self.layout.counted[number], self.alike.domains[0][0].domain(level)
        return rooms_of(self.layout).most(bundle, level, name) // bundle.unit

    def _rows(self, sort: Sort) -> list[Row]:
        found = []
        for pool, size, inside, most in sort.room:
            pieces: dict[int, int] = {}
            for number, taken in zip(sort.open, sort.taken):
                bundle = self.layout.counted[number]
                if number in self.open and self.layout.pool_of[bundle] is self.layout.pools[pool]:
                    pieces[number] = _pieces(bundle, size) if inside else taken // size
            found.append(Row({number: count for number, count in pieces.items() if count}, most))
        return found

    def _groups(self, pool: Pool) -> Iterator[Row]:
        bundles = {number: self.layout.counted[number] for number in self.open if self.layout.pool_of[self.layout.counted[number]] is pool}
        whole = {number: self.steps[number] * bundle.unit for number, bundle in bundles.items()}
        for size in sorted({whole[number] for number in bundles if self.steps[number] > 1}):
            large = {number: bundle for number, bundle in bundles.items() if whole[number] % size == 0}
            piece = gcd(*(bundle.unit for bundle in large.values()))
            room = piece * sum(self.layout.capacity(cell, pool, piece) for cell in self.alike.domains[0])
            yield Row({number: bundle.unit for number, bundle in large.items()}, room // size * size)

    def beside(self, there: Collection[int]) -> Iterator[Row]:
        """What fits of the larger groups beside a little of each smaller one of these bundles, all of which the domain holds some of.

        The smaller ones cut a piece of the size off, however little of them there is. Cells where none of the larger ones may be
        are left to those of the smaller ones that may be there.
        """
        for pool in self.layout.pools:
            its = {number: self.layout.counted[number] for number in there if self.layout.pool_of[self.layout.counted[number]] is pool}
            whole = {number: self.steps[number] * bundle.unit for number, bundle in its.items()}
            for size in sorted(set(whole.values())):
                large = {number for number in its if whole[number] % size == 0}
                cells = [cell for sort, cell in zip(self.alike.sorts, self.alike.domains[0]) if large.intersection(sort.open)]
                elsewhere = {number for sort in self.alike.sorts if not large.intersection(sort.open) for number in sort.open}
                small = its.keys() - large - elsewhere
                piece = gcd(*(its[number].unit for number in (*large, *small)))
                room = piece * sum(self.layout.capacity(cell, pool, piece) for cell in cells)
                room -= sum(whole[number] for number in small)
                if small:
                    yield Row({number: its[number].unit for number in sorted(large)}, max(0, room) // size * size)


def _pieces(bundle: Bundle, size: int) -> int:
    """How many pieces of a size a unit takes of NUMA domains, where a row counts those (see rules/sharing/no_overlap.py)."""
    return bundle.unit // size if bundle.piece >= max(size, 2) else 0
