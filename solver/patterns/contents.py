"""Contents of a domain: capacity rows, and the sets of bundles that fit."""

from __future__ import annotations

from itertools import combinations
from math import gcd, lcm
from typing import Collection, Iterator

from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pools import NodePool
from ..objectives.domains import rooms_of
from .applicability import DomainKind, Sort, permits

Vector = tuple[int, ...]
"""Units per counted bundle, in the order of the layout."""


@dataclass(frozen=True)
class PatternRow:
    """Capacity row: pieces of a size per unit of a bundle, at most `most` in total."""

    taken: dict[int, int]
    most: int

    def pieces(self, bundle: int) -> int:
        """Return the pieces of a unit of the bundle."""
        return self.taken.get(bundle, 0)

    def holds(self, vector: Vector) -> bool:
        """Return True if the vector satisfies the row."""
        return sum(pieces * vector[bundle] for bundle, pieces in self.taken.items()) <= self.most


class Domain:
    """Capacities of any domain of a kind.

    Attributes
    ----------
    steps : the units of a bundle in a domain are a multiple of its step.
    most : capacity in units for each bundle alone.
    open : numbers of bundles that may be placed here.
    rows : capacity rows per cell.
    groups : capacity rows of the domain for groups that stay whole in it; remainders are lost.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], alike: DomainKind) -> None:
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

    def _rows(self, sort: Sort) -> list[PatternRow]:
        rows = []
        for pool, size, inside, most in sort.room:
            pieces: dict[int, int] = {}
            for number, taken in zip(sort.open, sort.taken):
                bundle = self.layout.counted[number]
                if number in self.open and self.layout.pool_of[bundle] is self.layout.pools[pool]:
                    pieces[number] = _pieces(bundle, size) if inside else taken // size
            rows.append(PatternRow({number: count for number, count in pieces.items() if count}, most))
        return rows

    def _groups(self, pool: NodePool) -> Iterator[PatternRow]:
        bundles = {number: self.layout.counted[number] for number in self.open if self.layout.pool_of[self.layout.counted[number]] is pool}
        whole = {number: self.steps[number] * bundle.unit for number, bundle in bundles.items()}
        for size in sorted({whole[number] for number in bundles if self.steps[number] > 1}):
            large = {number: bundle for number, bundle in bundles.items() if whole[number] % size == 0}
            piece = gcd(*(bundle.unit for bundle in large.values()))
            capacity = piece * sum(self.layout.capacity(cell, pool, piece) for cell in self.alike.domains[0])
            yield PatternRow({number: bundle.unit for number, bundle in large.items()}, capacity // size * size)

    def beside(self, there: Collection[int]) -> Iterator[PatternRow]:
        """Yield tighter rows for larger groups beside a minimum of smaller bundles.

        The domain contains all bundles of `there`. Every smaller bundle takes at least one group
        out of the capacity. Cells that no larger bundle may use are left to the smaller bundles.
        """
        for pool in self.layout.pools:
            bundles = {number: self.layout.counted[number] for number in there if self.layout.pool_of[self.layout.counted[number]] is pool}
            whole = {number: self.steps[number] * bundle.unit for number, bundle in bundles.items()}
            for size in sorted(set(whole.values())):
                large = {number for number in bundles if whole[number] % size == 0}
                cells = [cell for sort, cell in zip(self.alike.sorts, self.alike.domains[0]) if large.intersection(sort.open)]
                elsewhere = {number for sort in self.alike.sorts if not large.intersection(sort.open) for number in sort.open}
                small = bundles.keys() - large - elsewhere
                piece = gcd(*(bundles[number].unit for number in (*large, *small)))
                capacity = piece * sum(self.layout.capacity(cell, pool, piece) for cell in cells)
                capacity -= sum(whole[number] for number in small)
                if small:
                    yield PatternRow(
                        {number: bundles[number].unit for number in sorted(large)},
                        max(0, capacity) // size * size,
                    )


def _pieces(bundle: Bundle, size: int) -> int:
    """Return a unit's pieces inside NUMA domains (see rules/sharing/no_overlap.py)."""
    return bundle.unit // size if bundle.piece >= max(size, 2) else 0


@dataclass(frozen=True)
class RackOption:
    """Use of a domain by a set of bundles.

    The contents of a single domain are open: only the total over all domains of the option is decided.

    Attributes
    ----------
    kind : number of the kind.
    least, most : units of each bundle, in the order of the layout.
    """

    kind: int
    least: Vector
    most: Vector

    @property
    def present(self) -> list[int]:
        """Numbers of the bundles in the domain."""
        return [number for number, most in enumerate(self.most) if most]

    def has(self, bundle: int) -> bool:
        """Return True if the domain contains some of the bundle."""
        return self.most[bundle] > 0


def supports(kind: int, domain: Domain) -> Iterator[RackOption]:
    """Yield all sets of bundles that fit a domain."""
    for size in range(len(domain.open) + 1):
        for present in combinations(domain.open, size):
            least, most = (
                tuple(vector[number] if number in present else 0 for number in range(len(vector))) for vector in (domain.steps, domain.most)
            )
            if permits(domain.layout, present) and all(row.holds(least) for row in (*domain.groups, *domain.beside(present))):
                yield RackOption(kind, least, most)
