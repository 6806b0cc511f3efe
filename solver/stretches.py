"""Compact occupancy: stretches of alike nodes with the same components on the same resources."""

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
"""(stretch number, bit mask of accelerators per node), ascending."""


def stretches(
    problem: Problem, assignment: Assignment, components: Iterable[Component] | None = None
) -> Iterator[tuple[range, Node, Mapping[Holding, int]]]:  # fmt: skip
    """Yield (node ranks, first node, resources per component as bit masks), over all nodes.

    Stretches ascend. `components` defaults to all of the problem. The cost grows with runs and
    differing nodes, not with nodes.
    """
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    placed: list[tuple[Holding, int]] = []
    for component in problem.components if components is None else components:
        for repeat in assignment.repeats(component.name):
            for run in repeat.runs:
                begins.setdefault(run.node, []).append(len(placed))
                ends.setdefault(run.node + repeat.nodes, []).append(len(placed))
                placed.append(((component.name, run.kind), run.mask))
    sorts = {alike.node.rank: alike.node for alike in problem.cluster.alike}
    cuts = sorted({*sorts, *begins, *ends, len(problem.cluster.nodes)})
    present: dict[int, None] = {}
    node: Node | None = None
    for start, stop in zip(cuts, cuts[1:]):
        node = sorts.get(start, node)
        for number in ends.get(start, ()):
            del present[number]
        present.update(dict.fromkeys(begins.get(start, ())))
        masks: dict[Holding, int] = {}
        for number in present:
            holding, mask = placed[number]
            masks[holding] = masks.get(holding, 0) | mask
        if node is not None:
            yield range(start, stop), node, masks


def components_by_accelerators(problem: Problem, assignment: Assignment) -> tuple[list[range], dict[Places, list[str]]]:
    """Return (nodes per stretch, components by used accelerators).

    Components without accelerators are left out.
    """
    nodes, places_of = list[range](), dict[str, list[tuple[int, int]]]()
    for number, (ranks, _, holdings) in enumerate(stretches(problem, assignment)):
        nodes.append(ranks)
        for (name, kind), mask in holdings.items():
            if kind == ACCELERATOR and mask:
                places_of.setdefault(name, []).append((number, mask))
    alike: dict[Places, list[str]] = {}
    for name, places in places_of.items():
        alike.setdefault(tuple(places), []).append(name)
    return nodes, alike
