"""Parts of pools, and verl's `ResourcePoolManager`: pools by name, and the pool of each role."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Hashable, Mapping, Sequence

from ...failure import build_refusal, quote_names
from ...reserving.reservation import Reservation
from .pool import RayResourcePool, Seat, device_there, fitting, port_of, resource_of


class SubRayResourcePool(RayResourcePool):
    """Consecutive seats of another pool.

    `store` is that of the whole pool, `world_size` the number of these seats. `start_bundle_index`
    counts the seats before them in the pool that was split first. The whole pool holds the
    reservation: closing this pool releases nothing.
    """

    def __init__(self, parent: RayResourcePool, start_bundle_index: int, subgroup_world_size: int, name_prefix: str | None = None) -> None:
        super().__init__(parent.store, parent.use_gpu, name_prefix, parent.max_colocate_count, parent.accelerator_type, on=parent.on)
        self.parent = parent
        self._first = start_bundle_index
        self.start_bundle_index = getattr(parent, "start_bundle_index", 0) + start_bundle_index
        self.subgroup_world_size = subgroup_world_size

    @property
    def world_size(self) -> int:
        """Number of seats of this part."""
        return self.subgroup_world_size

    @property
    def reservation(self) -> Reservation | None:
        """Reservation of the whole pool."""
        return self.parent.reservation

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """Return the seats in rank order; see RayResourcePool."""
        return self.parent.seats(device_name, name)[self._first : self._first + self.subgroup_world_size]

    def close(self) -> None:
        """Do nothing: the whole pool holds the reservation."""


def split_resource_pool(resource_pool: RayResourcePool, split_size: int | Sequence[int]) -> list[SubRayResourcePool]:
    """Split a pool into consecutive parts of one size, or of the given sizes.

    Reserves the pool; a part may be split again. Raises a ValueError (PW718) for sizes that do not
    sum up, and as RayResourcePool.seats.
    """
    whole = resource_pool.world_size
    if isinstance(split_size, int):
        if split_size < 1 or whole % split_size:
            raise _split_error(resource_pool, f"split_size must be a divisor of world_size: {split_size} does not divide {whole}")
        sizes = [split_size] * (whole // split_size)
    else:
        sizes = list(split_size)
        if sum(sizes) != whole or any(size < 1 for size in sizes):
            raise _split_error(resource_pool, f"split_size must sum up to world_size: {sizes} sums up to {sum(sizes)}, it is {whole}")
    resource_pool.seats()
    parts = enumerate(zip(accumulate([0, *sizes[:-1]]), sizes))
    return [
        SubRayResourcePool(resource_pool, start, size, f"{resource_pool.name_prefix}_split_{number}") for number, (start, size) in parts
    ]


def _split_error(pool: RayResourcePool, message: str) -> Any:
    return build_refusal("PW718", pool.name_prefix, message, "give sizes that make up the pool", pool.world_size)


COLOCATED = 3
"""Number of groups that may share an accelerator.

Source: verl, single_controller/ray/base.py, `create_resource_pool`.
"""


@dataclass
class ResourcePoolManager:
    """Pools by name, as processes per node; `mapping`: role -> name of its pool.

    `on`: HOST:PORT of the cluster, or a cluster object; None: that of `ray.init`. Roles may be any
    keys.
    """

    resource_pool_spec: Mapping[str, list[int]]
    mapping: Mapping[Any, str] | None = None
    resource_pool_dict: dict[str, RayResourcePool] = field(default_factory=dict)
    on: Any = None

    def create_resource_pool(self) -> None:
        """Create the missing pools; each is reserved at first use.

        Raises a ValueError within a second: PW702 if all pools together do not fit the free
        capacity, with the sum that shows it and the holders of the rest; PW718 for an empty pool.
        """
        new_pools = {
            name: RayResourcePool(sizes, use_gpu=True, max_colocate_count=COLOCATED, name_prefix=name, on=self.on)
            for name, sizes in self.resource_pool_spec.items()
            if name not in self.resource_pool_dict
        }
        if new_pools:
            port = port_of(self.on)
            device = device_there(port)
            needs = [need for pool in new_pools.values() for need in pool.needs(device)]
            next(fitting(port, needs, resource_of(device), "`, `".join(new_pools)))
        self.resource_pool_dict.update(new_pools)

    def get_resource_pool(self, role: Hashable) -> RayResourcePool:
        """Return the pool of a role. No created pool: ValueError (PW718)."""
        name = (self.mapping or {}).get(role)
        if name is None:
            roles = quote_names(self.mapping or ())
            raise build_refusal("PW718", str(role), f"role `{role}` is on no pool; these are: {roles}", "add it to the mapping")
        if name not in self.resource_pool_dict:
            raise build_refusal("PW718", name, f"pool `{name}` of role `{role}` has not been created", "call create_resource_pool() first")
        return self.resource_pool_dict[name]

    def get_n_gpus(self) -> int:
        """Return the number of accelerators of all pools."""
        return sum(size for sizes in self.resource_pool_spec.values() for size in sizes)

    def close(self) -> None:
        """Release all pools and end every worker in them; they can be created again. Idempotent."""
        for name, pool in list(self.resource_pool_dict.items()):
            pool.close()
            del self.resource_pool_dict[name]

    def __enter__(self) -> ResourcePoolManager:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
