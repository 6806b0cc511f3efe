"""Ranges on a single line: dynamic programming over their ends.

A state is the set of ranges placed so far, with the ranges in the current domain; only the cheapest
path to a state is kept. A range is tried only directly after another range, or where the next lower
start is worse by itself: every best answer can be moved down until this holds for all ranges.

The sweep is a relaxation: it omits rules and never overstates a cost. If its best answer passes
every rule at the sweep's cost, the answer is optimal.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate
from typing import Callable, Iterator, Sequence

from ..models.component import UNBOUNDED
from ..models.machines.node_group import Numbering
from ..models.machines.topology import LEVELS, domain
from ..models.record import dataclass
from .layout.bundle import Bundle
from .layout.layout import Layout, Values
from .layout.pools import Masks
from .layout.ranges import Place, Places, all_lengths, fewest_nodes, has_free_order
from .objectives.counts import MissingAccelerators, NodesOfRanges, least_and_most
from .objectives.domains import count_given, several
from .objectives.tiers import Tier
from .objectives.traffic import DomainTerm, Streams

Set = int
"""Bit set of bundles on a line, by position."""


Domains = tuple[int, ...]
"""Domain number per level."""
Open = tuple[Domains, tuple[Set, ...]]
"""(domains at the end of the last range, ranges per domain)."""
SweepResult = tuple[int, dict[int, Place]]
"""(cost, position of a searched range -> place)."""
MAX_BUNDLES = 8
MAX_STARTS = 600_000
"""Limits of a sweep: ranges, and ranges x lengths x resource ranks."""


@dataclass(frozen=True)
class Level:
    """Domains of a topology level along a numbering; a domain is contiguous.

    Attributes
    ----------
    of_node : position of a node in the numbering -> domain number, ascending.
    added : (domain number, bundles in the domain) -> added cost.
    guarding : bundles that may cost something on leaving a domain.
    """

    of_node: Sequence[int]
    added: Callable[[int, Set], int]
    guarding: Set


@dataclass
class Costs:
    """Cost of ranges in one number; earlier tiers outweigh later ones."""

    numbering: Numbering
    levels: list[Level] = field(default_factory=list)
    idle: int = 0
    node: int = 0
    fixed: int = 0

    def of_length(self, bundle: Bundle, length: int) -> int:
        """Return the cost of a length alone."""
        missing = (component.most - length for component in bundle.components if component.least < component.most < UNBOUNDED)
        return self.idle * sum(missing) - self.node * fewest_nodes(self.numbering, length)


def costs_of(
    layout: Layout, bundles: Sequence[Bundle], numbering: Numbering, tiers: Sequence[Tier], term_bounds: Sequence[Sequence[int]]
) -> Costs:
    """Return the costs of all tiers for ranges on this numbering.

    Unsupported terms count with their counting bound. `term_bounds` holds these bounds per tier and
    term.
    """
    problem, costs = layout.problem, Costs(numbering)
    weights = {id(term): tier.scale * cost for tier in tiers for term, cost in tier.members}
    terms = [(term, bound) for tier, bounds in zip(tiers, term_bounds) for (term, _), bound in zip(tier.members, bounds)]
    levels = {level: _stretches(layout, numbering, level) for level in LEVELS if several(problem, level)}
    level_terms: dict[str, list[tuple[DomainTerm, int]]] = {}
    for term, bound in terms:
        weight = weights[id(term)]
        if isinstance(term, NodesOfRanges):
            costs.node = weight
        elif isinstance(term, MissingAccelerators):
            costs.idle = weight
        elif isinstance(term, DomainTerm) and not isinstance(term, Streams) and levels.get(term.level):
            level_terms.setdefault(term.level, []).append((term, weight))
        else:
            costs.fixed += weight * bound
    for level, of_node in levels.items():
        if of_node:
            costs.levels.append(_level(layout, bundles, level, of_node, level_terms.get(level, []), costs))
    return costs


def _stretches(layout: Layout, numbering: Numbering, level: str) -> list[int]:
    """Return the domain number of each node along the numbering; empty if a domain recurs."""
    nodes = layout.problem.cluster.nodes
    names = [domain(nodes[stretch.node_rank], level) for stretch in numbering.stretches]
    numbers, number_of = list[int](), dict[str, int]()
    for position, name in enumerate(names):
        if name in number_of and name != names[position - 1]:
            return []
        numbers.append(number_of.setdefault(name, len(number_of)))
    return numbers


def _level(
    layout: Layout, bundles: Sequence[Bundle], level: str, of_node: list[int], terms: list[tuple[DomainTerm, int]], costs: Costs
) -> Level:
    domain_costs = [(weight, cost) for term, weight in terms for cost in term.costs(layout.problem)]
    nodes, given_counts = layout.problem.cluster.nodes, count_given(layout, level)
    name_of = {number: domain(nodes[stretch.node_rank], level) for number, stretch in zip(of_node, costs.numbering.stretches)}
    names_in = [[component.name for component in bundle.components] for bundle in bundles]

    @cache
    def cost(name: str, present: Set) -> int:
        held_there = dict(given_counts.get(name, {}))
        for position, names in enumerate(names_in):
            held_there.update(dict.fromkeys(names if present >> position & 1 else (), 1))
        return sum(weight * domain_cost.of_domain(held_there) for weight, domain_cost in domain_costs)

    costs.fixed += sum(weight * domain_cost.offset for weight, domain_cost in domain_costs)
    costs.fixed += sum(cost(name, 0) for name in several(layout.problem, level))
    sources = {domain_cost.source.name for _, domain_cost in domain_costs if domain_cost.source}
    guarding = sum(1 << position for position, names in enumerate(names_in) if not sources.isdisjoint(names))
    return Level(of_node, lambda number, present: cost(name_of[number], present) - cost(name_of[number], 0), guarding)


@dataclass(frozen=True, eq=False)
class Variant:
    """Range with a length: permitted starts, and starts to be tried."""

    bundle: int
    units: int
    length: int
    cost: int
    starts: Sequence[int]
    tried: Sequence[int]


@dataclass(frozen=True, slots=True)
class LineStep:
    """Placed range, linked to the range before."""

    variant: Variant
    start: int
    before: LineStep | None


def variants_of(bundles: Sequence[Bundle], places: Sequence[Places], lengths: Sequence[Sequence[int]], costs: Costs) -> list[Variant]:
    """Return a variant per range and length."""
    variants = []
    for number, (bundle, space) in enumerate(zip(bundles, places)):
        for units in (units for units in lengths[number] if units):
            length = units * bundle.unit
            every = range(space.numbering.size - length + 1)
            starts = [start for start in every if space.is_free(start, start + length) and space.is_whole(start, start + length)]
            first_starts = list(_list_starts(number, starts, length, space, costs))
            variants.append(Variant(number, units, length, costs.of_length(bundle, length), starts, first_starts))
    return variants


def _list_starts(bundle: int, starts: Sequence[int], length: int, places: Places, costs: Costs) -> Iterator[int]:
    """Yield the starts whose next lower start is worse.

    The lower start enters another domain, covers more nodes, or leaves a guarded domain.
    """
    nodes = places.nodes
    for position, start in enumerate(starts):
        lower = starts[position - 1] if position else -1
        if lower < 0 or places.count_covered(lower, lower + length) > places.count_covered(start, start + length):
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
    """Sweep from the lowest to the highest rank, with the cheapest path per state."""

    def __init__(self, variants: Sequence[Variant], count: int, places: Places, costs: Costs) -> None:
        self.variants, self.costs, self.places, self.all = variants, costs, places, (1 << count) - 1
        self._live: dict[Set, dict[Open, tuple[int, LineStep | None]]] = {0: {((), ()): (0, None)}}
        self._ended: dict[int, list[tuple[Set, Open, int, LineStep]]] = {}
        self._starts: dict[int, dict[tuple[Set, int], None]] = {}
        self._heap: list[int] = []
        self._seen: set[int] = set()
        self.best: tuple[int, LineStep] | None = None
        totals = [level.of_node[-1] + 1 for level in costs.levels]
        bits = [1 << number for number in range(count)]
        self._alone = [
            [list(accumulate((level.added(number, bit) for number in range(total)), initial=0)) for bit in bits]
            for level, total in zip(costs.levels, totals)
        ]

    def run(self) -> SweepResult | None:
        """Return (least cost, place per range); None if the ranges do not fit."""
        everywhere: dict[int, list[int]] = {}
        for number, variant in enumerate(self.variants):
            for start in variant.tried:
                everywhere.setdefault(start, []).append(number)
                self._visit(start)
        while self._heap:
            position = heappop(self._heap)
            domains = self._domains(position)
            for mask, open_, cost, step in self._ended.pop(position, ()):
                self._keep(mask, _shut(open_, domains), cost, step)
            begins = dict(self._starts.pop(position, {}))
            for number in everywhere.get(position, ()):
                begins.update({(mask, number): None for mask in self._live if not mask >> self.variants[number].bundle & 1})
            for mask, number in begins:
                self._begin(position, domains, mask, self.variants[number])
        if self.best is None:
            return None
        cost, step = self.best
        places: dict[int, Place] = {}
        last: LineStep | None = step
        while last is not None:
            places[last.variant.bundle] = (last.start, last.variant.units)
            last = last.before
        return cost, places

    def _visit(self, position: int) -> None:
        if position not in self._seen:
            self._seen.add(position)
            heappush(self._heap, position)

    def _domains(self, position: int) -> Domains:
        node = self.places.nodes[position] if position < len(self.places.nodes) else -1
        return tuple(level.of_node[node] if node >= 0 else -1 for level in self.costs.levels)

    def _keep(self, mask: Set, open_: Open, cost: int, step: LineStep) -> None:
        states = self._live.setdefault(mask, {})
        if open_ not in states or cost < states[open_][0]:
            states[open_] = (cost, step)

    def _begin(self, position: int, domains: Domains, mask: Set, variant: Variant) -> None:
        """Place a range at this position after every state of the set `mask`."""
        shut: dict[Open, tuple[int, LineStep | None]] = {}
        for open_, state in self._live.get(mask, {}).items():
            key = _shut(open_, domains)
            if key not in shut or state[0] < shut[key][0]:
                shut[key] = state
        self._live[mask] = shut
        stop, bit = position + variant.length, 1 << variant.bundle
        last = self._domains(stop - 1)
        own_cost = self.costs.node * self.places.count_covered(position, stop) + variant.cost
        for (_, present), (cost, step) in shut.items():
            cost, now = cost + own_cost, list[Set]()
            for number, level in enumerate(self.costs.levels):
                before = present[number]
                cost += level.added(domains[number], before | bit) - level.added(domains[number], before)
                alone_masks = self._alone[number][variant.bundle]
                cost += alone_masks[last[number] + 1] - alone_masks[domains[number] + 1]
                now.append(before | bit if last[number] == domains[number] else bit)
            self._end(stop, mask | bit, (last, tuple(now)), cost, LineStep(variant, position, step))

    def _end(self, stop: int, mask: Set, open_: Open, cost: int, step: LineStep) -> None:
        if mask == self.all:
            if self.best is None or cost < self.best[0]:
                self.best = (cost, step)
            return
        self._visit(stop)
        self._ended.setdefault(stop, []).append((mask, open_, cost, step))
        for number, variant in enumerate(self.variants):
            if not mask >> variant.bundle & 1:
                position = bisect_left(variant.starts, stop)
                if position < len(variant.starts):
                    start = variant.starts[position]
                    self._visit(start)
                    self._starts.setdefault(start, {})[mask, number] = None


def _shut(open_: Open, domains: Domains) -> Open:
    """Return the state at a later position, without ended domains."""
    before, present = open_
    if before == domains:
        return open_
    continuing = tuple(
        members if number < len(before) and before[number] == domains[number] else 0
        for number, members in enumerate(present or (0,) * len(domains))
    )
    return domains, continuing


def best_on_line(layout: Layout, tiers: Sequence[Tier], term_bounds: Sequence[Sequence[int]]) -> tuple[int, Values] | None:
    """Return (lower bound over all tiers, values at that cost in the sweep), or None.

    None for other kinds of problems, and if the ranges do not fit: then the search finds the
    reason.
    """
    bundles = layout.searched
    if not _is_one_line(layout, bundles) or layout.has_chosen_given or has_free_order(layout):
        return None
    numbering = layout.numbering(bundles[0])
    costs = costs_of(layout, bundles, numbering, tiers, term_bounds)
    places = [Places(layout, bundle, _usable(layout, bundle)) for bundle in bundles]
    lengths = [all_lengths(layout, bundle) for bundle in bundles]

    def sweep(choices: Sequence[Sequence[int]]) -> SweepResult | None:
        return Sweep(variants_of(bundles, places, choices, costs), len(bundles), places[0], costs).run()

    best = _longest(bundles, lengths, sweep) if _longer_is_better(layout, bundles, lengths, tiers) else None
    if best is None and sum(map(len, lengths)) * numbering.size <= MAX_STARTS:
        best = sweep(lengths)
    if best is None:
        return None
    cost, place_of = best
    return cost + costs.fixed, {bundles[number]: place for number, place in place_of.items()}


def _longer_is_better(layout: Layout, bundles: Sequence[Bundle], lengths: Sequence[Sequence[int]], tiers: Sequence[Tier]) -> bool:
    """Return True if shortening a range outweighs all other costs."""
    first = [term for term, _ in tiers[0].members] if tiers else []
    several = [bundle for bundle, choices in zip(bundles, lengths) if len(choices) > 1]
    all_stretchable = all(any(least_and_most(layout.problem, component.name) for component in bundle.components) for bundle in several)
    return all_stretchable and (not several or (len(first) == 1 and isinstance(first[0], MissingAccelerators)))


def _longest(
    bundles: Sequence[Bundle], lengths: Sequence[Sequence[int]], sweep: Callable[[Sequence[Sequence[int]]], SweepResult | None]
) -> SweepResult | None:
    """Return the least cost if longer is always better: all ranges at their largest.

    If they do not fit and a single range has several lengths, its longest feasible length is bisected: a shorter range
    fits where a longer one does, as its lower part cuts nothing either.
    """
    if not all(lengths):
        return None
    best = sweep([choices[-1:] for choices in lengths])
    several = [number for number, choices in enumerate(lengths) if len(choices) > 1]
    if best is not None or len(several) != 1 or bundles[several[0]].wholes or bundles[several[0]].piece > 1:
        return best
    variable_range = several[0]
    fits, too_long = -1, len(lengths[variable_range]) - 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        result = sweep([[choices[middle]] if number == variable_range else choices for number, choices in enumerate(lengths)])
        if result is None:
            too_long = middle
        else:
            best, fits = result, middle
    return best


def _is_one_line(layout: Layout, bundles: Sequence[Bundle]) -> bool:
    if (
        not 0 < len(bundles) <= MAX_BUNDLES
        or layout.counted
        or len(layout.pools) != 1
        or layout.pools[0].hosts
        or layout.dealt
        or layout.enclosed
    ):
        return False
    numberings = [layout.numbering(bundle) for bundle in bundles]
    nodes = [stretch.node_rank for stretch in numberings[0].stretches]
    return all(numbering == numberings[0] for numbering in numberings) and len(set(nodes)) == len(nodes)


def _usable(layout: Layout, bundle: Bundle) -> Masks:
    return {node: mask for node, mask in layout.pool_of[bundle].free.items() if node in layout.eligible[bundle]}
