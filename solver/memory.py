"""What components need together on one accelerator."""

from __future__ import annotations

from ..models.sharing import Members


def peak(members: Members) -> int:
    """MiB that these components need together at the worst moment: what is always there, and the largest phase."""
    phases = {component.phase for component in members if component.phase}
    resident = sum(component.memory for component in members if not component.phase)
    return resident + max((sum(c.memory for c in members if c.phase == phase) for phase in phases), default=0)
