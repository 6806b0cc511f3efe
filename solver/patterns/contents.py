"""Contents of a domain: all vectors of units within the capacity rows."""

from __future__ import annotations

from itertools import combinations
from math import factorial, gcd, lcm, prod
from typing import Collection, Iterator, Sequence

from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pools import NodePool
from ..objectives.domains import rooms_of
from .applies import DomainKind, Sort, permits

Vector = tuple[int, ...]
"""Units per counted bundle, in the order of the layout."""


Contents = dict[Vector, tuple[Vector, ...]]
"""Contents of a domain -> contents of its cells; closed under taking less."""


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


class TooMany(Exception):
    """The enumeration exceeds its limit."""


def is_small(domain: Domain, most: int) -> bool:
    """Return True if the number of contents is probably small.

    A free estimate: of k bundles that fill a domain each alone, about 1 / k! of all amounts fit
    together.
    """
    counts = [domain.most[number] // domain.steps[number] + 1 for number in domain.open]
    return prod(counts) / factorial(len(counts)) <= most


def contents(domain: Domain, most: int) -> Contents:
    """Return all contents of a domain. Raises TooMany beyond `most` entries."""
    empty = (0,) * len(domain.most)
    domain_contents: Contents = {empty: ()}
    alone = len(domain.alike.sorts) == 1
    for sort, rows in zip(domain.alike.sorts, domain.rows):
        steps = domain.steps if alone else (1,) * len(empty)
        inside = _Cell([number for number in sort.open if number in domain.open], rows, steps, domain.most)
        cell_vectors = []
        for vector in inside.fill(0):
            cell_vectors.append(vector)
            if len(cell_vectors) > most:
                raise TooMany
        domain_contents = _together(domain_contents, cell_vectors, domain.most, most)
    return {
        vector: cells for vector, cells in domain_contents.items() if not any(amount % step for amount, step in zip(vector, domain.steps))
    }


def _together(partial: Contents, cell_vectors: Sequence[Vector], limits: Vector, most: int) -> Contents:
    together: Contents = {}
    for base, cells in partial.items():
        for addition in cell_vectors:
            vector = tuple(map(sum, zip(base, addition)))
            if vector not in together and all(amount <= limit for amount, limit in zip(vector, limits)):
                together[vector] = (*cells, addition)
        if len(together) > most:
            raise TooMany
    return together


class _Cell:
    """Enumeration of all contents of a cell, in steps."""

    def __init__(self, bundles: Sequence[int], rows: Sequence[PatternRow], steps: Sequence[int], limits: Vector) -> None:
        self._bundles, self._steps, self._room = bundles, steps, limits
        self._left, self._vector = [row.most for row in rows], [0] * len(limits)
        self._pieces = {bundle: [(index, row.pieces(bundle)) for index, row in enumerate(rows) if row.pieces(bundle)] for bundle in bundles}

    def fill(self, position: int) -> Iterator[Vector]:
        """Yield every completion by the bundles from this position on."""
        if position == len(self._bundles):
            yield tuple(self._vector)
            return
        bundle = self._bundles[position]
        yield from self.fill(position + 1)
        while self._vector[bundle] + self._steps[bundle] <= self._room[bundle] and self._add(bundle, self._steps[bundle]):
            yield from self.fill(position + 1)
        self._add(bundle, -self._vector[bundle])

    def _add(self, bundle: int, units: int) -> bool:
        """Add units, possibly negative; False and no change if they do not fit."""
        if any(pieces * units > self._left[index] for index, pieces in self._pieces[bundle]):
            return False
        self._vector[bundle] += units
        for index, pieces in self._pieces[bundle]:
            self._left[index] -= pieces * units
        return True


@dataclass(frozen=True)
class RackOption:
    """Use of a domain.

    Attributes
    ----------
    kind : number of the kind.
    least, most : units of each bundle, in the order of the layout. All amounts between cost the
        same.
    free : True if only the total over all domains of the option is decided, not the contents of a
        single domain.
    """

    kind: int
    least: Vector
    most: Vector
    free: bool = False

    def has(self, bundle: int) -> bool:
        """Return True if the domain contains some of the bundle."""
        return self.most[bundle] > 0


def options(kind: int, domain: Domain, every: Contents, exact: frozenset[int]) -> Iterator[RackOption]:
    """Yield the undominated uses of a domain.

    Dominance: a use is dropped if more of its bundles can be added, as the cost depends on presence
    alone. Bundles in `exact` cost by amount, so every amount is a separate use.
    """
    for vector in every:
        if not permits(domain.layout, [number for number, amount in enumerate(vector) if amount]):
            continue
        by_presence = [number for number, amount in enumerate(vector) if amount and number not in exact]
        if not any(_more(vector, number, domain) in every for number in by_presence):
            least = tuple(domain.steps[number] if number in by_presence else amount for number, amount in enumerate(vector))
            yield RackOption(kind, least, vector)


def _more(vector: Vector, number: int, domain: Domain) -> Vector:
    return (*vector[:number], vector[number] + domain.steps[number], *vector[number + 1 :])


def supports(kind: int, domain: Domain) -> Iterator[RackOption]:
    """Yield all sets of bundles that fit a domain, for domains with too many contents."""
    for size in range(len(domain.open) + 1):
        for present in combinations(domain.open, size):
            least, most = (
                tuple(vector[number] if number in present else 0 for number in range(len(vector))) for vector in (domain.steps, domain.most)
            )
            if permits(domain.layout, present) and all(row.holds(least) for row in (*domain.groups, *domain.beside(present))):
                yield RackOption(kind, least, most, free=True)
