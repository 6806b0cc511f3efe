"""One process and where it runs: what a worker needs to know, expanded from the runs when asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Iterable, Iterator

from .cluster import Cluster
from .node import Node
from .node_group import ACCELERATOR
from .run import Run


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
    visible_accelerators : physical ids that the process shall see, in order.
    isolate_accelerator : whether the process sees only its own accelerators.
    local_hardware_ranks : local indices of the resources that it holds; empty where the node itself is the resource.
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


def placements(cluster: Cluster, runs: Iterable[Run], isolate_accelerator: bool = True) -> list[Placement]:
    """The Placement of every process of one component, in rank order."""
    blocks = list(_blocks(list(runs)))
    sizes: Counter[int] = Counter()
    for ranks, run, _ in blocks:
        sizes[run.node] += len(ranks)
    order: dict[int, int] = {}
    seen: Counter[int] = Counter()
    views: dict[tuple[int, int, bool], _Views] = {}
    result = []
    for ranks, run, held in blocks:
        node_rank = run.node
        node = cluster.nodes[node_rank]
        isolated = isolate_accelerator and run.kind == ACCELERATOR
        # Nodes that are alike share their accelerators, and runs of one shape what their processes hold.
        key = id(node.accelerators), id(held), isolated
        if key not in views:
            views[key] = _views(node, held, isolated)
        position, size = order.setdefault(node_rank, len(order)), sizes[node_rank]
        name, vendor, label, local_rank = node.name, node.accelerator_type, run.node_group, seen[node_rank]
        for rank, (local, visible, first) in zip(ranks, views[key]):
            result.append(
                Placement(
                    rank, node_rank, name, position, first, vendor, local_rank, size, visible, isolate_accelerator, local, label
                )
            )  # fmt: skip
            local_rank += 1
        seen[node_rank] = local_rank
    return result


_Held = list[tuple[int, ...]]
"""The local resources of each of some processes."""
_Block = tuple[range, Run, _Held]
"""(process ranks, a run that says where they are, what each of them holds)."""
_Views = list[tuple[tuple[int, ...], tuple[str, ...], int]]
"""(what it holds, what it sees, its first accelerator) of each of some processes."""


def _blocks(runs: list[Run]) -> Iterator[_Block]:
    """The processes in rank order, those of one run together; runs of the same shape share one list of resources."""
    if any(run.ranks.start < before.ranks.stop for before, run in zip(runs, runs[1:])):
        yield from _torn(runs)
        return
    shapes: dict[tuple[int, ...], _Held] = {}
    for run in runs:
        shape = run.first, run.each, run.step, run.pitch, len(run.ranks)
        if shape not in shapes:
            shapes[shape] = [tuple(run.held_by(rank)) for rank in run.ranks]
        yield run.ranks, run, shapes[shape]


def _torn(runs: Iterable[Run]) -> Iterator[_Block]:
    """As `_blocks`, where a process lies in several runs: one process at a time, on the node of its first run."""
    held: dict[int, list[Run]] = {}
    for run in runs:
        for rank in run.ranks:
            held.setdefault(rank, []).append(run)
    for rank, its in sorted(held.items(), key=lambda item: item[0]):
        yield range(rank, rank + 1), its[0], [tuple(index for run in its for index in run.held_by(rank))]


def _views(node: Node, held: _Held, isolated: bool) -> _Views:
    """What processes that hold these see on a node like this one."""
    ids = tuple(accelerator.physical_id for accelerator in node.accelerators)
    if isolated:
        return [(local, tuple(ids[index] for index in local), local[0]) for local in held]
    return [(local, ids, 0 if ids else -1) for local in held]
