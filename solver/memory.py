"""What components need together on one accelerator, and which accelerators hold the same ones."""

from __future__ import annotations

from ..models.sharing import Members


def peak(members: Members) -> int:
    """MiB that these components need together at the worst moment.

    That is what is always there and, in the worst phase, what its components need and those of other phases keep when they are offloaded.
    """
    resident = sum(component.memory for component in members if not component.phases)
    kept = sum(component.offloaded for component in members if component.phases)
    rises: dict[str, int] = {}
    for component in members:
        for phase in component.phases:
            rises[phase] = rises.get(phase, 0) + component.memory - component.offloaded
    return resident + kept + max(rises.values(), default=0)


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
