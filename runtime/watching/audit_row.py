"""Audit result of a worker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Worker as it reports itself.

    `visible`: physical accelerator ids; `differences`: empty if correct.

    `devices`: unique identifiers of the visible accelerators: UUIDs if a driver reported them, else
    Ray's node and the id there. `planned`: the accelerators it should see, as (node rank, physical
    id).
    """

    component: str
    rank: int
    world_size: int
    node_rank: int
    node: str
    ray_node: str
    host: str
    pid: int
    local_rank: int
    local_world_size: int
    visible: tuple[str, ...]
    differences: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    planned: frozenset[tuple[int, str]] = frozenset()
