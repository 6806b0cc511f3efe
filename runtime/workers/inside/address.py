"""Hierarchical names of workers: group, rank, and ranks of child workers."""

from __future__ import annotations

from functools import total_ordering
from typing import Sequence

SEPARATOR = ":"


@total_ordering
class WorkerAddress:
    """Name of a group plus ranks that lead to a worker: ``actor:3``, child ``actor:3:0``.

    Attributes
    ----------
    root_group_name : name of the group.
    rank_path : rank in the group, then rank among the children of that worker, and so on; empty for
        the group.
    rank : last rank of the path; 0 for the group.

    Raises ValueError for a group name with a colon. Source of the form: RLinf,
    rlinf/scheduler/manager/worker_manager.py.
    """

    def __init__(self, root_group_name: str, ranks: int | Sequence[int] = ()) -> None:
        if SEPARATOR in root_group_name:
            raise ValueError(f"the name of a group has no `{SEPARATOR}`, which divides it from the ranks: `{root_group_name}`")
        self.root_group_name = root_group_name
        self.rank_path = [ranks] if isinstance(ranks, int) else list(ranks)
        self.rank = self.rank_path[-1] if self.rank_path else 0

    @classmethod
    def from_name(cls, worker_name: str) -> WorkerAddress:
        """Parse an address. Raises ValueError if a rank is not a number."""
        group, *ranks = worker_name.split(SEPARATOR)
        return cls(group, [int(rank) for rank in ranks])

    @classmethod
    def from_parent_name_rank(cls, parent_name: str, rank: int) -> WorkerAddress:
        """Return the address of a child, by parent name and rank."""
        return cls.from_name(parent_name).get_child_address(rank)

    def get_name(self) -> str:
        """Return the address as text."""
        return SEPARATOR.join([self.root_group_name, *map(str, self.rank_path)])

    def get_parent_rank(self) -> int:
        """Return the rank of the worker that started this worker; 0 without a parent worker."""
        return self.rank_path[-2] if len(self.rank_path) > 1 else 0

    def get_parent_address(self) -> WorkerAddress | None:
        """Return the parent worker or the group; None for a group."""
        return WorkerAddress(self.root_group_name, self.rank_path[:-1]) if self.rank_path else None

    def get_child_address(self, rank: int) -> WorkerAddress:
        """Return the address of the child with this rank."""
        return WorkerAddress(self.root_group_name, [*self.rank_path, rank])

    def _key(self) -> tuple[str, tuple[int, ...]]:
        return self.root_group_name, tuple(self.rank_path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkerAddress) and self._key() == other._key()

    def __lt__(self, other: WorkerAddress) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<WorkerAddress {self.get_name()}>"
