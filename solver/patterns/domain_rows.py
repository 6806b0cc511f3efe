"""What fits one domain: the rows of its cells, the whole groups that it holds, its share of what is spread."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ..layout.bundle import Bundle
from ..layout.layout import Layout
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


class Domain:
    """What is known of any of the domains that are alike.

    Attributes
    ----------
    steps : each bundle has a multiple of so many units there.
    most : most units of each bundle that it could hold, were that alone.
    open : the numbers of the bundles that may be there.
    rows : for each cell what fits there.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], alike: Alike) -> None:
        self.layout, self.alike = layout, alike
        self.steps = tuple(lcm(*(bundle.whole(level) for level in levels)) // bundle.unit for bundle in layout.counted)
        self.most = tuple(self._most(levels[0], number) for number in range(len(layout.counted)))
        self.open = tuple(number for number, most in enumerate(self.most) if most)
        self.rows = [self._rows(sort) for sort in alike.sorts]

    def _most(self, level: str, number: int) -> int:
        if not any(number in sort.open for sort in self.alike.sorts):
            return 0
        bundle, name = self.layout.counted[number], self.alike.domains[0][0].domain(level)
        return rooms_of(self.layout).most(bundle, level, name) // bundle.unit

    def _rows(self, sort: Sort) -> list[Row]:
        found = []
        for pool, size, inside, most in sort.room:
            bundles = {number: self.layout.counted[number] for number in sort.open if number in self.open}
            its = {number: bundle for number, bundle in bundles.items() if self.layout.pool_of[bundle] is self.layout.pools[pool]}
            taken = {number: _pieces(bundle, size, inside) for number, bundle in its.items()}
            found.append(Row({number: pieces for number, pieces in taken.items() if pieces}, most))
        return found


def _pieces(bundle: Bundle, size: int, inside: bool) -> int:
    """How many pieces of a size a unit of a bundle takes, where a row counts those (see rules/no_overlap.py)."""
    if inside:
        return bundle.unit // size if bundle.piece >= max(size, 2) else 0
    return bundle.unit // size if bundle.unit >= size else 0
