"""Objective term: even spread of processes over searched nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.layout import dealt
from ..layout.parts import Parts

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


class FullestNodes:
    """Processes on the fullest node, per component without accelerators.

    Only components with searched nodes count; others are spread evenly by arithmetic.
    """

    name: ClassVar[str] = "processes on the fullest nodes"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        """Return the sum of the fullest nodes.

        Expansion spreads the processes of a cell evenly over its nodes.
        """
        fullest: list[Amount] = []
        for name, entry in variables.layout.dealt.items():
            most = variables.integer(0, entry.processes, f"{name} on its fullest node")
            for cell in variables.cells:
                variables.at_most(variables.held(problem[name], NODE_LEVEL, cell), len(cell.nodes) * most)
            fullest.append(most)
        return variables.total(fullest)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        names = [component.name for component in problem.hinted if problem.kind(component) == NODE]
        searched = {entry.bundle.name for entry in dealt(Parts(problem))} if names else ()
        return sum(max(assignment.processes_on(name).values(), default=0) for name in names if name in searched)

    def bound(self, layout: Layout) -> int:
        return sum(-(-entry.fewest // len(entry.nodes)) for entry in layout.dealt.values())

    def most(self, problem: Problem) -> int:
        names = [component.name for component in problem.hinted if problem.kind(component) == NODE]
        return sum(entry.processes for entry in dealt(Parts(problem))) if names else 0
