"""Ranges on one line, so that they cost least: all ways to put one after the other, from the lowest rank to the highest.

What is known where some ranges end is which of them lie before, and which lie in the domain that goes on. Of all ways to get there only
the cheapest is kept. A range needs to be tried only where it comes directly after another one, and where one place further down would be
worse by itself: any best answer can be moved down until this holds of all its ranges.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush
from itertools import accumulate
from typing import Iterator, Sequence

from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.ranges.places import Place, Places
from .costs import Costs, Set

Domains = tuple[int, ...]
"""For each level the number of a domain."""
Open = tuple[Domains, tuple[Set, ...]]
"""The domains at the end of the last range, and which ranges lie in each."""


@dataclass(frozen=True, eq=False)
class Variant:
    """A range with a length: where it may be, and where it needs to be tried."""

    bundle: int
    units: int
    length: int
    cost: int
    starts: Sequence[int]
    tried: Sequence[int]


@dataclass(frozen=True, slots=True)
class Step:
    """A range that was put somewhere, and the one before it."""

    variant: Variant
    start: int
    before: Step | None


def variants_of(bundles: Sequence[Bundle], places: Sequence[Places], lengths: Sequence[Sequence[int]], costs: Costs) -> list[Variant]:
    """Every length of every range."""
    found = []
    for number, (bundle, its) in enumerate(zip(bundles, places)):
        for units in (units for units in lengths[number] if units):
            length = units * bundle.unit
            all_starts = range(its.numbering.size - length + 1)
            starts = [at for at in all_starts if its.is_free(at, at + length) and its.is_whole(at, at + length)]
            found.append(
                Variant(number, units, length, costs.of_length(bundle, units), starts, list(_tried(number, starts, length, its, costs)))
            )
    return found


def _tried(bundle: int, starts: Sequence[int], length: int, places: Places, costs: Costs) -> Iterator[int]:
    """Where the next lower start would be worse: it lies in another domain or on more nodes, or leaves a domain that others need it in."""
    nodes = places.nodes
    for position, start in enumerate(starts):
        lower = starts[position - 1] if position else -1
        if lower < 0 or places.covered(lower, lower + length) > places.covered(start, start + length):
            yield start
            continue
        for level in costs.levels:
            of_node = level.of_node
            enters = of_node[nodes[lower]] != of_node[nodes[start]]
            leaves = level.guarding >> bundle & 1 and of_node[nodes[lower + length - 1]] != of_node[nodes[start + length - 1]]
            if enters or leaves:
                yield start
                break


class Sweep:
    """From the lowest rank to the highest, with the cheapest way for every set of ranges that lie before."""

    def __init__(self, variants: Sequence[Variant], count: int, places: Places, costs: Costs) -> None:
        self.variants, self.costs, self.places, self.all = variants, costs, places, (1 << count) - 1
        self._live: dict[Set, dict[Open, tuple[int, Step | None]]] = {0: {((), ()): (0, None)}}
        self._ended: dict[int, list[tuple[Set, Open, int, Step]]] = {}
        self._starts: dict[int, dict[tuple[Set, int], None]] = {}
        self._heap: list[int] = []
        self._seen: set[int] = set()
        self.best: tuple[int, Step] | None = None
        count_of = [level.of_node[-1] + 1 for level in costs.levels]
        bits = [1 << number for number in range(count)]
        self._alone = [
            [list(accumulate((level.added(number, bit) for number in range(total)), initial=0)) for bit in bits]
            for level, total in zip(costs.levels, count_of)
        ]

    def run(self) -> tuple[int, dict[int, Place]] | None:
        """(the least cost, where each range is); None if they do not fit."""
        everywhere: dict[int, list[int]] = {}
        for number, variant in enumerate(self.variants):
            for start in variant.tried:
                everywhere.setdefault(start, []).append(number)
                self._at(start)
        while self._heap:
            at = heappop(self._heap)
            domains = self._domains(at)
            for mask, open_, cost, step in self._ended.pop(at, ()):
                self._keep(mask, _shut(open_, domains), cost, step)
            its = dict(self._starts.pop(at, {}))
            for number in everywhere.get(at, ()):
                its.update({(mask, number): None for mask in self._live if not mask >> self.variants[number].bundle & 1})
            for mask, number in its:
                self._begin(at, domains, mask, self.variants[number])
        if self.best is None:
            return None
        cost, step = self.best
        found: dict[int, Place] = {}
        last: Step | None = step
        while last is not None:
            found[last.variant.bundle] = (last.start, last.variant.units)
            last = last.before
        return cost, found

    def _at(self, position: int) -> None:
        if position not in self._seen:
            self._seen.add(position)
            heappush(self._heap, position)

    def _domains(self, at: int) -> Domains:
        node = self.places.nodes[at] if at < len(self.places.nodes) else -1
        return tuple(level.of_node[node] if node >= 0 else -1 for level in self.costs.levels)

    def _keep(self, mask: Set, open_: Open, cost: int, step: Step) -> None:
        its = self._live.setdefault(mask, {})
        if open_ not in its or cost < its[open_][0]:
            its[open_] = (cost, step)

    def _begin(self, at: int, domains: Domains, mask: Set, variant: Variant) -> None:
        """Put a range here after every way to have these ranges before."""
        shut: dict[Open, tuple[int, Step | None]] = {}
        for open_, kept in self._live.get(mask, {}).items():
            key = _shut(open_, domains)
            if key not in shut or kept[0] < shut[key][0]:
                shut[key] = kept
        self._live[mask] = shut
        stop, bit = at + variant.length, 1 << variant.bundle
        last = self._domains(stop - 1)
        lies = self.costs.node * self.places.covered(at, stop) + variant.cost
        for (_, there), (cost, step) in shut.items():
            cost, now = cost + lies, list[Set]()
            for number, level in enumerate(self.costs.levels):
                before = there[number]
                cost += level.added(domains[number], before | bit) - level.added(domains[number], before)
                alone = self._alone[number][variant.bundle]
                cost += alone[last[number] + 1] - alone[domains[number] + 1]
                now.append(before | bit if last[number] == domains[number] else bit)
            self._end(stop, mask | bit, (last, tuple(now)), cost, Step(variant, at, step))

    def _end(self, stop: int, mask: Set, open_: Open, cost: int, step: Step) -> None:
        if mask == self.all:
            if self.best is None or cost < self.best[0]:
                self.best = (cost, step)
            return
        self._at(stop)
        self._ended.setdefault(stop, []).append((mask, open_, cost, step))
        for number, variant in enumerate(self.variants):
            if not mask >> variant.bundle & 1:
                position = bisect_left(variant.starts, stop)
                if position < len(variant.starts):
                    start = variant.starts[position]
                    self._at(start)
                    self._starts.setdefault(start, {})[mask, number] = None


def _shut(open_: Open, domains: Domains) -> Open:
    """The same at a later position: domains that ended are forgotten."""
    before, there = open_
    if before == domains:
        return open_
    kept = tuple(
        its if number < len(before) and before[number] == domains[number] else 0 for number, its in enumerate(there or (0,) * len(domains))
    )
    return domains, kept
