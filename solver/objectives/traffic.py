"""MiB that cross a level of the topology: collectives, streams and weight sync."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Iterator

from ...models.component import Component
from ...models.link import Link
from ...models.machines.node_group import NODE
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from .domains import (
    WORDS,
    Excess,
    Presence,
    Share,
    amount,
    count_of,
    domain_rows,
    domains_counted,
    fewest,
    fewest_of,
    held,
    is_open,
    most,
    rooms_of,
    several,
    touches,
)
from .term import Aggregate, once

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


@dataclass(frozen=True)
class BytesAcross:
    """A term that is weighed with the others of its level, or with all of them if the preference is weighted."""

    what: ClassVar[str]
    level: str

    @property
    def name(self) -> str:
        """What is counted, as it is printed."""
        return f"MiB of {self.what} across {WORDS[self.level]}"


def links(problem: Problem, level: str) -> Iterator[tuple[Link, Component, Component]]:
    """(link, source, target) of every link of which an end is searched, if the level has several domains."""
    names = {component.name for component in problem.components}
    for link in problem.job.links if several(problem, level) else ():
        if link.source in names and link.target in names:
            source, target = problem[link.source], problem[link.target]
            if any(is_open(problem, end) or (end.runs is None and problem.kind(end) == NODE) for end in (source, target)):
                yield link, source, target


def same_place(variables: Variables, source: Component, target: Component) -> bool:
    """Are both ends of a link on the same accelerators, so that nothing crosses?"""
    bundle = variables.bundle(source)
    return bundle is not None and bundle is variables.bundle(target)


@dataclass(frozen=True)
class Collectives(BytesAcross):
    """The traffic of each component whose place is searched, once for every domain of the level beyond its first."""

    what: ClassVar[str] = "collectives"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        busy = self.bundles(problem, variables.layout)
        crossing = [traffic * (count_of(variables, bundle, self.level) - 1) for bundle, traffic in busy]
        for each in (each for each in self._busy(problem) if problem.kind(each) == NODE):
            there = variables.total(touches(variables, each, self.level, name) for name in several(problem, self.level))
            crossing.append(each.traffic * (there - 1))
        return variables.total(crossing)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(each.traffic * (len(held(problem, assignment, each, self.level)) - 1) for each in self._busy(problem))

    def bound(self, layout: Layout) -> int:
        return sum(traffic * (fewest(layout, bundle, self.level) - 1) for bundle, traffic in self.bundles(layout.problem, layout))

    def most(self, problem: Problem) -> int:
        further = len(several(problem, self.level)) - 1
        return sum(component.traffic * further for component in self._busy(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for bundle, _ in self._searched(problem, variables.layout):
            domain_rows(variables, bundle, self.level)

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for bundle, traffic in self._searched(problem, variables.layout):
            yield domains_counted(variables, bundle, self.level, traffic)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Presence(each.traffic, each.name) for each in self._busy(problem))

    def _busy(self, problem: Problem) -> list[Component]:
        several_domains = bool(several(problem, self.level))
        busy = [each for each in problem.components if several_domains and each.traffic]
        return [each for each in busy if is_open(problem, each) or (problem.kind(each) == NODE and each.runs is None)]

    def bundles(self, problem: Problem, layout: Layout) -> list[tuple[Bundle, int]]:
        """The traffic of components on the same accelerators crosses together."""
        found: dict[Bundle, int] = {}
        for component in (each for each in self._busy(problem) if problem.kind(each) != NODE):
            bundle = layout.bundle_of[component.name]
            found[bundle] = found.get(bundle, 0) + component.traffic
        return list(found.items())

    def _searched(self, problem: Problem, layout: Layout) -> list[tuple[Bundle, int]]:
        return [each for each in self.bundles(problem, layout) if not each[0].fixed]


@dataclass(frozen=True)
class Streams(BytesAcross):
    """The stream of each link, for every accelerator of the target beyond what the source in its own domain of the level serves."""

    what: ClassVar[str] = "streams"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(
            link.stream * unserved(variables, source, target, link.ratio, self.level) for link, source, target in self._links(problem)
        )

    def value(self, problem: Problem, assignment: Assignment) -> int:
        found = 0
        for link, source, target in self._links(problem):
            served = held(problem, assignment, source, self.level)
            asking = held(problem, assignment, target, self.level)
            found += link.stream * sum(max(0, count - link.ratio * served[name]) for name, count in asking.items())
        return found

    def bound(self, layout: Layout) -> int:
        return sum(link.stream * self._fewest(layout, link, source, target) for link, source, target in self._links(layout.problem))

    def _fewest(self, layout: Layout, link: Link, source: Component, target: Component) -> int:
        """What of the target is left if the source fills every domain that both can be in."""
        one, other = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if one is None or other is None or one.fixed or other.fixed or one is other:
            return 0
        rooms = rooms_of(layout)
        met = (min(rooms.most(other, self.level, name), link.ratio * rooms.most(one, self.level, name)) for name in rooms.names(self.level))
        return max(0, other.least * other.unit - min(sum(met), link.ratio * one.most * one.unit))

    def most(self, problem: Problem) -> int:
        return sum(link.stream * _largest(problem, target) for link, _, target in self._links(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for link, source, target in self._links(problem):
            if same_place(variables, source, target):
                continue
            if (bundle := variables.bundle(source)) and not bundle.fixed:
                domain_rows(variables, bundle, self.level)
            for name in several(problem, self.level):
                room, there = most(variables, target, self.level, name), touches(variables, source, self.level, name)
                if room and not isinstance(there, int):
                    asking = amount(variables, target, self.level, name)
                    left = unserved_in(variables, source, target, link.ratio, self.level, name)
                    variables.at_most(asking - room * there, left)

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for link, source, _ in self._links(problem):
            if (bundle := variables.bundle(source)) and not bundle.fixed:
                yield domains_counted(variables, bundle, self.level, bundle.unit * link.stream)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Excess(link.stream, link.target, link.source, link.ratio) for link, _, _ in self._links(problem))

    def _links(self, problem: Problem) -> Iterator[tuple[Link, Component, Component]]:
        return (each for each in links(problem, self.level) if each[0].stream)


def unserved(variables: Variables, source: Component, target: Component, ratio: int, level: str) -> Amount:
    """How much of the target of a link no source in its own domain serves."""
    names = several(variables.problem, level)
    return variables.total(unserved_in(variables, source, target, ratio, level, name) for name in names)


def unserved_in(variables: Variables, source: Component, target: Component, ratio: int, level: str, name: str) -> Amount:
    """How much of the target in the domain no source there serves; smaller is better, so it is no more than that."""
    room = most(variables, target, level, name)
    if not room or same_place(variables, source, target):
        return 0  # an accelerator of both serves itself, whatever the ratio is
    asking, served = amount(variables, target, level, name), amount(variables, source, level, name)
    if isinstance(asking, int) and isinstance(served, int):
        return max(0, asking - ratio * served)
    if not most(variables, source, level, name):
        return asking

    def make() -> Amount:
        left = variables.integer(0, room, f"{target.name} without {source.name} in {name or level}")
        variables.at_most(asking - ratio * served, left)
        return left

    ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
    return once(variables, ("unserved", *ends, ratio, level, name), make)


def _largest(problem: Problem, component: Component) -> int:
    """The most that the component can have."""
    if component.runs is not None:
        return sum(len(run.ranks) if problem.kind(component) == NODE else run.amount for run in component.runs)
    return min(component.most, problem.room_for(component))


@dataclass(frozen=True)
class WeightSync(BytesAcross):
    """The weights of each link, once for every domain of the level that holds some of its target and none of its source."""

    what: ClassVar[str] = "weights"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        crossing = self._links(problem)
        return variables.total(link.weights * uncovered(variables, source, target, self.level) for link, source, target in crossing)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        found = 0
        for link, source, target in self._links(problem):
            served = held(problem, assignment, source, self.level)
            found += link.weights * sum(name not in served for name in held(problem, assignment, target, self.level))
        return found

    def bound(self, layout: Layout) -> int:
        return sum(link.weights * self._fewest(layout, source, target) for link, source, target in self._links(layout.problem))

    def _fewest(self, layout: Layout, source: Component, target: Component) -> int:
        """Domains that the target needs beyond those where the source can be at all."""
        one, other = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if one is None or other is None or one.fixed or other.fixed or one is other:
            return 0
        rooms = rooms_of(layout)
        served = [name for name in rooms.names(self.level) if rooms.most(one, self.level, name)]
        left = other.least * other.unit - sum(rooms.most(other, self.level, name) for name in served)
        alone = [rooms.most(other, self.level, name) for name in rooms.names(self.level) if name not in served]
        return fewest_of(alone, left) if left > 0 else 0

    def most(self, problem: Problem) -> int:
        return sum(link.weights * len(several(problem, self.level)) for link, _, _ in self._links(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for _, source, target in self._links(problem):
            pair = variables.bundle(source), variables.bundle(target)
            for bundle in pair:
                if bundle and not bundle.fixed:
                    domain_rows(variables, bundle, self.level)
            one, other = pair
            pools = variables.layout.pool_of
            if one and other and one is not other and one in pools and pools[one] is pools.get(other):
                once(variables, ("union rows", one, other, self.level), partial(self._union_rows, variables, source, target))

    def _union_rows(self, variables: Variables, source: Component, target: Component) -> Amount:
        """Both ends of a link fill a domain only if one of them is there: the source, or the target without it."""
        one, other = variables.layout.bundle_of[source.name], variables.layout.bundle_of[target.name]
        rooms = rooms_of(variables.layout)
        for name in rooms.names(self.level):
            if rooms.most(one, self.level, name) and rooms.most(other, self.level, name):
                load = variables.total(variables.accelerators_in(bundle, self.level, name) for bundle in (one, other))
                there = touches(variables, source, self.level, name) + uncovered_in(variables, source, target, self.level, name)
                variables.at_most(load, rooms.together([one, other], self.level, name) * there)
        return 0

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for link, source, target in self._links(problem):
            ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
            names, level = several(problem, self.level), self.level
            members = [(uncovered_in(variables, source, target, level, name), most(variables, target, level, name)) for name in names]
            yield Aggregate(("uncovered", *ends, level), members, link.weights)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Presence(link.weights, link.target, unless=link.source) for link, _, _ in self._links(problem))

    def _links(self, problem: Problem) -> Iterator[tuple[Link, Component, Component]]:
        return (each for each in links(problem, self.level) if each[0].weights)


def uncovered(variables: Variables, source: Component, target: Component, level: str) -> Amount:
    """In how many domains the target of a link is without its source."""
    names = several(variables.problem, level)
    return variables.total(uncovered_in(variables, source, target, level, name) for name in names)


def uncovered_in(variables: Variables, source: Component, target: Component, level: str, name: str) -> Amount:
    """1 if the domain holds some of the target and none of the source; smaller is better, so it is 0 else."""
    if same_place(variables, source, target) or not most(variables, target, level, name):
        return 0
    there, served = touches(variables, target, level, name), touches(variables, source, level, name)
    if isinstance(served, int):
        return 0 if served else there

    def make() -> Amount:
        alone = variables.boolean(f"{target.name} without {source.name} in {name or level}")
        variables.at_most(there - served, alone)
        return alone

    ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
    return once(variables, ("uncovered", *ends, level, name), make)
