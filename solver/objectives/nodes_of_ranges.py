"""Nodes that contiguous components lie on: a range that could fit one node should not straddle two."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.assignment import Assignment
from ...models.component import Component
from ...models.node_group import NODE
from ...models.problem import Problem

if TYPE_CHECKING:
    from ..layout import Layout
    from ..variables import Amount, Variables


class NodesOfRanges:
    """The number of nodes of each contiguous component whose place is searched; those on the same accelerators count once."""

    name: ClassVar[str] = "nodes of contiguous components"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(variables.nodes_covered(bundle) for bundle in variables.layout.ranged)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(len({run.node for run in assignment.of(members[0].name)}) for members in _ranged(problem))

    def bound(self, layout: Layout) -> int:
        fewest = 0
        for bundle in layout.ranged:
            largest = max((stretch.count for stretch in layout.numbering(bundle).stretches), default=1)
            fewest += -(-bundle.least * bundle.unit // largest)
        return fewest

    def most(self, problem: Problem) -> int:
        return len(problem.cluster.nodes) * len(_ranged(problem))


def _ranged(problem: Problem) -> list[tuple[Component, ...]]:
    """The sets of components on the same accelerators that are searched as one range."""
    return [
        members
        for members in problem.colocated_sets
        if problem.kind(members[0]) != NODE
        and any(component.contiguous for component in members)
        and all(component.runs is None for component in members)
    ]
