"""Pools made of pools: parts of a pool, and several pools merged."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any, Iterable, Sequence

from ....failure import kind_of, refused
from ....reserving.reservation import Reservation
from .pool import RayResourcePool, Seat


class SubRayResourcePool(RayResourcePool):
    """Consecutive seats of another pool.

    `store` is that of the whole pool, `world_size` the number of these seats. `start_bundle_index`
    counts the seats before them in the pool that was split first. The whole pool holds the
    reservation: closing this pool releases nothing.
    """

    def __init__(self, parent: RayResourcePool, start_bundle_index: int, subgroup_world_size: int, name_prefix: str | None = None) -> None:
        super().__init__(
            parent.store, parent.use_gpu, name_prefix, parent.max_colocate_count, parent.detached, parent.accelerator_type, on=parent.on
        )
        self.parent = parent
        self._first = start_bundle_index
        self.start_bundle_index = getattr(parent, "start_bundle_index", 0) + start_bundle_index
        self.subgroup_world_size = subgroup_world_size
        self.n_gpus_per_node = parent.n_gpus_per_node

    @property
    def world_size(self) -> int:
        """Number of seats of this part."""
        return self.subgroup_world_size

    @property
    def reservations(self) -> list[Reservation]:
        """Reservations of the whole pool."""
        return self.parent.reservations

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """Return the seats in rank order; see RayResourcePool."""
        return self.parent.seats(device_name, name)[self._first : self._first + self.subgroup_world_size]

    def close(self) -> None:
        """Do nothing: the whole pool holds the reservation."""


class MergedRayResourcePool(RayResourcePool):
    """Seats of two pools in sequence; both keep their reservation, and `close` closes both."""

    def __init__(self, first: RayResourcePool, second: RayResourcePool) -> None:
        self.merged = first, second
        super().__init__(
            first.store + second.store, first.use_gpu, f"{first.name_prefix}_{second.name_prefix}", first.max_colocate_count, first.detached,
            first.accelerator_type, on=first.on,
        )  # fmt: skip
        self.n_gpus_per_node = first.n_gpus_per_node

    @property
    def world_size(self) -> int:
        """Number of seats of both pools."""
        return sum(pool.world_size for pool in self.merged)

    @property
    def reservations(self) -> list[Reservation]:
        """Reservations of both pools, without duplicates."""
        return list(dict.fromkeys(reservation for pool in self.merged for reservation in pool.reservations))

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """Return the seats of both pools in rank order; see RayResourcePool.

        They share their occupancy with the original pools.
        """
        first, second = (pool.seats(device_name, name) for pool in self.merged)
        shift = max(seat.part for seat in first) + 1
        return [*first, *(replace(seat, part=seat.part + shift, taken=seat.taken) for seat in second)]

    def close(self) -> None:
        """Close both pools."""
        for pool in self.merged:
            pool.close()


def split_resource_pool(resource_pool: RayResourcePool, split_size: int | Sequence[int]) -> list[SubRayResourcePool]:
    """Split a pool into consecutive parts of one size, or of the given sizes.

    Reserves the pool; a part may be split again. Raises a ValueError (PW718) for anything but a
    pool and for sizes that do not sum up, and as RayResourcePool.seats.
    """
    must_be_pool(resource_pool, "`resource_pool`")
    whole = resource_pool.world_size
    if not isinstance(split_size, int) and (isinstance(split_size, str) or not _are_whole(split_size)):
        raise _split_error(resource_pool, f"split_size must be a whole number or a list of them: it is {split_size!r}")
    if isinstance(split_size, int):
        if split_size < 1 or whole % split_size:
            raise _split_error(resource_pool, f"split_size must be a divisor of world_size: {split_size} does not divide {whole}")
        sizes = [split_size] * (whole // split_size)
    else:
        sizes = list(split_size)
        if sum(sizes) != whole or any(size < 1 for size in sizes):
            raise _split_error(resource_pool, f"split_size must sum up to world_size: {sizes} sums up to {sum(sizes)}, it is {whole}")
    resource_pool.seats()
    starts = accumulate([0, *sizes[:-1]])
    prefix = resource_pool.name_prefix
    return [
        SubRayResourcePool(resource_pool, start, size, f"{prefix}_split_{number}")
        for number, (start, size) in enumerate(zip(starts, sizes))
    ]


def merge_resource_pool(rp1: RayResourcePool, rp2: RayResourcePool) -> RayResourcePool:
    """Merge two pools: the ranks of the first before those of the second.

    Raises a ValueError (PW718) unless both are pools, have equal seat properties, and are on one
    cluster.
    """
    must_be_pool(rp1, "`rp1`")
    must_be_pool(rp2, "`rp2`")
    if rp1 is rp2:
        raise refused("PW718", rp1.name_prefix, f"pool `{rp1.name_prefix}` cannot be merged with itself", "give two pools")
    for name in ("use_gpu", "max_colocate_count", "n_gpus_per_node", "detached", "accelerator_type", "on"):
        first, second = getattr(rp1, name), getattr(rp2, name)
        if first != second:
            message = f"pools `{rp1.name_prefix}` and `{rp2.name_prefix}` cannot be merged: {name} is {first} and {second}"
            raise refused("PW718", rp1.name_prefix, message, f"give both the same {name}")
    return MergedRayResourcePool(rp1, rp2)


def must_be_pool(pool: object, which: str) -> None:
    """Check that `pool` is a RayResourcePool; `which` names the argument.

    Raises a ValueError (PW718) otherwise.
    """
    if not isinstance(pool, RayResourcePool):
        message = f"{which} is {kind_of(pool)}, and must be a RayResourcePool"
        raise refused("PW718", "", message, "make it with RayResourcePool(...), or take it from a ResourcePoolManager")


def _are_whole(sizes: object) -> bool:
    return isinstance(sizes, Iterable) and all(isinstance(size, int) for size in sizes)


def _split_error(pool: RayResourcePool, message: str) -> Any:
    return refused("PW718", pool.name_prefix, message, "give sizes that make up the pool", pool.world_size)
