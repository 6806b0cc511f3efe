"""Names of workers as paths: of a group, of a rank in it, and of what that rank has started itself."""

from __future__ import annotations

from functools import total_ordering
from typing import Sequence

SEPARATOR = ":"


@total_ordering
class WorkerAddress:
    """The name of a group and the ranks that lead to a worker: ``actor:3``, and its own child of rank 0 is ``actor:3:0``.

    Attributes
    ----------
    root_group_name : the name of the group.
    rank_path : the rank in the group, then that among the children of that worker, and so on; empty for the group itself.
    rank : the last of these; 0 for the group itself.

    Raises ValueError for a group's name with a colon.
    Source of the form: RLinf, rlinf/scheduler/manager/worker_manager.py.
    """

    def __init__(self, root_group_name: str, ranks: int | Sequence[int] = ()) -> None:
        if SEPARATOR in root_group_name:
            raise ValueError(f"the name of a group has no `{SEPARATOR}`, which divides it from the ranks: `{root_group_name}`")
        self.root_group_name = root_group_name
        self.rank_path = [ranks] if isinstance(ranks, int) else list(ranks)
        self.rank = self.rank_path[-1] if self.rank_path else 0

    @classmethod
    def from_name(cls, worker_name: str) -> WorkerAddress:
        """The address that is written so. Raises ValueError if its ranks are no numbers."""
        group, *ranks = worker_name.split(SEPARATOR)
        return cls(group, [int(rank) for rank in ranks])

    @classmethod
    def from_parent_name_rank(cls, parent_name: str, rank: int) -> WorkerAddress:
        """The child of this rank of what is called so."""
        return cls.from_name(parent_name).get_child_address(rank)

    def get_name(self) -> str:
        """As it is written."""
        return SEPARATOR.join([self.root_group_name, *map(str, self.rank_path)])

    def get_parent_rank(self) -> int:
        """The rank of the worker that started this one; 0 if none did."""
        return self.rank_path[-2] if len(self.rank_path) > 1 else 0

    def get_parent_address(self) -> WorkerAddress | None:
        """The worker that started this one, or its group; None for a group."""
        return WorkerAddress(self.root_group_name, self.rank_path[:-1]) if self.rank_path else None

    def get_child_address(self, rank: int) -> WorkerAddress:
        """What the worker calls its child of this rank."""
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
