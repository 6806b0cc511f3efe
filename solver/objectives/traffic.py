"""Objective terms summed over the domains of a topology level: MiB that cross, extra domains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Iterator

from ...models.component import Component
from ...models.job import Link
from ...models.machines.node_group import NODE
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from .domain_costs import DomainCost, FurtherDomains, UncoveredCost, UnservedCost
from .domains import WORDS, is_open, several
from .term import Aggregate

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


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
