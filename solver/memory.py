"""What components need together on one accelerator, and which accelerators hold the same ones."""

from __future__ import annotations

from collections import Counter
from typing import Iterator

from ..models.component import Component
from ..models.placements.assignment import Assignment
from ..models.sharing import Members


def peak(members: Members, capacity: int | None = None) -> int:
    """MiB that these components need together at the worst moment, of an accelerator with so many; of any at least where that is None.

    That is what is always there and, in the worst phase, what its components need and those of other phases keep when they are offloaded.
    """
    needs = [(component, *component.needs(capacity)) for component in members]
    resident = sum(memory for component, memory, _ in needs if not component.phases)
    offloaded = sum(kept for component, _, kept in needs if component.phases)
    rises: dict[str, int] = {}
    for component, memory, kept in needs:
        for phase in component.phases:
            rises[phase] = rises.get(phase, 0) + memory - kept
    return resident + offloaded + max(rises.values(), default=0)


def pieces(masks: list[int]) -> list[int]:
    """The masks cut where they overlap: in each piece the same ones are present throughout."""
    found: list[int] = []
    for mask in masks:
        fresh, cut = mask, []
        for piece in found:
            cut += [part for part in (piece & mask, piece & ~mask) if part]
            fresh &= ~piece
        found = [*cut, fresh] if fresh else cut
    return found


def shares_itself(assignment: Assignment, component: Component, kind: str) -> bool:
    """True if several processes of the component hold the same resource."""
    return component.runs is not None and assignment.amount(component.name) > assignment.held(component.name, kind)


def crowded(assignment: Assignment, component: Component, node: int, kind: str) -> Iterator[tuple[int, int]]:
    """(resources of a node as a mask, processes of the component on each of them). Cost grows with all of its runs."""
    runs = (run for run in assignment.of(component.name) if run.node == node and run.kind == kind)
    counts = Counter(index for run in runs for rank in run.ranks for index in run.held_by(rank))
    for times in sorted(set(counts.values())):
        yield sum(1 << index for index, count in counts.items() if count == times), times
