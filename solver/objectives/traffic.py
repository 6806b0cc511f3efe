"""Objective terms: MiB across a topology level by collectives, streams, weight sync."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Iterator

from ...models.component import Component
from ...models.job import Link
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
    """Term in MiB, weighed with the terms of the level, or with all if weighted."""

    flow_name: ClassVar[str]
    level: str

    @property
    def name(self) -> str:
        """Name of the term in output."""
        return f"MiB of {self.flow_name} across {WORDS[self.level]}"


def links(problem: Problem, level: str) -> Iterator[tuple[Link, Component, Component]]:
    """Yield (link, source, target) with a searched end, for a level with several domains."""
    names = {component.name for component in problem.components}
    for link in problem.job.links if several(problem, level) else ():
        if link.source in names and link.target in names:
            source, target = problem[link.source], problem[link.target]
            if any(is_open(problem, end) or (end.runs is None and problem.kind(end) == NODE) for end in (source, target)):
                yield link, source, target


def same_place(variables: Variables, source: Component, target: Component) -> bool:
    """Return True if both ends of a link are on the same accelerators.

    Then nothing crosses.
    """
    bundle = variables.bundle(source)
    return bundle is not None and bundle is variables.bundle(target)


@dataclass(frozen=True)
class Collectives(BytesAcross):
    """Traffic of searched components, times their domains beyond the first."""

    flow_name: ClassVar[str] = "collectives"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        busy = self.bundles(problem, variables.layout)
        crossing = [traffic * (count_of(variables, bundle, self.level) - 1) for bundle, traffic in busy]
        for component in (component for component in self._busy(problem) if problem.kind(component) == NODE):
            touched = variables.total(touches(variables, component, self.level, name) for name in several(problem, self.level))
            crossing.append(component.traffic * (touched - 1))
        return variables.total(crossing)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(component.traffic * (len(held(problem, assignment, component, self.level)) - 1) for component in self._busy(problem))

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
        yield from (Presence(component.traffic, component.name) for component in self._busy(problem))

    def _busy(self, problem: Problem) -> list[Component]:
        several_domains = bool(several(problem, self.level))
        busy = [component for component in problem.components if several_domains and component.traffic]
        return [
            component for component in busy if is_open(problem, component) or (problem.kind(component) == NODE and component.runs is None)
        ]

    def bundles(self, problem: Problem, layout: Layout) -> list[tuple[Bundle, int]]:
        """Return (bundle, traffic of all members together)."""
        traffic_of: dict[Bundle, int] = {}
        for component in (component for component in self._busy(problem) if problem.kind(component) != NODE):
            bundle = layout.bundle_of[component.name]
            traffic_of[bundle] = traffic_of.get(bundle, 0) + component.traffic
        return list(traffic_of.items())

    def _searched(self, problem: Problem, layout: Layout) -> list[tuple[Bundle, int]]:
        return [entry for entry in self.bundles(problem, layout) if not entry[0].fixed]


@dataclass(frozen=True)
class Streams(BytesAcross):
    """Stream of links, times target accelerators not served in the same domain.

    A source accelerator serves `ratio` target accelerators of its domain.
    """

    flow_name: ClassVar[str] = "streams"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(
            link.stream * unserved(variables, source, target, link.ratio, self.level) for link, source, target in self._links(problem)
        )

    def value(self, problem: Problem, assignment: Assignment) -> int:
        crossing = 0
        for link, source, target in self._links(problem):
            served = held(problem, assignment, source, self.level)
            wanted = held(problem, assignment, target, self.level)
            crossing += link.stream * sum(max(0, count - link.ratio * served[name]) for name, count in wanted.items())
        return crossing

    def bound(self, layout: Layout) -> int:
        return sum(link.stream * self._fewest(layout, link, source, target) for link, source, target in self._links(layout.problem))

    def _fewest(self, layout: Layout, link: Link, source: Component, target: Component) -> int:
        """Return the target left if the source fills every domain open to both."""
        sender, receiver = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if sender is None or receiver is None or sender.fixed or receiver.fixed or sender is receiver:
            return 0
        rooms = rooms_of(layout)
        met = (
            min(rooms.most(receiver, self.level, name), link.ratio * rooms.most(sender, self.level, name))
            for name in rooms.names(self.level)
        )
        return max(0, receiver.least * receiver.unit - min(sum(met), link.ratio * sender.most * sender.unit))

    def most(self, problem: Problem) -> int:
        return sum(link.stream * _largest(problem, target) for link, _, target in self._links(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for link, source, target in self._links(problem):
            if same_place(variables, source, target):
                continue
            if (bundle := variables.bundle(source)) and not bundle.fixed:
                domain_rows(variables, bundle, self.level)
            for name in several(problem, self.level):
                room, source_here = most(variables, target, self.level, name), touches(variables, source, self.level, name)
                if room and not isinstance(source_here, int):
                    asking = amount(variables, target, self.level, name)
                    left = unserved_in(variables, source, target, link.ratio, self.level, name)
                    variables.at_most(asking - room * source_here, left)

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for link, source, _ in self._links(problem):
            if (bundle := variables.bundle(source)) and not bundle.fixed:
                yield domains_counted(variables, bundle, self.level, bundle.unit * link.stream)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Excess(link.stream, link.target, link.source, link.ratio) for link, _, _ in self._links(problem))

    def _links(self, problem: Problem) -> Iterator[tuple[Link, Component, Component]]:
        return (entry for entry in links(problem, self.level) if entry[0].stream)


def unserved(variables: Variables, source: Component, target: Component, ratio: int, level: str) -> Amount:
    """Return the target's resources not served by a source in the same domain."""
    names = several(variables.problem, level)
    return variables.total(unserved_in(variables, source, target, ratio, level, name) for name in names)


def unserved_in(variables: Variables, source: Component, target: Component, ratio: int, level: str, name: str) -> Amount:
    """Return the target's resources in the domain not served by a source there.

    Exact if minimised, else an upper bound.
    """
    room = most(variables, target, level, name)
    if not room or same_place(variables, source, target):
        return 0  # an accelerator with both serves itself, at any ratio
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
    """Return the most resources of the component."""
    if component.runs is not None:
        return sum(len(run.ranks) if problem.kind(component) == NODE else run.amount for run in component.runs)
    return min(component.most, problem.room_for(component))


@dataclass(frozen=True)
class WeightSync(BytesAcross):
    """Weights of links, times domains with some target and no source."""

    flow_name: ClassVar[str] = "weights"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        crossing = self._links(problem)
        return variables.total(link.weights * uncovered(variables, source, target, self.level) for link, source, target in crossing)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        crossing = 0
        for link, source, target in self._links(problem):
            served = held(problem, assignment, source, self.level)
            crossing += link.weights * sum(name not in served for name in held(problem, assignment, target, self.level))
        return crossing

    def bound(self, layout: Layout) -> int:
        return sum(link.weights * self._fewest(layout, source, target) for link, source, target in self._links(layout.problem))

    def _fewest(self, layout: Layout, source: Component, target: Component) -> int:
        """Return the domains needed by the target outside those open to the source."""
        sender, receiver = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if sender is None or receiver is None or sender.fixed or receiver.fixed or sender is receiver:
            return 0
        rooms = rooms_of(layout)
        served = [name for name in rooms.names(self.level) if rooms.most(sender, self.level, name)]
        left = receiver.least * receiver.unit - sum(rooms.most(receiver, self.level, name) for name in served)
        alone = [rooms.most(receiver, self.level, name) for name in rooms.names(self.level) if name not in served]
        return fewest_of(alone, left) if left > 0 else 0

    def most(self, problem: Problem) -> int:
        return sum(link.weights * len(several(problem, self.level)) for link, _, _ in self._links(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for _, source, target in self._links(problem):
            pair = variables.bundle(source), variables.bundle(target)
            for bundle in pair:
                if bundle and not bundle.fixed:
                    domain_rows(variables, bundle, self.level)
            sender, receiver = pair
            pools = variables.layout.pool_of
            if sender and receiver and sender is not receiver and sender in pools and pools[sender] is pools.get(receiver):
                once(variables, ("union rows", sender, receiver, self.level), partial(self._union_rows, variables, source, target))

    def _union_rows(self, variables: Variables, source: Component, target: Component) -> Amount:
        """Bound the load of both ends in a domain by their indicators.

        Both fill a domain only if the source is there, or the target without it.
        """
        sender, receiver = variables.layout.bundle_of[source.name], variables.layout.bundle_of[target.name]
        rooms = rooms_of(variables.layout)
        for name in rooms.names(self.level):
            if rooms.most(sender, self.level, name) and rooms.most(receiver, self.level, name):
                load = variables.total(variables.accelerators_in(bundle, self.level, name) for bundle in (sender, receiver))
                indicator = touches(variables, source, self.level, name) + uncovered_in(variables, source, target, self.level, name)
                variables.at_most(load, rooms.together([sender, receiver], self.level, name) * indicator)
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
        return (entry for entry in links(problem, self.level) if entry[0].weights)


def uncovered(variables: Variables, source: Component, target: Component, level: str) -> Amount:
    """Return the number of domains with the target and without the source."""
    names = several(variables.problem, level)
    return variables.total(uncovered_in(variables, source, target, level, name) for name in names)


def uncovered_in(variables: Variables, source: Component, target: Component, level: str, name: str) -> Amount:
    """Return 1 if the domain has some of the target and none of the source.

    Exact if minimised, else an upper bound.
    """
    if same_place(variables, source, target) or not most(variables, target, level, name):
        return 0
    target_here, served = touches(variables, target, level, name), touches(variables, source, level, name)
    if isinstance(served, int):
        return 0 if served else target_here

    def make() -> Amount:
        alone = variables.boolean(f"{target.name} without {source.name} in {name or level}")
        variables.at_most(target_here - served, alone)
        return alone

    ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
    return once(variables, ("uncovered", *ends, level, name), make)
