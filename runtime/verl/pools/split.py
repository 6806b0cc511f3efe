"""Pools of pools: parts of one, and several as one."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any, Iterable, Sequence

from ...refusal import kind_of, refused
from ...reserving.reservation import Reservation
from .pool import RayResourcePool
from .seat import Seat


class SubRayResourcePool(RayResourcePool):
    """Some consecutive places of another pool; `store` is that pool's own, `world_size` how many of them these are.

    `start_bundle_index` counts the places before it in the pool that was split first. It is held by that pool: closing it
    closes nothing.
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
        """How many places it has."""
        return self.subgroup_world_size

    @property
    def reservations(self) -> list[Reservation]:
        """What holds it."""
        return self.parent.reservations

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """Its places in rank order; see RayResourcePool."""
        return self.parent.seats(device_name, name)[self._first : self._first + self.subgroup_world_size]

    def close(self) -> None:
        """Leaves everything to the pool that it is part of."""


class MergedRayResourcePool(RayResourcePool):
    """The places of two pools, one after the other; each stays held by its own reservation, and closing closes both."""

    def __init__(self, first: RayResourcePool, second: RayResourcePool) -> None:
        self.merged = first, second
        super().__init__(
            first.store + second.store, first.use_gpu, f"{first.name_prefix}_{second.name_prefix}", first.max_colocate_count, first.detached,
            first.accelerator_type, on=first.on,
        )  # fmt: skip
        self.n_gpus_per_node = first.n_gpus_per_node

    @property
    def world_size(self) -> int:
        """How many places both have."""
        return sum(pool.world_size for pool in self.merged)

    @property
    def reservations(self) -> list[Reservation]:
        """What holds both, each once."""
        return list(dict.fromkeys(reservation for pool in self.merged for reservation in pool.reservations))

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """The places of both in rank order; see RayResourcePool. They are shared with the pools themselves."""
        first, second = (pool.seats(device_name, name) for pool in self.merged)
        shift = max(seat.part for seat in first) + 1
        return [*first, *(replace(seat, part=seat.part + shift, taken=seat.taken) for seat in second)]

    def close(self) -> None:
        """Closes both."""
        for pool in self.merged:
            pool.close()


def split_resource_pool(resource_pool: RayResourcePool, split_size: int | Sequence[int]) -> list[SubRayResourcePool]:
    """Consecutive parts of a pool: of one size, or of these sizes. The pool is reserved by it; a part may be split again.

    Raises a ValueError (PW718) for what is no pool and for sizes that do not sum up, and as RayResourcePool.seats.
    """
    must_be_pool(resource_pool, "`resource_pool`")
    whole = resource_pool.world_size
    if not isinstance(split_size, int) and (isinstance(split_size, str) or not _are_whole(split_size)):
        raise _unsplit(resource_pool, f"split_size must be a whole number or a list of them: it is {split_size!r}")
    if isinstance(split_size, int):
        if split_size < 1 or whole % split_size:
            raise _unsplit(resource_pool, f"split_size must be a divisor of world_size: {split_size} does not divide {whole}")
        sizes = [split_size] * (whole // split_size)
    else:
        sizes = list(split_size)
        if sum(sizes) != whole or any(size < 1 for size in sizes):
            raise _unsplit(resource_pool, f"split_size must sum up to world_size: {sizes} sums up to {sum(sizes)}, it is {whole}")
    resource_pool.seats()
    starts = accumulate([0, *sizes[:-1]])
    prefix = resource_pool.name_prefix
    return [
        SubRayResourcePool(resource_pool, start, size, f"{prefix}_split_{which}") for which, (start, size) in enumerate(zip(starts, sizes))
    ]


def merge_resource_pool(rp1: RayResourcePool, rp2: RayResourcePool) -> RayResourcePool:
    """Two pools as one: the ranks of the first before those of the second.

    Raises a ValueError (PW718) unless both are pools, agree in what every place is, and are on one cluster.
    """
    must_be_pool(rp1, "`rp1`")
    must_be_pool(rp2, "`rp2`")
    if rp1 is rp2:
        raise refused("PW718", rp1.name_prefix, f"pool `{rp1.name_prefix}` cannot be merged with itself", "give two pools")
    for name in ("use_gpu", "max_colocate_count", "n_gpus_per_node", "detached", "accelerator_type", "on"):
        one, other = getattr(rp1, name), getattr(rp2, name)
        if one != other:
            message = f"pools `{rp1.name_prefix}` and `{rp2.name_prefix}` cannot be merged: {name} is {one} and {other}"
            raise refused("PW718", rp1.name_prefix, message, f"give both the same {name}")
    return MergedRayResourcePool(rp1, rp2)


def must_be_pool(pool: object, which: str) -> None:
    """Raises a ValueError (PW718) for anything but a RayResourcePool; `which` names it."""
    if not isinstance(pool, RayResourcePool):
        message = f"{which} is {kind_of(pool)}, and must be a RayResourcePool"
        raise refused("PW718", "", message, "make it with RayResourcePool(...), or take it from a ResourcePoolManager")


def _are_whole(sizes: object) -> bool:
    return isinstance(sizes, Iterable) and all(isinstance(size, int) for size in sizes)


def _unsplit(pool: RayResourcePool, message: str) -> Any:
    return refused("PW718", pool.name_prefix, message, "give sizes that make up the pool", pool.world_size)
