"""One process and where it runs: what a worker needs to know, expanded from the runs when asked for."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterable, Iterator, Sequence

from ..machines.cluster import Cluster
from ..machines.node import Node
from ..machines.node_group import ACCELERATOR
from ..record import dataclass
from .run import Run, repeats_of


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one process of a component runs.

    Attributes
    ----------
    rank : its rank in the component, 0 to world size - 1.
    node_rank : the rank of its node in the cluster.
    node_id : the name of that node.
    placement_node_rank : the rank of that node among the nodes that the component uses, in the order of its processes.
    local_accelerator_id : local index of its first accelerator; 0 where nothing is isolated and the node has some; else -1.
    accelerator_type : vendor of the node's accelerators, such as ``NV_GPU``; ``NO_ACCEL`` without any.
    local_rank, local_world_size : its rank among the component's processes on this node, and how many these are.
    visible_accelerators : physical ids that the process shall see, in its own order.
    isolate_accelerator : whether the process sees only its own accelerators.
    local_hardware_ranks : local indices of the resources that it holds on its node, in its own order; empty where the node itself is the
        resource.
    node_group : label of the group through which it was placed.

    The names that RLinf used before and after are properties: ``local_gpu_id``, ``cuda_visible_devices`` and ``isolate_gpu``,
    when it knew GPUs alone; ``cluster_node_rank``, ``local_accelerator_rank`` and ``node_group_label`` in its code of today.
    Source of the fields: RLinf, rlinf/scheduler/placement/placement.py, class Placement.
    """

    rank: int
    node_rank: int
    node_id: str
    placement_node_rank: int
    local_accelerator_id: int
    accelerator_type: str
    local_rank: int
    local_world_size: int
    visible_accelerators: tuple[str, ...]
    isolate_accelerator: bool
    local_hardware_ranks: tuple[int, ...]
    node_group: str

    @property
    def local_gpu_id(self) -> int:
        """An older name of `local_accelerator_id`."""
        return self.local_accelerator_id

    @property
    def cuda_visible_devices(self) -> tuple[str, ...]:
        """An older name of `visible_accelerators`, whatever vendor they are of."""
        return self.visible_accelerators

    @property
    def isolate_gpu(self) -> bool:
        """An older name of `isolate_accelerator`."""
        return self.isolate_accelerator

    @property
    def cluster_node_rank(self) -> int:
        """RLinf's name of `node_rank` today."""
        return self.node_rank

    @property
    def local_accelerator_rank(self) -> int:
        """RLinf's name of `local_accelerator_id` today."""
        return self.local_accelerator_id

    @property
    def node_group_label(self) -> str:
        """RLinf's name of `node_group` today."""
        return self.node_group


_View = tuple[tuple[int, ...], tuple[str, ...], int]
"""What a process holds, what it sees, and its first accelerator: all local to its node."""


class _Draft:
    """A Placement while it is made: to set each field of a frozen object costs three times as much as all else that is done here."""

    __slots__ = Placement.__slots__

    def __init__(
        self, rank: int, node_rank: int, node_id: str, placement_node_rank: int, view: _View, accelerator_type: str,
        local_rank: int, local_world_size: int, isolate_accelerator: bool, node_group: str,
    ) -> None:  # fmt: skip
        self.rank = rank
        self.node_rank = node_rank
        self.node_id = node_id
        self.placement_node_rank = placement_node_rank
        self.local_hardware_ranks, self.visible_accelerators, self.local_accelerator_id = view
        self.accelerator_type = accelerator_type
        self.local_rank = local_rank
        self.local_world_size = local_world_size
        self.isolate_accelerator = isolate_accelerator
        self.node_group = node_group
        self.__class__ = Placement  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class _Block:
    """Processes on nodes that follow each other: `held` of each process on each of them; ranks go on from node to node."""

    rank: int
    node_ranks: range
    kind: str
    node_group: str
    held: tuple[tuple[int, ...], ...]


def placements(cluster: Cluster, runs: Sequence[Run], isolate_accelerator: bool = True) -> list[Placement]:
    """The Placement of every process of one component, in rank order."""
    blocks = list(_blocks(runs))
    sizes: Counter[int] = Counter()
    for block in blocks:
        for node_rank in block.node_ranks:
            sizes[node_rank] += len(block.held)
    order: dict[int, int] = {}
    seen: Counter[int] = Counter()
    result: list[Any] = []
    for block in blocks:
        rank = block.rank
        isolated = isolate_accelerator and block.kind == ACCELERATOR
        for alike, node_ranks in cluster.alike_among(block.node_ranks):
            views, vendor = _views(alike.node, block.held, isolated), alike.node.accelerator_type
            for node_rank in node_ranks:
                name, size, local_rank = cluster.name(node_rank), sizes[node_rank], seen[node_rank]
                position = order.setdefault(node_rank, len(order))
                for view in views:
                    result.append(
                        _Draft(rank, node_rank, name, position, view, vendor, local_rank, size, isolate_accelerator, block.node_group)
                    )
                    rank += 1
                    local_rank += 1
                seen[node_rank] = local_rank
    return result


def _blocks(runs: Sequence[Run]) -> Iterator[_Block]:
    """The processes in rank order."""
    repeats = repeats_of(runs)
    if any(after.ranks.start < before.ranks.stop for before, after in zip(repeats, repeats[1:])):
        yield from _torn(runs)
        return
    for repeat in repeats:
        run = repeat.runs[0]
        held = tuple(tuple(each.held_by(rank)) for each in repeat.runs for rank in each.ranks)
        yield _Block(run.ranks.start, repeat.node_ranks, run.kind, run.node_group, held)


def _torn(runs: Iterable[Run]) -> Iterator[_Block]:
    """As `_blocks`, where a process lies in several runs: one process at a time, on the node of its first run.

    What it holds on other nodes it does not see itself. Source: ROLL, roll/distributed/executor/cluster.py, `_create_workers`.
    """
    held: dict[int, list[Run]] = {}
    for run in runs:
        for rank in run.ranks:
            held.setdefault(rank, []).append(run)
    for rank, its in sorted(held.items(), key=lambda item: item[0]):
        resources = tuple(index for run in its if run.node == its[0].node for index in run.held_by(rank))
        yield _Block(rank, range(its[0].node, its[0].node + 1), its[0].kind, its[0].node_group, (resources,))


def _views(node: Node, held: Iterable[tuple[int, ...]], isolated: bool) -> list[_View]:
    """What processes that hold these see on a node like this one."""
    ids = tuple(accelerator.physical_id for accelerator in node.accelerators)
    if isolated:
        return [(local, tuple(ids[index] for index in local), local[0]) for local in held]
    return [(local, ids, 0 if ids else -1) for local in held]
