"""A pool as a list of numbers: how many processes on each of its nodes."""

from __future__ import annotations

from typing import Sequence


class ResourcePool:
    """Processes on nodes, in order: ``[8, 8]`` is eight on each of two.

    `max_colocate_count`: how many groups may share each of its places. Source: verl, single_controller/base/worker_group.py.
    """

    def __init__(self, process_on_nodes: Sequence[int] | None = None, max_colocate_count: int = 10, n_gpus_per_node: int = 8) -> None:
        self._store = list(process_on_nodes or [])
        self.max_colocate_count = max_colocate_count
        self.n_gpus_per_node = n_gpus_per_node

    def add_node(self, process_count: int) -> None:
        """One more node, with so many processes."""
        self._store.append(process_count)

    @property
    def world_size(self) -> int:
        """How many processes there are in all."""
        return sum(self._store)

    def __call__(self) -> list[int]:
        """The list of numbers."""
        return self._store

    @property
    def store(self) -> list[int]:
        """The list of numbers."""
        return self._store

    def local_world_size_list(self) -> list[int]:
        """For each process, how many are on its node."""
        return [size for size in self._store for _ in range(size)]

    def local_rank_list(self) -> list[int]:
        """For each process, its place on its node."""
        return [rank for size in self._store for rank in range(size)]
