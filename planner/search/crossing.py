"""Lower bound of the traffic of a design, wherever it is placed."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import gcd, lcm
from typing import Iterable, Mapping, NamedTuple, Sequence

from ...models.planning.limits import Crossing, Flow
from ...models.planning.option import NO_KIND, Option
from ...models.planning.problem import PlanningProblem
from .structures import BlockStructure

MOST_DOMAINS = 128
"""Domains of a level up to which it is looked at what crosses between sets; of more of them only what crosses inside components."""
Amount = tuple[int, int]
"""A kind and how many of it."""
Range = tuple[int, int, int]
"""A kind, and from how many of it to how many."""


class BlockPiece(NamedTuple):
    """What is counted of a set: its accelerators are in whole groups on each node, at least so many in a domain, with so much traffic."""

    group: int
    least: int
    traffic: int


class LinkedPair(NamedTuple):
    """Two sets of a structure that lie on different accelerators, of which the source sends something.

    Attributes
    ----------
    one, other : what is counted of both, the source first.
    inside : does the source lie inside the target?
    known : what was counted for their amounts; pairs of which the same is counted share it.
    """

    source: int
    target: int
    flow: Flow
    inside: bool
    one: BlockPiece
    other: BlockPiece
    known: dict[tuple[Range, Range], int]


class LeastCrossing:
    """The least traffic of designs, in nanoseconds; no placement of them has less.

    A component has at least as many domains as its accelerators need. A pair of sets that sends something has at least what the best
    numbers of domains come to: fewer for each, or more so that they have some in common. Where several pairs have a set in common,
    each is given a part of its traffic, in proportion to what it sends.

    Attributes
    ----------
    counted : how many pairs of sets with their amounts were looked at: of hundreds of accelerators, that takes most of the time.
    """

    def __init__(self, question: PlanningProblem, crossing: Crossing) -> None:
        self._crossing, self.counted = crossing, 0
        self._levels = [(level.cost, [DomainSizes(free) for free in level.free]) for level in crossing.levels]
        groups = {name: [each.group for each in its if each.kind != NO_KIND] for name, its in question.options.items()}
        free = bool(question.ways)  # in which a component may have another shape than by itself
        self._grain = {name: 1 if free else gcd(*its) for name, its in groups.items() if its}
        self._least = {name: 1 if free else min(its) for name, its in groups.items() if its}
        self._bears = next((name for name, its in question.options.items() if its and all(each.kind != NO_KIND for each in its)), "")
        self._alone: dict[tuple[str, int, int], int] = {}
        self._pairs: dict[tuple[tuple[tuple[str, ...], ...], tuple[int, ...]], list[LinkedPair]] = {}
        self._known: dict[object, dict[tuple[Range, Range], int]] = {}

    def alone(self, name: str, option: Option) -> int:
        """What crosses inside a component, in as few domains as its accelerators need; of the first one also what crosses in any design."""
        key = name, option.kind, option.amount
        if key not in self._alone:
            traffic = self._crossing.traffic.get(name, 0)
            found = self._crossing.fixed if name == self._bears else 0
            for cost, rooms in self._levels if traffic and option.kind != NO_KIND else ():
                fewest = rooms[option.kind].fewest(option.amount, self._grain[name])
                found += cost * traffic * (fewest - 1) if fewest else 0
            self._alone[key] = found
        return self._alone[key]

    def beyond(self, structure: BlockStructure, amounts: Sequence[Amount]) -> int:
        """What crosses beyond what each component has alone, with this kind and amount of each set."""
        return sum(self.between_amounts(pair, amounts[pair.source], amounts[pair.target]) for pair in self.pairs(structure))

    def ranges(self, amounts: Iterable[Amount]) -> Mapping[Amount, Range]:
        """For each amount the range of these amounts that need as few domains of each level."""
        its: dict[tuple[int, ...], list[int]] = {}
        where = {}
        for kind, amount in amounts:
            where[kind, amount] = key = (kind, *(rooms[kind].fewest(amount) or 0 for _, rooms in self._levels))
            its.setdefault(key, []).append(amount)
        return {amount: (key[0], min(its[key]), max(its[key])) for amount, key in where.items()}

    def between(self, pair: LinkedPair, one: Range, other: Range) -> int:
        """What crosses between two sets with these kinds and amounts, beyond what each component has alone."""
        if (one, other) not in pair.known:
            self.counted += 1
            pair.known[one, other] = self._between(pair, one, other)
        return pair.known[one, other]

    def pairs(self, structure: BlockStructure) -> Sequence[LinkedPair]:
        """The pairs of sets of a structure that send something."""
        key = structure.sets, structure.inside
        if key not in self._pairs:
            of = {name: number for number, its in enumerate(structure.sets) for name in its}
            ends = [(of[flow.source], of[flow.target], flow) for flow in self._crossing.flows]
            ends = [(one, other, flow) for one, other, flow in ends if one not in structure.around[other]]
            sent = [sum(self._size(flow) for *pair, flow in ends if number in pair) for number in range(len(structure.sets))]
            self._pairs[key] = [self._pair(structure, sent, *its) for its in ends]
        return self._pairs[key]

    def _pair(self, structure: BlockStructure, sent: Sequence[int], one: int, other: int, flow: Flow) -> LinkedPair:
        ends = [self._piece(structure.sets[number], self._size(flow), sent[number]) for number in (one, other)]
        inside = other in structure.around[one]
        known = self._known.setdefault((flow, inside, *ends), {})
        return LinkedPair(one, other, flow, inside, ends[0], ends[1], known)

    def _size(self, flow: Flow) -> int:
        """MiB that a domain may have to be sent."""
        return flow.weights + flow.stream * max(its.most(1) for _, rooms in self._levels for its in rooms)

    def _piece(self, members: Sequence[str], size: int, sent: int) -> BlockPiece:
        """What is counted of a set with a flow of this size, of all that it sends and is sent."""
        held = [name for name in members if name in self._grain]
        traffic = sum(self._crossing.traffic.get(name, 0) for name in held)
        grain = lcm(*(self._grain[name] for name in held))
        return BlockPiece(grain, max((self._least[name] for name in held), default=1), traffic * size // sent)

    def between_amounts(self, pair: LinkedPair, one: Amount, other: Amount) -> int:
        """The same with exactly these amounts."""
        return self.between(pair, exactly(one), exactly(other))

    def _between(self, pair: LinkedPair, one: Range, other: Range) -> int:
        found = 0
        for cost, rooms in self._levels:
            if len(rooms[one[0]].there) <= MOST_DOMAINS:
                source, target = (
                    LinkSide(rooms[kind], low, high, piece.least, piece.group, piece.traffic)
                    for (kind, low, high), piece in ((one, pair.one), (other, pair.other))
                )
                found += cost * between(source, target, pair.flow, pair.inside)
        return found


def exactly(amount: Amount) -> Range:
    """The range of one amount."""
    return (amount[0], amount[1], amount[1])


class LinkSide(NamedTuple):
    """One of two sets.

    Attributes
    ----------
    rooms : the domains of its kind of accelerators.
    amount, most : its accelerators, from so many to so many.
    least : so many of them are in a domain at least where any are.
    group : they come in whole groups of this on each node.
    traffic : MiB that cross inside it for every domain beyond its first, as far as they are counted here.
    """

    rooms: DomainSizes
    amount: int
    most: int
    least: int
    group: int
    traffic: int

    @property
    def fewest(self) -> int:
        """How few domains hold it; one more than there are where all of them do not."""
        found = self.rooms.fewest(self.amount, self.group)
        return found if found is not None else self.rooms.count + 1

    @property
    def widest(self) -> int:
        """How many domains it can be in."""
        return min(self.most // self.least, self.rooms.count)


def between(source: LinkSide, target: LinkSide, flow: Flow, inside: bool) -> int:
    """MiB that cross at least, beyond what crosses inside both in the fewest domains, of the fewest accelerators; 0 where they have no room.

    Numbers of domains are tried for both, with as many in common as there is room for, as long as more of them can cost less. `inside`:
    the source lies on some of the accelerators of the target.
    """
    tight = source.rooms is target.rooms and not inside
    together = source.rooms.fewest(source.amount + target.amount) if tight else 0
    first, last, start, end = source.fewest, source.widest, target.fewest, target.widest
    if together is None or first > last or start > end:
        return 0
    shared = sum(one and other for one, other in zip(source.rooms.there, target.rooms.there))
    source_room, target_room = source.rooms.held(), target.rooms.held()
    best: int | None = None
    for ones in range(first, last + 1) if source.traffic else (last,):
        of_source = source.traffic * (ones - first)
        if best is not None and of_source >= best:
            break
        most = min(ones, shared)
        room = (source_room[ones] - source.amount) // target.least if tight else most
        for others in range(start, end + 1):
            apart = of_source + target.traffic * (others - start)
            if best is not None and apart >= best:
                break
            # Written without `min`: of hundreds of accelerators this is asked millions of times.
            wished = most if most < others else others
            common = wished
            if tight:
                wished = room if room < wished else wished
                wished = wished if wished < ones + others - together else ones + others - together
                held = (target_room[others] - target.amount) // source.least
                common = held if held < wished else wished
            if common >= 0:
                crosses = flow.weights * (others - common)
                if flow.stream:
                    crosses += flow.stream * (target.amount - _served(source, target, common, flow.ratio, tight))
                if best is None or apart + crosses < best:
                    best = apart + crosses
            if not flow.stream and common == wished >= 0:
                break  # with more domains of the target no more of them are spared
        if not flow.stream and source.traffic >= flow.weights and room >= most and best is not None:
            break  # each further domain of the source spares the target one at most
    return best or 0


def _served(source: LinkSide, target: LinkSide, common: int, ratio: int, tight: bool) -> int:
    """How many accelerators of the target the source serves at most in so many domains that hold some of both.

    `tight`: both need room there.
    """
    served = min(target.amount, ratio * source.most)
    if not tight:
        return min(served, target.rooms.most(common))
    room = target.rooms.most(common)
    return max(0, min(served, room - source.least * common, ratio * (room - target.least * common), ratio * room // (1 + ratio)))


class DomainSizes:
    """The domains of one level for one kind of accelerators.

    Parameters
    ----------
    free : for each domain, how many are free on each of its nodes.
    """

    def __init__(self, free: Sequence[Sequence[int]]) -> None:
        self.there = tuple(any(nodes) for nodes in free)
        self.count = sum(self.there)
        self._free = free
        self._most: dict[int, list[int]] = {}

    def held(self, group: int = 1) -> list[int]:
        """What no domain, one, two and so on to all of them hold at most, in whole groups on each node."""
        if group not in self._most:
            each = sorted((sum(free // group * group for free in nodes) for nodes in self._free if any(nodes)), reverse=True)
            self._most[group] = [0, *accumulate(each)]
        return self._most[group]

    def most(self, domains: int, group: int = 1) -> int:
        """What so many domains hold at most, in whole groups on each node."""
        return self.held(group)[min(domains, self.count)]

    def fewest(self, amount: int, group: int = 1) -> int | None:
        """How many domains hold so many at least; None where all of them do not."""
        held = self.held(group)
        place = bisect_left(held, amount)
        return place if place < len(held) else None
