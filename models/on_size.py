"""Memory need of a component on accelerators of a given size."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True, slots=True)
class OnSize:
    """MiB while working and MiB kept in other phases, on accelerators of `capacity` MiB."""

    capacity: int
    memory: int
    kept: int
