"""Racks that a component is spread over beyond its first: its collectives cross the slower network between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.machines.node_group import NODE
from ...models.machines.topology import domain, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem

if TYPE_CHECKING:
    from ..layout.layout import Bundle, Layout
    from ..model.variables import Amount, Variables

LEVEL = "rack"


class DomainsTouched:
    """Racks beyond the first of each component whose place is searched; those on the same accelerators count once."""

    name: ClassVar[str] = "extra racks"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        searched = variables.layout.searched
        touched = (variables.touches(bundle, LEVEL, name) for bundle in searched for name in domains(problem.cluster, LEVEL))
        return variables.total(touched) - len(searched)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        count = 0
        for members in problem.colocated_sets:
            if problem.kind(members[0]) == NODE or any(component.runs is not None for component in members):
                continue
            nodes = {run.node for run in assignment.of(members[0].name)}
            count += len({domain(problem.cluster.nodes[node], LEVEL) for node in nodes}) - 1
        return count

    def bound(self, layout: Layout) -> int:
        return sum(self._fewest(layout, bundle) - 1 for bundle in layout.searched)

    def most(self, problem: Problem) -> int:
        return (len(domains(problem.cluster, LEVEL)) - 1) * len(problem.colocated_sets)

    def _fewest(self, layout: Layout, bundle: Bundle) -> int:
        """Racks that the least amount needs if the roomiest were all its own."""
        rooms: dict[str, int] = {}
        for cell in layout.cells:
            name = cell.domain(LEVEL)
            rooms[name] = rooms.get(name, 0) + layout.capacity(cell, layout.pool_of[bundle], bundle.unit)
        left, count = bundle.least, 0
        for room in sorted(rooms.values(), reverse=True):
            if left <= 0:
                break
            left, count = left - room, count + 1
        return count
