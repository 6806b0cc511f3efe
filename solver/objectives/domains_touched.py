"""Objective term: extra domains of components without known traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

from ...models.component import Component
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from .domains import WORDS, Presence, Share, count_of, domain_rows, domains_counted, fewest, held, is_open, several
from .term import Aggregate

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


@dataclass(frozen=True)
class DomainsTouched:
    """Domains of a level beyond the first, per searched component.

    Components on the same accelerators count once. Components with known traffic and targets of
    links are left out: their bytes measure better the cost of a further domain.
    """

    level: str

    @property
    def name(self) -> str:
        """Name of the term in output."""
        return f"extra {WORDS[self.level]}"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        bundles = self.bundles(problem, variables.layout)
        return variables.total(count_of(variables, bundle, self.level) for bundle in bundles) - len(bundles)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(len(held(problem, assignment, members[0], self.level)) - 1 for members in self._unknown(problem))

    def bound(self, layout: Layout) -> int:
        return sum(fewest(layout, bundle, self.level) - 1 for bundle in self.bundles(layout.problem, layout))

    def most(self, problem: Problem) -> int:
        return (len(several(problem, self.level)) - 1) * len(self._unknown(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for bundle in self._searched(problem, variables.layout):
            domain_rows(variables, bundle, self.level)

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for bundle in self._searched(problem, variables.layout):
            yield domains_counted(variables, bundle, self.level, 1)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Presence(1, members[0].name) for members in self._unknown(problem))

    def _unknown(self, problem: Problem) -> list[tuple[Component, ...]]:
        """Return the searched colocated sets without known traffic."""
        if not several(problem, self.level):
            return []
        with_traffic = {link.target for link in problem.job.links} | {
            component.name for component in problem.components if component.traffic
        }
        return [
            members
            for members in problem.colocated_sets
            if any(is_open(problem, c) for c in members) and with_traffic.isdisjoint(c.name for c in members)
        ]

    def bundles(self, problem: Problem, layout: Layout) -> list[Bundle]:
        """Return the bundles that count."""
        return [layout.bundle_of[members[0].name] for members in self._unknown(problem)]

    def _searched(self, problem: Problem, layout: Layout) -> list[Bundle]:
        return [bundle for bundle in self.bundles(problem, layout) if not bundle.fixed]
