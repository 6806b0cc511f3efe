"""What components need together on one accelerator, and which accelerators hold the same ones."""

from __future__ import annotations

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
