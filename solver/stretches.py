"""Compact occupancy: stretches of alike nodes with the same components on the same resources."""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping, TypeVar

from ..models.component import Component
from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from .wording import lowest

T = TypeVar("T")
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
    placed: list[tuple[range, Node | tuple[Holding, int]]] = [
        (range(part.node.rank, part.stop), part.node) for part in problem.cluster.alike
    ]
    for component in problem.components if components is None else components:
        for repeat in assignment.repeats(component.name):
            placed += [(range(run.node, run.node + repeat.nodes), ((component.name, run.kind), run.mask)) for run in repeat.runs]
    for ranks, entries in sweep(placed):
        masks: dict[Holding, int] = {}
        for holding, mask in (entry for entry in entries if not isinstance(entry, Node)):
            masks[holding] = masks.get(holding, 0) | mask
        yield from ((ranks, node, masks) for node in entries if isinstance(node, Node))


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


def extent(first: Mapping[int, int], masks: Mapping[int, int]) -> tuple[int, int]:
    """Return the first resource rank of some resources, and the rank after the last.

    `first` maps node ranks to the first resource rank in a numbering; `masks` are not empty.
    """
    lowest_rank = min(first[node] + lowest(mask) for node, mask in masks.items())
    return lowest_rank, max(first[node] + mask.bit_length() for node, mask in masks.items())


def sweep(covered: Iterable[tuple[range, T]]) -> Iterator[tuple[range, list[T]]]:
    """Yield (consecutive nodes, items on all of them), ascending; skip uncovered nodes."""
    items = list(covered)
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, (ranks, _) in enumerate(items):
        begins.setdefault(ranks.start, []).append(number)
        ends.setdefault(ranks.stop, []).append(number)
    cuts = sorted({*begins, *ends})
    active: dict[int, None] = {}
    for start, stop in zip(cuts, cuts[1:]):
        for number in ends.get(start, ()):
            del active[number]
        active.update(dict.fromkeys(begins.get(start, ())))
        if active:
            yield range(start, stop), [items[number][1] for number in active]
