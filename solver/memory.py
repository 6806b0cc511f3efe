"""Memory of components on a shared accelerator, and sharing of masks."""

from __future__ import annotations

from collections import Counter
from typing import Iterator

from ..models.component import Component
from ..models.placements.assignment import Assignment
from ..models.sharing import Members


def peak(members: Members, capacity: int | None = None) -> int:
    """Return the MiB that components need together at the worst moment.

    `capacity` is the accelerator's MiB; None for a minimum valid on any accelerator. The sum of
    resident memory and, in the worst phase, the needs of working components and the offloaded rest
    of all others.
    """
    needs = [(component, *component.needs(capacity)) for component in members]
    resident = sum(memory for component, memory, _ in needs if not component.phases)
    idle_total = sum(idle for component, _, idle in needs if component.phases)
    rises: dict[str, int] = {}
    for component, memory, idle in needs:
        for phase in component.phases:
            rises[phase] = rises.get(phase, 0) + memory - idle
    return resident + idle_total + max(rises.values(), default=0)


def pieces(masks: list[int]) -> list[int]:
    """Split masks at their overlaps: the same masks are present throughout a piece."""
    pieces_so_far: list[int] = []
    for mask in masks:
        fresh, cut = mask, []
        for piece in pieces_so_far:
            cut += [fragment for fragment in (piece & mask, piece & ~mask) if fragment]
            fresh &= ~piece
        pieces_so_far = [*cut, fresh] if fresh else cut
    return pieces_so_far


def shares_itself(assignment: Assignment, component: Component, kind: str) -> bool:
    """Return True if several processes of the component hold the same resource."""
    return component.runs is not None and assignment.amount(component.name) > assignment.count_held(component.name, kind)


def find_crowded(assignment: Assignment, component: Component, node: int, kind: str) -> Iterator[tuple[int, int]]:
    """Yield (mask of resources on a node, processes of the component per resource).

    The cost grows with all runs of the component.
    """
    runs = (run for run in assignment.of(component.name) if run.node == node and run.kind == kind)
    counts = Counter(index for run in runs for rank in run.ranks for index in run.list_held(rank))
    for times in sorted(set(counts.values())):
        yield sum(1 << index for index, count in counts.items() if count == times), times
