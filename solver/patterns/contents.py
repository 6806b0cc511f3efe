"""Contents of one domain: every vector of units that fits its rows."""

from __future__ import annotations

from itertools import combinations
from math import factorial, gcd, lcm, prod
from typing import Collection, Iterator, Sequence

from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pools import Pool
from ..objectives.domains import rooms_of
from .applies import Alike, Sort, may_hold

Vector = tuple[int, ...]
"""Units of each counted bundle, in the order of the layout."""


Contents = dict[Vector, tuple[Vector, ...]]
"""What a domain holds -> what each of its cells does. With everything in it is all that is less."""


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


@dataclass(frozen=True)
class Option:
    """A use of one of some domains that are alike.

    Attributes
    ----------
    kind : the number of these domains.
    least, most : units of each bundle, in the order of the layout. Everything between costs the same.
    free : whether only what fits between them may be there; then what is in all domains of the option together is decided, not
        what is in each.
    """

    kind: int
    least: Vector
    most: Vector
    free: bool = False

    def has(self, bundle: int) -> bool:
        """Does the domain hold some of the bundle?"""
        return self.most[bundle] > 0


def options(kind: int, domain: Domain, every: Contents, exact: frozenset[int]) -> Iterator[Option]:
    """The uses of a domain, given all that it can hold and the numbers of the bundles that cost by their amount.

    Only the largest are kept, those to which nothing more of the same bundles can be added: holding less, but some, of a bundle
    costs the same. This is dominance; of bundles in `exact` every amount is a use of its own.
    """
    for vector in every:
        if not may_hold(domain.layout, [number for number, amount in enumerate(vector) if amount]):
            continue
        others = [number for number, amount in enumerate(vector) if amount and number not in exact]
        if not any(_more(vector, number, domain) in every for number in others):
            least = tuple(domain.steps[number] if number in others else amount for number, amount in enumerate(vector))
            yield Option(kind, least, vector)


def _more(vector: Vector, number: int, domain: Domain) -> Vector:
    return (*vector[:number], vector[number] + domain.steps[number], *vector[number + 1 :])


def supports(kind: int, domain: Domain) -> Iterator[Option]:
    """All sets of bundles of which a domain could hold some, where what it can hold is too much to write out."""
    for size in range(len(domain.open) + 1):
        for there in combinations(domain.open, size):
            least, most = (
                tuple(its[number] if number in there else 0 for number in range(len(its))) for its in (domain.steps, domain.most)
            )
            if may_hold(domain.layout, there) and all(row.holds(least) for row in (*domain.groups, *domain.beside(there))):
                yield Option(kind, least, most, free=True)
