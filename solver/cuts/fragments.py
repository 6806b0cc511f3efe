"""What is left over of a domain by large groups, only small ones can use: rows for every set of components in every domain.

In a domain, let sizes e0 > e1 > ... divide each other, and let R(e) be what groups of size e or more can have there together. A set T of
components has there at most R(e0), and what R(e1) is more only if one of size e1 or less is there, and so on: with I(S) = 1 if some of S
is there,

    load(T)  <=  R(e0) I(T)  +  sum over k of (R(ek) - R(ek-1)) I(those of T of size ek or less)

I(S) is at most 1, and at most the sum of the indicators of S, in which the target of weights counts only where its source is not.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import Iterator, Mapping, Sequence

from ..bounds.linear_rows import Row
from ..layout.layout import Bundle, Cell
from ..layout.pool import Pool
from ..model.variables import Amount, Variables
from ..objectives.presence import bundle_touches
from ..objectives.rooms import rooms_of
from ..objectives.weight_sync import uncovered_in
from .domains_of_subsets import pairs_of, weighed

MOST_BUNDLES = 7

Pairs = Mapping[Bundle, tuple[Bundle, str, str]]


def fragments(variables: Variables, level: str) -> Iterator[Row]:
    """Every such row of a level; none removes an answer. There are too many to post them all."""
    layout, rooms = variables.layout, rooms_of(variables.layout)
    costly = weighed(layout, level)
    for pool in layout.pools:
        counted = [bundle for bundle in pool.bundles if not bundle.contiguous][:MOST_BUNDLES]
        for name in rooms.names(level):
            domain = _Domain(variables, pool, level, name, costly)
            for region in dict.fromkeys(filter(None, (domain.cells_of(bundle) for bundle in counted))):
                yield from domain.rows(region, [bundle for bundle in counted if set(domain.cells_of(bundle)) & set(region)])


class _Domain:
    def __init__(self, variables: Variables, pool: Pool, level: str, name: str, costly: set[Bundle]) -> None:
        self.variables, self.pool, self.level, self.name, self.costly = variables, pool, level, name, costly
        self.rooms, self.layout = rooms_of(variables.layout), variables.layout
        self.pairs = pairs_of(variables.problem, variables.layout, level)

    def cells_of(self, bundle: Bundle) -> tuple[Cell, ...]:
        """The cells of the domain where the bundle may be."""
        if not self.rooms.most(bundle, self.level, self.name):
            return ()
        return tuple(cell for cell in self.rooms.cells(self.level, self.name) if cell.nodes[0].rank in self.layout.eligible[bundle])

    def rows(self, region: tuple[Cell, ...], bundles: Sequence[Bundle]) -> Iterator[Row]:
        """The rows of some cells of the domain, for every set of the bundles that may be there."""
        inside = set(region)
        size = {b: b.whole(self.level) if set(self.cells_of(b)) <= inside else b.unit for b in bundles}
        sizes = sorted(set(size.values()), reverse=True)
        if any(large % small for large, small in zip(sizes, sizes[1:])):
            return
        room = {each: self._room(region, [b for b in bundles if size[b] >= each], each) for each in sizes}
        for count in range(1, len(bundles) + 1):
            for members in combinations(bundles, count):
                yield from self._set_rows(region, members, size, sizes, room)

    def _room(self, region: tuple[Cell, ...], bundles: Sequence[Bundle], size: int) -> int:
        found = 0
        for cell in region:
            units = [bundle.unit for bundle in bundles if cell.nodes[0].rank in self.layout.eligible[bundle]]
            if units:
                found += gcd(*units) * self.layout.capacity(cell, self.pool, gcd(*units))
        return found // size * size

    def _set_rows(
        self, region: tuple[Cell, ...], members: Sequence[Bundle], size: Mapping[Bundle, int], sizes: Sequence[int], room: Mapping[int, int]
    ) -> Iterator[Row]:
        load = [(bundle.unit, self.variables.units(bundle, cell)) for bundle in members for cell in region]
        for known in (True, False):
            terms, before = list(load), 0
            for position, each in enumerate(sizes):
                fine = [bundle for bundle in members if size[bundle] <= each]
                more, before = room[each] - before, room[each]
                if fine and more:
                    terms += [(-more, there) for there in ([1] if known and not position else self._there(fine))]
            if row := _row(terms):
                yield row

    def _there(self, bundles: Sequence[Bundle]) -> list[Amount]:
        """Amounts whose sum is at least 1 if one of the bundles is in the domain."""
        if any(bundle not in self.costly for bundle in bundles):
            return [1]
        found: list[Amount] = []
        for bundle in bundles:
            ends = next(
                ((s, t) for s, t in self.pairs if self.layout.bundle_of[t.name] is bundle and self.layout.bundle_of[s.name] in bundles),
                None,
            )
            found.append(
                uncovered_in(self.variables, *ends, self.level, self.name)
                if ends
                else bundle_touches(self.variables, bundle, self.level, self.name)
            )
        return found


def _row(terms: Sequence[tuple[int, Amount]]) -> Row | None:
    """sum of coefficient x amount <= 0, as a row over variables; None if it says nothing."""
    found, constant = dict[int, int](), 0
    for coefficient, amount in terms:
        if isinstance(amount, int):
            constant += coefficient * amount
        else:
            index = amount.index  # type: ignore[attr-defined]
            found[index] = found.get(index, 0) + coefficient
    return Row(None, -constant, tuple(found), tuple(found.values())) if found else None
