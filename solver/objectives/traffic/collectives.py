"""What the replicas of a component exchange between the domains that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterator

from ....models.component import Component
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ....models.record import dataclass
from ..by_domain import Presence, Share
from ..domains import count_of, domain_rows, domains_counted, fewest
from ..presence import held, is_open, several, touches
from ..term import Aggregate
from .bytes_across import BytesAcross

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...layout.layout import Layout
    from ...model.amount import Amount
    from ...model.variables import Variables


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
