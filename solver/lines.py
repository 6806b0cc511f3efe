"""Ranges alone on one line: dynamic programming over where each ends.

What is known where some ranges end is which of them lie before, and which lie in the domain that goes on. Of all ways to get there only
the cheapest is kept. A range needs to be tried only where it comes directly after another one, and where one place further down would be
worse by itself: any best answer can be moved down until this holds of all its ranges.

What the sweep knows of a problem is never more than all of it: it leaves rules out, and never overstates a cost. So where its best answer
passes every rule and costs what the sweep says, nothing is better.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate
from typing import Callable, Iterator, Mapping, Sequence

from ..models.component import Component
from ..models.machines.node_group import Numbering
from ..models.machines.topology import LEVELS, domain
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.record import dataclass
from .layout.bundle import Bundle
from .layout.layout import Layout, Values
from .layout.pools import Masks
from .layout.ranges import Place, Places, all_lengths, fewest_nodes
from .objectives.domains import held, several
from .objectives.domains_touched import DomainsTouched
from .objectives.idle import Idle, least_and_most
from .objectives.nodes_of_ranges import NodesOfRanges
from .objectives.term import Objective
from .objectives.tiers import Tier
from .objectives.traffic import Collectives, WeightSync, links

Set = int
"""Bundles of a line as bits, by their positions."""


Domains = tuple[int, ...]
"""For each level the number of a domain."""
Open = tuple[Domains, tuple[Set, ...]]
"""The domains at the end of the last range, and which ranges lie in each."""
Found = tuple[int, dict[int, Place]]
"""(cost, position of a range among those that are searched -> its place)."""
MAX_BUNDLES = 8
MAX_STARTS = 600_000
"""Ranges, and ranges x lengths x resource ranks, that are swept at most."""


@dataclass(frozen=True)
class Level:
    """The domains of a level of the topology along a numbering, each one stretch of it.

    Attributes
    ----------
    of_node : position of a node in the numbering -> number of its domain, ascending.
    added : (number of a domain, bundles in it) -> what they add to its cost.
    guarding : bundles whose leaving a domain may cost something.
    """

    of_node: Sequence[int]
    added: Callable[[int, Set], int]
    guarding: Set


@dataclass
class Costs:
    """The cost of ranges, as one number in which no later tier outweighs an earlier one."""

    levels: list[Level] = field(default_factory=list)
    node: int = 0
    fixed: int = 0
    lengths: dict[Bundle, Callable[[int], int]] = field(default_factory=dict)

    def of_length(self, bundle: Bundle, units: int) -> int:
        """What is said of a length alone."""
        return self.lengths[bundle](units)


def costs_of(
    layout: Layout, bundles: Sequence[Bundle], numbering: Numbering, tiers: Sequence[Tier], counted: Sequence[Sequence[int]]
) -> Costs:
    """What each tier says of ranges on this numbering; of terms that are not known here, the bound that counting gives.

    `counted`: for each tier the bounds of its terms.
    """
    problem, found = layout.problem, Costs()
    weights = {id(term): tier.scale * cost for tier in tiers for term, cost in tier.members}
    terms = [(term, bound) for tier, bounds in zip(tiers, counted) for (term, _), bound in zip(tier.members, bounds)]
    levels = {level: _stretches(layout, numbering, level) for level in LEVELS if several(problem, level)}
    idle = 0
    for term, bound in terms:
        weight = weights[id(term)]
        if isinstance(term, NodesOfRanges):
            found.node = weight
        elif isinstance(term, Idle):
            idle = weight
        elif not (isinstance(term, (Collectives, DomainsTouched, WeightSync)) and levels.get(term.level)):
            found.fixed += weight * bound
    for bundle in bundles:
        found.lengths[bundle] = _length_cost(problem, bundle, numbering, idle, found.node)
    for level, of_node in levels.items():
        if of_node:
            its = [(term, weights[id(term)]) for term, _ in terms if getattr(term, "level", "") == level]
            found.levels.append(_level(layout, bundles, numbering, level, of_node, its, found))
    return found


def _length_cost(problem: Problem, bundle: Bundle, numbering: Numbering, idle: int, node: int) -> Callable[[int], int]:
    asked = [component.most for component in bundle.components if least_and_most(problem, component.name)]
    return lambda units: sum(idle * (most - units * bundle.unit) for most in asked) - node * fewest_nodes(numbering, units * bundle.unit)


def _stretches(layout: Layout, numbering: Numbering, level: str) -> list[int]:
    """The number of the domain of each node along the numbering; nothing if a domain comes more than once."""
    nodes = layout.problem.cluster.nodes
    names = [domain(nodes[stretch.node_rank], level) for stretch in numbering.stretches]
    found, seen = list[int](), dict[str, int]()
    for position, name in enumerate(names):
        if name in seen and name != names[position - 1]:
            return []
        found.append(seen.setdefault(name, len(seen)))
    return found


def _level(
    layout: Layout, bundles: Sequence[Bundle], numbering: Numbering, level: str, of_node: list[int], terms: list[tuple[Objective, int]], costs: Costs
) -> Level:  # fmt: skip
    problem, position = layout.problem, {bundle: number for number, bundle in enumerate(bundles)}
    touched, crossing = [0] * len(bundles), list[tuple[int, _End, _End]]()
    names = _names(layout, numbering, level, of_node)
    for term, weight in terms:
        if isinstance(term, Collectives):
            for bundle, traffic in term.bundles(problem, layout):
                touched[position[bundle]] += weight * traffic
        elif isinstance(term, DomainsTouched):
            for bundle in term.bundles(problem, layout):
                touched[position[bundle]] += weight
        elif isinstance(term, WeightSync):
            for link, source, target in links(problem, level):
                ends = [_End.of(layout, component, level, position) for component in (source, target)]
                if link.weights and (ends[0].bundle is None or ends[0].bundle != ends[1].bundle):
                    crossing.append((weight * link.weights, ends[0], ends[1]))
    costs.fixed -= sum(touched)

    @cache
    def cost(number: int, there: Set) -> int:
        amount = sum(price for bundle, price in enumerate(touched) if there >> bundle & 1)
        return amount + sum(
            weight for weight, source, target in crossing if target.at(names[number], there) and not source.at(names[number], there)
        )

    elsewhere = [name for name in several(problem, level) if name not in names]
    costs.fixed += sum(weight for name in elsewhere for weight, source, target in crossing if target.at(name, 0) and not source.at(name, 0))
    costs.fixed += sum(cost(number, 0) for number in range(len(names)))
    guarding = sum(1 << bundle for bundle in {source.bundle for _, source, _ in crossing if source.bundle is not None})
    return Level(of_node, lambda number, there: cost(number, there) - cost(number, 0), guarding)


def _names(layout: Layout, numbering: Numbering, level: str, of_node: Sequence[int]) -> list[str]:
    nodes = layout.problem.cluster.nodes
    found: Mapping[int, str] = {number: domain(nodes[each.node_rank], level) for number, each in zip(of_node, numbering.stretches)}
    return [found[number] for number in range(len(found))]


@dataclass(frozen=True)
class _End:
    """An end of a link: a searched bundle by its position, or the domains of what is given."""

    bundle: int | None
    domains: frozenset[str] = frozenset()

    @staticmethod
    def of(layout: Layout, component: Component, level: str, position: Mapping[Bundle, int]) -> _End:
        bundle = layout.bundle_of.get(component.name)
        if bundle is not None and bundle in position:
            return _End(position[bundle])
        return _End(None, frozenset(_given(layout, component, level)))

    def at(self, name: str, there: Set) -> bool:
        """Is it in a domain, with these bundles there?"""
        return name in self.domains if self.bundle is None else bool(there >> self.bundle & 1)


def _given(layout: Layout, component: Component, level: str) -> Iterator[str]:
    runs = layout.on_nodes.get(component.name) if component.runs is None else component.runs
    bundle = layout.bundle_of.get(component.name)
    if runs is None and bundle is not None:
        nodes = layout.problem.cluster.nodes
        yield from (domain(nodes[node], level) for node in layout.fixed[bundle])
    else:
        yield from held(layout.problem, Assignment({component.name: runs or ()}), component, level)


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


def best_on_line(layout: Layout, tiers: Sequence[Tier], counted: Sequence[Sequence[int]]) -> tuple[int, Values] | None:
    """(what no answer can cost less than, in one number, places that cost it by what the sweep knows); None if it is another kind of problem.

    None too where the ranges do not fit: the search says so, and why.
    """
    bundles = layout.searched
    if not _on_one_line(layout, bundles) or layout.has_chosen_given:
        return None
    numbering = layout.numbering(bundles[0])
    costs = costs_of(layout, bundles, numbering, tiers, counted)
    places = [Places(layout, bundle, _usable(layout, bundle)) for bundle in bundles]
    line = _Line(bundles, places, costs)
    lengths = [all_lengths(layout, bundle) for bundle in bundles]
    found = line.longest(lengths) if _longer_is_better(layout, bundles, lengths, tiers) else None
    if found is None and sum(map(len, lengths)) * numbering.size <= MAX_STARTS:
        found = line.sweep(lengths)
    if found is None:
        return None
    cost, taken = found
    return cost + costs.fixed, {bundles[number]: place for number, place in taken.items()}


def _longer_is_better(layout: Layout, bundles: Sequence[Bundle], lengths: Sequence[Sequence[int]], tiers: Sequence[Tier]) -> bool:
    """Does it cost most of all if a range is shorter than it could be?"""
    first = [term for term, _ in tiers[0].members] if tiers else []
    several = [bundle for bundle, its in zip(bundles, lengths) if len(its) > 1]
    asked = all(any(least_and_most(layout.problem, each.name) for each in bundle.components) for bundle in several)
    return asked and (not several or (len(first) == 1 and isinstance(first[0], Idle)))


class _Line:
    """Ranges on one numbering, swept with one choice of their lengths or another."""

    def __init__(self, bundles: Sequence[Bundle], places: Sequence[Places], costs: Costs) -> None:
        self.bundles, self.places, self.costs = bundles, places, costs

    def sweep(self, lengths: Sequence[Sequence[int]]) -> Found | None:
        """The least cost with these lengths to choose from."""
        variants = variants_of(self.bundles, self.places, lengths, self.costs)
        return Sweep(variants, len(self.bundles), self.places[0], self.costs).run()

    def longest(self, lengths: Sequence[Sequence[int]]) -> Found | None:
        """The least cost where longer is always better: all as long as they may be; if that does not fit, and one has several lengths, it gives way.

        A shorter range fits where a longer one does: its lower part cuts nothing either.
        """
        if not all(lengths):
            return None
        found = self.sweep([its[-1:] for its in lengths])
        several = [number for number, its in enumerate(lengths) if len(its) > 1]
        if found is not None or len(several) != 1 or self.bundles[several[0]].wholes or self.bundles[several[0]].piece > 1:
            return found
        open_ = several[0]
        fits, too_long = -1, len(lengths[open_]) - 1
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            tried = self.sweep([[its[middle]] if number == open_ else its for number, its in enumerate(lengths)])
            if tried is None:
                too_long = middle
            else:
                found, fits = tried, middle
        return found


def _on_one_line(layout: Layout, bundles: Sequence[Bundle]) -> bool:
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
    return all(each == numberings[0] for each in numberings) and len(set(nodes)) == len(nodes)


def _usable(layout: Layout, bundle: Bundle) -> Masks:
    return {node: mask for node, mask in layout.pool_of[bundle].free.items() if node in layout.eligible[bundle]}
