"""Lower bound of the traffic of a design, wherever it is placed."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import gcd, lcm
from typing import Iterable, Mapping, NamedTuple, Sequence

from ...models.planning.option import NO_KIND, Crossing, Flow, Option
from ...models.planning.problem import PlanningProblem
from .structures import BlockStructure

MOST_DOMAINS = 128
"""Maximum number of domains for traffic between sets; beyond it only inside components."""
Amount = tuple[int, int]
"""(kind, amount)."""
Range = tuple[int, int, int]
"""(kind, least amount, greatest amount)."""


Piece = tuple[int, int, int]
"""Facts about a set for traffic: least per domain, whole groups, MiB."""


class LinkedPair(NamedTuple):
    """Two sets on different accelerators, the source of a flow first.

    `source_piece`, `target_piece` : facts about source and target. `inside` : True if the source
    is inside the target. `known` : cached traffic by amounts, shared by pairs with equal facts.
    """

    source: int
    target: int
    flow: Flow
    inside: bool
    source_piece: Piece
    target_piece: Piece
    known: dict[tuple[Range, Range], int]


class LeastCrossing:
    """Lower bound of the traffic of designs in ns, over all placements.

    A component has at least as many domains as its accelerators need. A pair of sets with a flow
    has at least the traffic of the best numbers of domains: fewer for each, or more with some in
    common. If several pairs share a set, each gets a part of its traffic, in proportion to its
    flow.

    `counted` : number of pairs with amounts evaluated, the largest part of the time for hundreds of
    accelerators.
    """

    def __init__(self, question: PlanningProblem, crossing: Crossing) -> None:
        self._crossing, self.counted = crossing, 0
        self._levels = [(level.cost, [DomainSizes(free) for free in level.free]) for level in crossing.levels]
        groups = {name: [option.group for option in options if option.kind != NO_KIND] for name, options in question.options.items()}
        free = bool(question.ways)  # in which a component may have another shape than by itself
        self._grain = {name: 1 if free else gcd(*options) for name, options in groups.items() if options}
        self._least = {name: 1 if free else min(options) for name, options in groups.items() if options}
        self._bears = next(
            (name for name, options in question.options.items() if options and all(option.kind != NO_KIND for option in options)), ""
        )
        self._alone: dict[tuple[str, int, int], int] = {}
        self._pairs: dict[tuple[tuple[tuple[str, ...], ...], tuple[int, ...]], list[LinkedPair]] = {}
        self._known: dict[object, dict[tuple[Range, Range], int]] = {}

    def bound_inside(self, name: str, option: Option) -> int:
        """Return the traffic inside a component in its fewest domains."""
        key = name, option.kind, option.amount
        if key not in self._alone:
            traffic = self._crossing.traffic.get(name, 0)
            traffic_time = self._crossing.fixed if name == self._bears else 0
            for cost, rooms in self._levels if traffic and option.kind != NO_KIND else ():
                traffic_time += cost * traffic * max(0, rooms[option.kind].fewest(option.amount, self._grain[name]) - 1)
            self._alone[key] = traffic_time
        return self._alone[key]

    def beyond(self, structure: BlockStructure, amounts: Sequence[Amount]) -> int:
        """Return the traffic beyond that inside components, with these amounts."""
        return sum(self.bound_between(pair, exactly(amounts[pair.source]), exactly(amounts[pair.target])) for pair in self.pairs(structure))

    def ranges(self, amounts: Iterable[Amount]) -> Mapping[Amount, Range]:
        """Return amount -> range of amounts with equally many domains at every level."""
        by_key: dict[tuple[int, ...], list[int]] = {}
        where = {}
        for kind, amount in amounts:
            where[kind, amount] = key = (kind, *(rooms[kind].fewest(amount) for _, rooms in self._levels))
            by_key.setdefault(key, []).append(amount)
        return {amount: (key[0], min(by_key[key]), max(by_key[key])) for amount, key in where.items()}

    def bound_between(self, pair: LinkedPair, source_range: Range, target_range: Range) -> int:
        """Return the traffic between two sets beyond that inside components."""
        if (source_range, target_range) not in pair.known:
            self.counted += 1
            pair.known[source_range, target_range] = self._between(pair, source_range, target_range)
        return pair.known[source_range, target_range]

    def pairs(self, structure: BlockStructure) -> Sequence[LinkedPair]:
        """Return the pairs of sets with a flow."""
        key = structure.sets, structure.inside
        if key not in self._pairs:
            of = {name: number for number, members in enumerate(structure.sets) for name in members}
            ends = [(of[flow.source], of[flow.target], flow) for flow in self._crossing.flows]
            ends = [(source, target, flow) for source, target, flow in ends if source not in structure.around[target]]
            sizes = [sum(self._size(flow) for *pair, flow in ends if number in pair) for number in range(len(structure.sets))]
            self._pairs[key] = []
            for source, target, flow in ends:
                first, last = (self._piece(structure.sets[number], self._size(flow), sizes[number]) for number in (source, target))
                is_nested = target in structure.around[source]
                cache = self._known.setdefault((flow, is_nested, first, last), {})
                self._pairs[key].append(LinkedPair(source, target, flow, is_nested, first, last, cache))
        return self._pairs[key]

    def _size(self, flow: Flow) -> int:
        """Return the MiB of a flow that a domain may receive."""
        return flow.weights + flow.stream * max(sizes.most(1) for _, rooms in self._levels for sizes in rooms)

    def _piece(self, members: Sequence[str], size: int, total: int) -> Piece:
        """Return the facts of a set for its share of a flow."""
        names = [name for name in members if name in self._grain]
        traffic = sum(self._crossing.traffic.get(name, 0) for name in names)
        grain = lcm(*(self._grain[name] for name in names))
        return max((self._least[name] for name in names), default=1), grain, traffic * size // total

    def _between(self, pair: LinkedPair, source_range: Range, target_range: Range) -> int:
        total = 0
        for cost, rooms in self._levels:
            if len(rooms[source_range[0]].there) <= MOST_DOMAINS:
                source, target = (
                    LinkSide(rooms[kind], low, high, *piece)
                    for (kind, low, high), piece in ((source_range, pair.source_piece), (target_range, pair.target_piece))
                )
                total += cost * bound_traffic(source, target, pair.flow, pair.inside)
        return total


def exactly(amount: Amount) -> Range:
    """Return the range of a single amount."""
    return (amount[0], amount[1], amount[1])


class LinkSide(NamedTuple):
    """One side of a flow: domains of its kind, and least and greatest number of accelerators.

    `least` : fewest accelerators in a used domain. `group` : size of the whole groups on each node.
    `traffic` : MiB inside the set for every domain beyond the first, for its share here.
    """

    rooms: DomainSizes
    amount: int
    most: int
    least: int
    group: int
    traffic: int

    @property
    def fewest(self) -> int:
        """Fewest domains for the set; one more than exist if it does not fit."""
        return self.rooms.fewest(self.amount, self.group)

    @property
    def widest(self) -> int:
        """Largest number of domains for the set."""
        return min(self.most // self.least, self.rooms.count)


def bound_traffic(source: LinkSide, target: LinkSide, flow: Flow, is_nested: bool) -> int:
    """Return a lower bound of the MiB between two sets; 0 without capacity.

    Beyond the traffic inside both in the fewest domains. Numbers of domains are tried for both,
    with as many in common as fit, while more can cost less. `is_nested`: True if the source lies on
    accelerators of the target.
    """
    tight = source.rooms is target.rooms and not is_nested
    joint_domains = source.rooms.fewest(source.amount + target.amount) if tight else 0
    first, last, start, end = source.fewest, source.widest, target.fewest, target.widest
    if joint_domains > source.rooms.count or first > last or start > end:
        return 0
    common_count = sum(in_source and in_target for in_source, in_target in zip(source.rooms.there, target.rooms.there))
    source_room, target_room = source.rooms.list_capacities(), target.rooms.list_capacities()
    best: int | None = None
    for source_domains in range(first, last + 1) if source.traffic else (last,):
        of_source = source.traffic * (source_domains - first)
        if best is not None and of_source >= best:
            break
        most = min(source_domains, common_count)
        room = (source_room[source_domains] - source.amount) // target.least if tight else most
        for target_domains in range(start, end + 1):
            traffic_within = of_source + target.traffic * (target_domains - start)
            if best is not None and traffic_within >= best:
                break
            # Written without `min`: of hundreds of accelerators this is asked millions of times.
            cap = most if most < target_domains else target_domains
            common = cap
            if tight:
                cap = room if room < cap else cap
                cap = cap if cap < source_domains + target_domains - joint_domains else source_domains + target_domains - joint_domains
                room_of_target = (target_room[target_domains] - target.amount) // source.least
                common = room_of_target if room_of_target < cap else cap
            if common >= 0:
                crosses = flow.weights * (target_domains - common)
                if flow.stream:
                    crosses += flow.stream * (target.amount - _bound_served(source, target, common, flow.ratio, tight))
                if best is None or traffic_within + crosses < best:
                    best = traffic_within + crosses
            if not flow.stream and common == cap >= 0:
                break  # with more domains of the target no more of them are spared
        if not flow.stream and source.traffic >= flow.weights and room >= most and best is not None:
            break  # each further domain of the source spares the target one at most
    return best or 0


def _bound_served(source: LinkSide, target: LinkSide, common: int, ratio: int, tight: bool) -> int:
    """Return an upper bound of target accelerators served in common domains."""
    upper_bound = min(target.amount, ratio * source.most)
    if not tight:
        return min(upper_bound, target.rooms.most(common))
    room = target.rooms.most(common)
    return max(0, min(upper_bound, room - source.least * common, ratio * (room - target.least * common), ratio * room // (1 + ratio)))


class DomainSizes:
    """Domains of a level for a kind of accelerators.

    `free` : for each domain, how many are free on each of its nodes.
    """

    def __init__(self, free: Sequence[Sequence[int]]) -> None:
        self.there = tuple(any(nodes) for nodes in free)
        self.count = sum(self.there)
        self._free = free
        self._most: dict[int, list[int]] = {}

    def list_capacities(self, group: int = 1) -> list[int]:
        """Return the capacity of the largest 0, 1, 2 ... domains, in whole groups per node."""
        if group not in self._most:
            sizes = sorted((sum(free // group * group for free in nodes) for nodes in self._free if any(nodes)), reverse=True)
            self._most[group] = [0, *accumulate(sizes)]
        return self._most[group]

    def most(self, domains: int, group: int = 1) -> int:
        """Return the capacity of so many domains, in whole groups per node."""
        return self.list_capacities(group)[min(domains, self.count)]

    def fewest(self, amount: int, group: int = 1) -> int:
        """Return the fewest domains for an amount; more than exist without capacity."""
        return bisect_left(self.list_capacities(group), amount)
