"""What a component needs of accelerators with so much memory, where it needs another amount of others."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True, slots=True)
class OnSize:
    """Of each accelerator with `capacity` MiB: MiB while it works, and those that stay while another phase does."""

    capacity: int
    memory: int
    kept: int
