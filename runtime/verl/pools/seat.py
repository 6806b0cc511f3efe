"""One place of a pool: an accelerator, or a share of CPUs, on one node, which several groups may take one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...port.node import RayNode
from ...reserving.reservation import Reservation
from ...world.labels import name_of


@dataclass(eq=False)
class Seat:
    """A place for one process of each of `limit` groups.

    Attributes
    ----------
    pool : the name of the pool that it was reserved for.
    part, local_rank, local_world_size : the part of the pool that it is in, its place there, and how many places that has.
    node, node_rank : where it is; the rank is that in the order of all nodes.
    device, accelerator, number : the name of the device and the physical id of the accelerator, "" without one; its number on the node.
    reservation, bundle : what holds it.
    taken : the processes that are in it, by a number of their own.
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
        """How many more processes it has room for."""
        return self.limit - len(self.taken)

    @property
    def where(self) -> str:
        """The place in words."""
        name = name_of(self.node)
        return f"accelerator {self.accelerator} of `{name}`" if self.accelerator else f"`{name}`"
