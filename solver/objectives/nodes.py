"""Objective terms of nodes: those of contiguous components beyond the minimum, and even spread of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.component import Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.layout import dealt
from ..layout.parts import BundleLayout
from ..layout.ranges import fewest_nodes

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


class NodesOfRanges:
    """Nodes beyond the minimum, per contiguous component with a searched place.

    The minimum is counted by the largest node of the numbering. Components on the same accelerators
    count once.
    """

    name: ClassVar[str] = "extra nodes of contiguous components"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(variables.range_of(bundle).extra_nodes() for bundle in variables.layout.ranged)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        extra = 0
        for members, labels in _find_ranged(problem):
            runs = assignment.of(members[0].name)
            numbering = problem.cluster.numbering(labels)
            extra += len({run.node for run in runs}) - fewest_nodes(numbering, sum(run.amount for run in runs))
        return extra

    def bound(self, layout: Layout) -> int:
        return 0

    def most(self, problem: Problem) -> int:
        return len(problem.cluster.nodes) * len(_find_ranged(problem))


def _find_ranged(problem: Problem) -> list[tuple[tuple[Component, ...], tuple[str, ...]]]:
    """Return the searched colocated sets placed as a range, with their numbering groups."""
    sets = [members for members in problem.colocated_sets if all(component.runs is None for component in members)]
    candidates = [(members, problem.solid_in(members)) for members in sets if problem.kind(members[0]) != NODE]
    return [(members, labels) for members, labels in candidates if labels is not None]


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
                variables.at_most(variables.count_held(problem[name], NODE_LEVEL, cell), len(cell.nodes) * most)
            fullest.append(most)
        return variables.total(fullest)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        names = [component.name for component in problem.hinted if problem.kind(component) == NODE]
        search_names = {entry.bundle.name for entry in dealt(BundleLayout(problem))} if names else ()
        return sum(max(assignment.processes_on(name).values(), default=0) for name in names if name in search_names)

    def bound(self, layout: Layout) -> int:
        return sum(-(-entry.fewest // len(entry.nodes)) for entry in layout.dealt.values())

    def most(self, problem: Problem) -> int:
        names = [component.name for component in problem.hinted if problem.kind(component) == NODE]
        return sum(entry.processes for entry in dealt(BundleLayout(problem))) if names else 0
