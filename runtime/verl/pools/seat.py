"""Seat of a pool: an accelerator or a share of CPUs, shared by several groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...port.node import RayNode
from ...reserving.reservation import Reservation
from ...world.labels import name_of


@dataclass(eq=False)
class Seat:
    """Place on a node for `limit` processes of different groups.

    Attributes
    ----------
    pool : name of the pool that it was reserved for.
    part, local_rank, local_world_size : the part of the pool, the rank in it, and its size.
    node, node_rank : its node, and the rank of the node in the order of all nodes.
    device, accelerator, number : device name and physical id of the accelerator, "" without
        one; its number on the node.
    reservation, bundle : reservation that holds it, and its bundle there.
    taken : the components in it, by a unique number per slot.
    """

    pool: str
    part: int
    local_rank: int
    local_world_size: int
    node: RayNode
    node_rank: int
    device: str
    accelerator: str
    number: int
    reservation: Reservation
    bundle: int
    limit: int
    taken: dict[int, str] = field(default_factory=dict)

    @property
    def free(self) -> int:
        """Number of free slots."""
        return self.limit - len(self.taken)

    @property
    def where(self) -> str:
        """Description of the seat for messages."""
        name = name_of(self.node)
        return f"accelerator {self.accelerator} of `{name}`" if self.accelerator else f"`{name}`"
