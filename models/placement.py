"""One process and where it runs: what a worker needs to know, expanded from the runs when asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Iterable

from .assignment import Run, seats
from .cluster import Cluster
from .node_group import ACCELERATOR


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

    Source of the fields: RLinf, rlinf/scheduler/placement/placement.py, class Placement (there called
    cluster_node_rank, local_accelerator_rank and node_group_label).
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


def placements(cluster: Cluster, runs: Iterable[Run], isolate_accelerator: bool = True) -> list[Placement]:
    """The Placement of every process of one component, in rank order."""
    processes = list(seats(runs))
    sizes = Counter(held[0][0][0] for _, held in processes)
    order: dict[int, int] = {}
    seen: Counter[int] = Counter()
    result = []
    for rank, held in processes:
        (node_rank, _), kind, label = held[0]
        node = cluster.nodes[node_rank]
        local = tuple(index for (_, index), _, _ in held if index >= 0)
        isolated = isolate_accelerator and kind == ACCELERATOR
        visible = tuple(node.accelerators[i].physical_id for i in (local if isolated else range(len(node.accelerators))))
        first = local[0] if isolated else 0 if node.accelerators else -1
        order.setdefault(node_rank, len(order))
        result.append(
            Placement(
                rank,
                node_rank,
                node.name,
                order[node_rank],
                first,
                node.accelerator_type,
                seen[node_rank],
                sizes[node_rank],
                visible,
                isolate_accelerator,
                local,
                label,
            )  # fmt: skip
        )
        seen[node_rank] += 1
    return result
