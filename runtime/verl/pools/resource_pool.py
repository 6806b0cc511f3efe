"""Pool as a list of numbers: processes per node."""

from __future__ import annotations

from typing import Iterable, Sequence

from ...refusal import refused

HELP = "give a list of how many processes each node shall have, such as [8, 8]"


class ResourcePool:
    """Processes on nodes, in order: ``[8, 8]`` is eight on each of two.

    `max_colocate_count`: number of groups that may share a seat. Raises a ValueError (PW718) for
    anything but a list. Source: verl, single_controller/base/worker_group.py.
    """

    def __init__(self, process_on_nodes: Sequence[int] | None = None, max_colocate_count: int = 10, n_gpus_per_node: int = 8) -> None:
        if isinstance(process_on_nodes, str) or not isinstance(process_on_nodes or [], Iterable):
            raise refused("PW718", "", f"a pool is asked for as {process_on_nodes!r}", HELP)
        self._store = list(process_on_nodes or [])
        self.max_colocate_count = max_colocate_count
        self.n_gpus_per_node = n_gpus_per_node

    def add_node(self, process_count: int) -> None:
        """Add a node with so many processes."""
        self._store.append(process_count)

    @property
    def world_size(self) -> int:
        """Number of processes."""
        return sum(self._store)

    def __call__(self) -> list[int]:
        """Return the number of processes per node."""
        return self._store

    @property
    def store(self) -> list[int]:
        """Number of processes per node."""
        return self._store

    def local_world_size_list(self) -> list[int]:
        """Return, per process, the number of processes on its node."""
        return [size for size in self._store for _ in range(size)]

    def local_rank_list(self) -> list[int]:
        """Return, per process, the local rank."""
        return [rank for size in self._store for rank in range(size)]


def check_pool(name: str, store: Sequence[int], max_colocate_count: int) -> None:
    """Check that a pool can be reserved.

    Raises a ValueError (PW718) otherwise.
    """
    if not store or not all(_counts(size) for size in store):
        message = f"pool `{name}` is {list(store)}: it has no place for a worker on some node" if store else f"pool `{name}` is empty"
        raise refused("PW718", name, message, HELP)
    if not _counts(max_colocate_count):
        message = f"pool `{name}` lets {max_colocate_count} groups share its places"
        raise refused("PW718", name, message, "give max_colocate_count as a whole number of at least 1")


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
