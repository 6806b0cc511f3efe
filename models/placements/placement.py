"""Placement of a process: what a worker needs to know, expanded from the runs."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import Iterable, Iterator, Sequence

from ..machines.cluster import Cluster
from ..machines.node import Node
from ..machines.node_group import ACCELERATOR
from ..record import dataclass
from .run import Run, repeats_of


@dataclass(frozen=True, slots=True)
class Placement:
    """Place of a process of a component.

    Attributes
    ----------
    rank : rank in the component, 0 to world size - 1.
    node_rank : rank of the node in the cluster.
    node_id : name of the node.
    placement_node_rank : rank of the node among the nodes of the component, in the order of its
        processes.
    local_accelerator_id : local index of the first accelerator; without isolation 0, or -1 if the
        node has no accelerators.
    accelerator_type : vendor of the node's accelerators, such as ``NV_GPU``; ``NO_ACCEL`` without
        any.
    local_rank, local_world_size : rank among the component's processes on this node, and their
        number.
    visible_accelerators : physical ids that the process shall see, in its own order.
    isolate_accelerator : True if the process sees only its own accelerators.
    local_hardware_ranks : local indices of the process's resources on its node, in its own order;
        empty if the node itself is the resource.
    node_group : label of the group of the placement.

    Other names of RLinf are properties: ``local_gpu_id``, ``cuda_visible_devices`` and
    ``isolate_gpu`` from the time when it knew GPUs alone; ``cluster_node_rank``,
    ``local_accelerator_rank`` and ``node_group_label`` in its code of today.
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

    # Names in RLinf: the first three older ones, the others those of its code of today.
    local_gpu_id = property(attrgetter("local_accelerator_id"), doc="Older name of `local_accelerator_id`.")
    cuda_visible_devices = property(attrgetter("visible_accelerators"), doc="Older name of `visible_accelerators`, for any vendor.")
    isolate_gpu = property(attrgetter("isolate_accelerator"), doc="Older name of `isolate_accelerator`.")
    cluster_node_rank = property(attrgetter("node_rank"), doc="RLinf's current name of `node_rank`.")
    local_accelerator_rank = property(attrgetter("local_accelerator_id"), doc="RLinf's current name of `local_accelerator_id`.")
    node_group_label = property(attrgetter("node_group"), doc="RLinf's current name of `node_group`.")


_View = tuple[tuple[int, ...], tuple[str, ...], int]
"""(held resources, visible ids, first accelerator), local to the node."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Processes with resources `held` on consecutive nodes; ranks continue from node to node."""

    rank: int
    node_ranks: range
    kind: str
    node_group: str
    held: tuple[tuple[int, ...], ...]


def placements(cluster: Cluster, runs: Sequence[Run], isolate_accelerator: bool = True) -> list[Placement]:
    """Return the Placement of every process of a component, in rank order."""
    blocks = list(_blocks(runs))
    sizes: Counter[int] = Counter()
    for block in blocks:
        for node_rank in block.node_ranks:
            sizes[node_rank] += len(block.held)
    order: dict[int, int] = {}
    local_ranks: Counter[int] = Counter()
    result: list[Placement] = []
    for block in blocks:
        rank = block.rank
        hides_others = isolate_accelerator and block.kind == ACCELERATOR
        for stretch, node_ranks in cluster.alike_among(block.node_ranks):
            views, vendor = _views(stretch.node, block.held, hides_others), stretch.node.accelerator_type
            for node_rank in node_ranks:
                name, size, local_rank = cluster.name(node_rank), sizes[node_rank], local_ranks[node_rank]
                position = order.setdefault(node_rank, len(order))
                for mask, visible, first in views:
                    place = (rank, node_rank, name, position, first, vendor, local_rank, size)
                    result.append(Placement(*place, visible, isolate_accelerator, mask, block.node_group))
                    rank += 1
                    local_rank += 1
                local_ranks[node_rank] = local_rank
    return result


def _blocks(runs: Sequence[Run]) -> Iterator[_Block]:
    """Yield the processes in rank order."""
    repeats = repeats_of(runs)
    if any(after.ranks.start < before.ranks.stop for before, after in zip(repeats, repeats[1:])):
        yield from _torn(runs)
        return
    for repeat in repeats:
        run = repeat.runs[0]
        resources = tuple(tuple(member.list_held(rank)) for member in repeat.runs for rank in member.ranks)
        yield _Block(run.ranks.start, repeat.node_ranks, run.kind, run.node_group, resources)


def _torn(runs: Iterable[Run]) -> Iterator[_Block]:
    """Yield a block per process, for processes in several runs.

    Its node is that of the first run. A process does not see its resources on other nodes. Source:
    ROLL, roll/distributed/executor/cluster.py, `_create_workers`.
    """
    runs_by_rank: dict[int, list[Run]] = {}
    for run in runs:
        for rank in run.ranks:
            runs_by_rank.setdefault(rank, []).append(run)
    for rank, own_runs in sorted(runs_by_rank.items(), key=lambda item: item[0]):
        resources = tuple(index for run in own_runs if run.node == own_runs[0].node for index in run.list_held(rank))
        yield _Block(rank, range(own_runs[0].node, own_runs[0].node + 1), own_runs[0].kind, own_runs[0].node_group, (resources,))


def _views(node: Node, resources_by_process: Iterable[tuple[int, ...]], hides_others: bool) -> list[_View]:
    """Return the views of processes with these resources on a node."""
    ids = tuple(accelerator.physical_id for accelerator in node.accelerators)
    if hides_others:
        return [(local, tuple(ids[index] for index in local), local[0]) for local in resources_by_process]
    return [(local, ids, 0 if ids else -1) for local in resources_by_process]
