"""One component after the other, on the first nodes that have room: how the frameworks pack, and first fit decreasing."""

from __future__ import annotations

from typing import Sequence

from placewright.models.component import Component
from placewright.models.problem import Problem

from ..counts import Counts, groups_in_a_rack, racks_of, room, usable


def packed(problem: Problem) -> Counts | None:
    """In the written order, as RLinf's and verl's ranks go; None if something finds no room."""
    return _placed(problem, problem.components)


def first_fit_decreasing(problem: Problem) -> Counts | None:
    """The largest replicas first; None if something finds no room."""
    return _placed(problem, sorted(problem.components, key=lambda component: -component.parallel.replica))


def _placed(problem: Problem, order: Sequence[Component]) -> Counts | None:
    held: dict[int, int] = {}
    counts: dict[tuple[str, int], int] = {}
    for component in order:
        tp, pp = component.parallel.tp, component.parallel.pp
        left, nodes = component.least // tp, {node.rank for node in usable(problem, component)}
        for rack in racks_of(problem).values():
            spaces = {node.rank: (room(problem, component, node) - held.get(node.rank, 0)) // tp for node in rack if node.rank in nodes}
            here = min(left, sum(spaces.values()), groups_in_a_rack(component)) // pp * pp
            left -= here
            for rank, space in spaces.items():
                taken = min(here, space)
                if taken:
                    counts[component.name, rank] = taken * tp
                    held[rank] = held.get(rank, 0) + taken * tp
                    here -= taken
        if left:
            return None
    return counts
