"""Who is where, in few words: consecutive nodes that are alike and on which the same components hold the same resources."""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping

from ..models.component import Component
from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.problem import Problem

Holding = tuple[str, str]
"""(component, kind of resource)."""

Places = tuple[tuple[int, int], ...]
"""(number of a stretch of nodes, the accelerators held on each of them as a bit mask), ascending."""


def stretches(
    problem: Problem, assignment: Assignment, components: Iterable[Component] | None = None
) -> Iterator[tuple[range, Node, Mapping[Holding, int]]]:  # fmt: skip
    """(node ranks, the first of these nodes, what the components hold on each, as bit masks), ascending, all nodes.

    `components` : those that matter; all of the problem if nothing is said.
    Cost grows with runs and with nodes that differ, not with nodes.
    """
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    held: list[tuple[Holding, int]] = []
    for component in problem.components if components is None else components:
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


def held_alike(problem: Problem, assignment: Assignment) -> tuple[list[range], dict[Places, list[str]]]:
    """(the nodes of each stretch, the components by the accelerators that they hold); those that hold none are left out."""
    nodes, held = list[range](), dict[str, list[tuple[int, int]]]()
    for number, (ranks, _, holdings) in enumerate(stretches(problem, assignment)):
        nodes.append(ranks)
        for (name, kind), mask in holdings.items():
            if kind == ACCELERATOR and mask:
                held.setdefault(name, []).append((number, mask))
    alike: dict[Places, list[str]] = {}
    for name, its in held.items():
        alike.setdefault(tuple(its), []).append(name)
    return nodes, alike
