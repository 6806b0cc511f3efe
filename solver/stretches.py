"""Who is where, in few words: consecutive nodes that are alike and on which the same components hold the same resources."""

from __future__ import annotations

from typing import Iterator, Mapping

from ..models.assignment import Assignment
from ..models.node import Node
from ..models.problem import Problem

Holding = tuple[str, str]
"""(component, kind of resource)."""


def stretches(problem: Problem, assignment: Assignment) -> Iterator[tuple[range, Node, Mapping[Holding, int]]]:
    """(node ranks, the first of these nodes, what the components hold on each, as bit masks), ascending, all nodes.

    Cost grows with runs and with nodes that differ, not with nodes.
    """
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    held: list[tuple[Holding, int]] = []
    for component in problem.components:
        for repeat in assignment.repeats(component.name):
            for run in repeat.runs:
                begins.setdefault(run.node, []).append(len(held))
                ends.setdefault(run.node + repeat.nodes, []).append(len(held))
                held.append(((component.name, run.kind), run.mask))
    sorts = {alike.node.rank: alike.node for alike in problem.cluster.alike}
    cuts = sorted({*sorts, *begins, *ends, len(problem.cluster.nodes)})
    there: dict[int, None] = {}
    node: Node | None = None
    for start, stop in zip(cuts, cuts[1:]):
        node = sorts.get(start, node)
        for number in ends.get(start, ()):
            del there[number]
        there.update(dict.fromkeys(begins.get(start, ())))
        masks: dict[Holding, int] = {}
        for number in there:
            holding, mask = held[number]
            masks[holding] = masks.get(holding, 0) | mask
        if node is not None:
            yield range(start, stop), node, masks
