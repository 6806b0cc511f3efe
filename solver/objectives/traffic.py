"""Objective terms as sums over topology domains: MiB that cross, extra domains, and their costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.job import Link
from ...models.machines.node_group import NODE
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from ..layout.capacities import rooms_of
from .domains import (
    WORDS,
    component_count,
    count_held,
    domain_rows,
    domains_counted,
    fewest,
    fewest_of,
    is_open,
    most,
    several,
    touches,
)
from .term import Aggregate

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


@dataclass(frozen=True)
class DomainCost(ABC):
    """Cost of a component's domains, each by its resources and those of a source.

    Attributes
    ----------
    cost : cost of a domain or of a resource, a positive integer.
    component : component whose domains cost something.
    source : component that waives the cost where it is.
    """

    cost: int
    component: Component
    source: Component | None = None

    @property
    def offset(self) -> int:
        """Cost without any domain."""
        return 0

    @property
    def parties(self) -> tuple[Component, ...]:
        """Component and source."""
        return (self.component, self.source) if self.source else (self.component,)

    @abstractmethod
    def in_domain(self, count: int, source_count: int) -> int:
        """Return the cost of a domain by its resources of component and source."""

    def of_domain(self, held_there: Mapping[str, int]) -> int:
        """Return the cost of a domain with so much of each component."""
        return self.in_domain(held_there.get(self.component.name, 0), held_there.get(self.source.name, 0) if self.source else 0)

    def value(self, problem: Problem, assignment: Assignment, level: str) -> int:
        """Return the cost of an assignment."""
        source_counts = count_held(problem, assignment, self.source, level) if self.source else {}
        counts = count_held(problem, assignment, self.component, level)
        return self.offset + sum(self.in_domain(count, source_counts.get(name, 0)) for name, count in counts.items())

    @abstractmethod
    def encode(self, variables: Variables, level: str) -> Amount:
        """Return the cost as an amount; equal to the value if minimised."""

    @abstractmethod
    def bound(self, layout: Layout, level: str) -> int:
        """Return a lower bound by counting alone."""

    @abstractmethod
    def most(self, problem: Problem, level: str) -> int:
        """Return an upper bound."""

    def rows(self, variables: Variables, level: str) -> None:
        """Post rows that strengthen the relaxation."""
        for component in self.parties:
            if (bundle := variables.bundle(component)) and not bundle.fixed:
                domain_rows(variables, bundle, level)

    @abstractmethod
    def aggregates(self, variables: Variables, level: str) -> Iterator[Aggregate]:
        """Yield the counts behind the cost."""


class FurtherDomains(DomainCost):
    """Cost of every domain of a component beyond the first."""

    @property
    def offset(self) -> int:
        return -self.cost

    def in_domain(self, count: int, source_count: int) -> int:
        return self.cost if count else 0

    def encode(self, variables: Variables, level: str) -> Amount:
        return self.cost * (component_count(variables, self.component, level) - 1)

    def bound(self, layout: Layout, level: str) -> int:
        bundle = layout.bundle_of.get(self.component.name)
        return self.cost * (fewest(layout, bundle, level) - 1) if bundle else 0

    def most(self, problem: Problem, level: str) -> int:
        return self.cost * (len(several(problem, level)) - 1)

    def aggregates(self, variables: Variables, level: str) -> Iterator[Aggregate]:
        if (bundle := variables.bundle(self.component)) and not bundle.fixed:
            yield domains_counted(variables, bundle, level, self.cost)


@dataclass(frozen=True)
class LinkCost(DomainCost):
    """Cost of a link from a source, in the domains of its target."""

    source: Component

    def searched_pair(self, layout: Layout) -> tuple[Bundle, Bundle] | None:
        """Return (sender, receiver) if both are searched, on different accelerators."""
        sender, receiver = (layout.bundle_of.get(component.name) for component in (self.source, self.component))
        if sender is None or receiver is None or sender.fixed or receiver.fixed or sender is receiver:
            return None
        return sender, receiver

    def ends(self, variables: Variables) -> tuple[object, object]:
        """Return the bundles of source and target, or their names."""
        return variables.bundle(self.source) or self.source.name, variables.bundle(self.component) or self.component.name

    def is_local(self, variables: Variables) -> bool:
        """Return True if both ends are on the same accelerators: then nothing crosses."""
        bundle = variables.bundle(self.source)
        return bundle is not None and bundle is variables.bundle(self.component)


class UncoveredCost(LinkCost):
    """Cost of every domain with the target and without the source."""

    def in_domain(self, count: int, source_count: int) -> int:
        return self.cost if count and not source_count else 0

    def encode(self, variables: Variables, level: str) -> Amount:
        return self.cost * self.domains(variables, level)

    def domains(self, variables: Variables, level: str) -> Amount:
        """Return the number of domains with the target and without the source."""

        def make() -> Amount:
            return variables.total(self.is_uncovered_in(variables, level, name) for name in several(variables.problem, level))

        return variables.once(("uncovered domains", *self.ends(variables), level), make)

    def is_uncovered_in(self, variables: Variables, level: str, name: str) -> Amount:
        """Return 1 if the domain has some of the target and none of the source.

        Exact if minimised, else an upper bound.
        """
        if self.is_local(variables) or not most(variables, self.component, level, name):
            return 0
        target_here, source_here = (touches(variables, component, level, name) for component in self.parties)
        if isinstance(source_here, int):
            return 0 if source_here else target_here

        def make() -> Amount:
            indicator = variables.boolean(f"{self.component.name} without {self.source.name} in {name or level}")
            variables.at_most(target_here - source_here, indicator)
            return indicator

        return variables.once(("uncovered", *self.ends(variables), level, name), make)

    def bound(self, layout: Layout, level: str) -> int:
        """Return the cost of the domains that the target needs beyond those of the source."""
        pair, capacities = self.searched_pair(layout), rooms_of(layout)
        if pair is None:
            return 0
        sender, receiver = pair
        source_domains = {name for name in capacities.names(level) if capacities.most(sender, level, name)}
        remaining = receiver.least * receiver.unit - sum(
            capacities.most(receiver, level, name) for name in capacities.names(level) if name in source_domains
        )
        amounts = [capacities.most(receiver, level, name) for name in capacities.names(level) if name not in source_domains]
        return self.cost * fewest_of(amounts, remaining) if remaining > 0 else 0

    def most(self, problem: Problem, level: str) -> int:
        return self.cost * len(several(problem, level))

    def rows(self, variables: Variables, level: str) -> None:
        super().rows(variables, level)
        sender, receiver = variables.bundle(self.source), variables.bundle(self.component)
        pools = variables.layout.pool_of
        if sender and receiver and sender is not receiver and sender in pools and pools[sender] is pools.get(receiver):
            variables.once(("union rows", sender, receiver, level), partial(self._union_rows, variables, (sender, receiver), level))

    def _union_rows(self, variables: Variables, pair: tuple[Bundle, Bundle], level: str) -> Amount:
        """Bound the load of both ends in a domain by their indicators.

        The source alone has at most its own share of the domain; the rest is for the target.
        """
        capacities = rooms_of(variables.layout)
        for name in capacities.names(level):
            if all(capacities.most(bundle, level, name) for bundle in pair):
                load = variables.total(variables.accelerators_in(bundle, level, name) for bundle in pair)
                variables.at_most(load, self.limit_of_load(variables, pair, level, name))
        return 0

    def limit_of_load(self, variables: Variables, bundles: Sequence[Bundle], level: str, name: str) -> Amount:
        """Return a limit on the load of some bundles in a domain, the source first.

        All are of one pool, and without the target only the source has some.
        """
        capacities, indicator = rooms_of(variables.layout), self.is_uncovered_in(variables, level, name)
        target_here, source_here = (touches(variables, component, level, name) for component in self.parties)
        share = capacities.most(bundles[0], level, name)
        return share * (source_here + indicator) + max(0, capacities.together(bundles, level, name) - share) * target_here

    def aggregates(self, variables: Variables, level: str) -> Iterator[Aggregate]:
        members = [
            (self.is_uncovered_in(variables, level, name), most(variables, self.component, level, name))
            for name in several(variables.problem, level)
        ]
        yield Aggregate(("uncovered", *self.ends(variables), level), members, self.cost)


@dataclass(frozen=True)
class UnservedCost(LinkCost):
    """Cost of every resource of the target beyond `ratio` times those of the source."""

    ratio: int = 1

    def in_domain(self, count: int, source_count: int) -> int:
        return self.cost * max(0, count - self.ratio * source_count)

    def encode(self, variables: Variables, level: str) -> Amount:
        names = several(variables.problem, level)
        return self.cost * variables.total(self.count_left(variables, level, name) for name in names)

    def count_left(self, variables: Variables, level: str, name: str) -> Amount:
        """Return the target's resources in the domain not served by a source there.

        Exact if minimised, else an upper bound.
        """
        limit = most(variables, self.component, level, name)
        if not limit or self.is_local(variables):
            return 0  # an accelerator with both serves itself, at any ratio
        asking, source_count = (variables.count_held(component, level, name) for component in self.parties)
        if isinstance(asking, int) and isinstance(source_count, int):
            return max(0, asking - self.ratio * source_count)
        if not most(variables, self.source, level, name):
            return asking

        def make() -> Amount:
            remainder = variables.integer(0, limit, f"{self.component.name} without {self.source.name} in {name or level}")
            variables.at_most(asking - self.ratio * source_count, remainder)
            return remainder

        return variables.once(("unserved", *self.ends(variables), self.ratio, level, name), make)

    def bound(self, layout: Layout, level: str) -> int:
        """Return the cost of the target left if the source fills their common domains."""
        pair, capacities = self.searched_pair(layout), rooms_of(layout)
        if pair is None:
            return 0
        sender, receiver = pair
        met = (
            min(capacities.most(receiver, level, name), self.ratio * capacities.most(sender, level, name))
            for name in capacities.names(level)
        )
        coverage = min(sum(met), self.ratio * sender.most * sender.unit)
        return self.cost * max(0, receiver.least * receiver.unit - coverage)

    def most(self, problem: Problem, level: str) -> int:
        target = self.component
        if target.runs is None:
            return self.cost * min(target.most, problem.room_for(target))
        return self.cost * sum(run.amount or len(run.ranks) for run in target.runs)

    def rows(self, variables: Variables, level: str) -> None:
        if self.is_local(variables):
            return
        if (bundle := variables.bundle(self.source)) and not bundle.fixed:
            domain_rows(variables, bundle, level)
        for name in several(variables.problem, level):
            limit, source_here = most(variables, self.component, level, name), touches(variables, self.source, level, name)
            if limit and not isinstance(source_here, int):
                asking = variables.count_held(self.component, level, name)
                variables.at_most(asking - limit * source_here, self.count_left(variables, level, name))
        self._rows_of_chains(variables, level)

    def _rows_of_chains(self, variables: Variables, level: str) -> None:
        """Bound the load of a domain where the source gets weights from a third component.

        All are of one pool. What the source does not serve may fill the domain without it.
        """
        pair, capacities, pool_of = self.searched_pair(variables.layout), rooms_of(variables.layout), variables.layout.pool_of
        for cost in WeightSync(level).costs(variables.problem) if pair else ():
            ends = cost.searched_pair(variables.layout) if cost.component == self.source else None
            if pair is None or ends is None or ends[0] in pair or len({pool_of[bundle] for bundle in (ends[0], *pair)}) > 1:
                continue
            bundles = (ends[0], *pair)
            for name in capacities.names(level):
                if all(capacities.most(bundle, level, name) for bundle in bundles):
                    indicator, source_here = cost.is_uncovered_in(variables, level, name), touches(variables, self.source, level, name)
                    remainder, fewest_sending = self.count_left(variables, level, name), bundles[0].whole(level)
                    load = variables.total(variables.accelerators_in(bundle, level, name) for bundle in bundles[1:])
                    load_with_sender = load + variables.accelerators_in(bundles[0], level, name)
                    headroom = max(0, capacities.together(bundles, level, name) - fewest_sending)
                    variables.at_most(load, headroom * source_here + fewest_sending * indicator + remainder)
                    variables.at_most(load_with_sender, cost.limit_of_load(variables, bundles, level, name) + remainder)

    def aggregates(self, variables: Variables, level: str) -> Iterator[Aggregate]:
        if (bundle := variables.bundle(self.source)) and not bundle.fixed:
            yield domains_counted(variables, bundle, level, bundle.unit * self.cost)


@dataclass(frozen=True)
class DomainTerm(ABC):
    """Term as a sum of costs over the domains of a level."""

    level: str

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the term in output."""

    @abstractmethod
    def costs(self, problem: Problem) -> Iterator[DomainCost]:
        """Yield the summands of the term."""

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(cost.encode(variables, self.level) for cost in self.costs(problem))

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(cost.value(problem, assignment, self.level) for cost in self.costs(problem))

    def bound(self, layout: Layout) -> int:
        return sum(cost.bound(layout, self.level) for cost in self.costs(layout.problem))

    def most(self, problem: Problem) -> int:
        return sum(cost.most(problem, self.level) for cost in self.costs(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        """Post redundant rows that strengthen the relaxation.

        A weighted indicator bounds all load that implies it: load <= capacity x indicator.
        """
        for cost in self.costs(problem):
            cost.rows(variables, self.level)

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        """Yield the counts behind the value."""
        for cost in self.costs(problem):
            yield from cost.aggregates(variables, self.level)


@dataclass(frozen=True)
class BytesAcross(DomainTerm):
    """Term in MiB, weighed with the terms of the level, or with all if weighted."""

    flow_name: ClassVar[str]

    @property
    def name(self) -> str:
        return f"MiB of {self.flow_name} across {WORDS[self.level]}"


class Collectives(BytesAcross):
    """Traffic of searched components, times their domains beyond the first."""

    flow_name: ClassVar[str] = "collectives"

    def costs(self, problem: Problem) -> Iterator[DomainCost]:
        for component in problem.components if several(problem, self.level) else ():
            if component.traffic and (is_open(problem, component) or _is_open_on_nodes(problem, component)):
                yield FurtherDomains(component.traffic, component)


class WeightSync(BytesAcross):
    """Weights of links, times domains with some target and no source."""

    flow_name: ClassVar[str] = "weights"

    def costs(self, problem: Problem) -> Iterator[UncoveredCost]:
        for link, source, target in links(problem, self.level):
            if link.weights:
                yield UncoveredCost(link.weights, target, source)


class Streams(BytesAcross):
    """Stream of links, times target accelerators not served in the same domain.

    A source accelerator serves `ratio` target accelerators of its domain.
    """

    flow_name: ClassVar[str] = "streams"

    def costs(self, problem: Problem) -> Iterator[UnservedCost]:
        for link, source, target in links(problem, self.level):
            if link.stream:
                yield UnservedCost(link.stream, target, source, link.ratio)


class DomainsTouched(DomainTerm):
    """Domains of a level beyond the first, per searched component.

    Components on the same accelerators count once. Components with known traffic and targets of
    links are left out: their bytes measure better the cost of a further domain.
    """

    @property
    def name(self) -> str:
        return f"extra {WORDS[self.level]}"

    def costs(self, problem: Problem) -> Iterator[DomainCost]:
        with_traffic = {link.target for link in problem.job.links} | {c.name for c in problem.components if c.traffic}
        for members in problem.colocated_sets if several(problem, self.level) else ():
            if any(is_open(problem, c) for c in members) and with_traffic.isdisjoint(c.name for c in members):
                yield FurtherDomains(1, members[0])


def links(problem: Problem, level: str) -> Iterator[tuple[Link, Component, Component]]:
    """Yield (link, source, target) with a searched end, for a level with several domains."""
    names = {component.name for component in problem.components}
    for link in problem.job.links if several(problem, level) else ():
        if link.source in names and link.target in names:
            source, target = problem[link.source], problem[link.target]
            if any(is_open(problem, end) or _is_open_on_nodes(problem, end) for end in (source, target)):
                yield link, source, target


def _is_open_on_nodes(problem: Problem, component: Component) -> bool:
    return component.runs is None and problem.kind(component) == NODE
