"""What an audit says of one worker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One worker, as it reports itself. `visible` holds physical accelerator ids; `differences` is empty if all is right.

    `devices` tell the accelerators that it sees from all others: UUIDs where a driver told them, else Ray's node and the id there.
    `planned` are those that it should see: (node rank, physical id).
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
