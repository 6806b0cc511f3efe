"""Roles as components: which worker holds which devices of which node.

Source: ROLL, roll/distributed/scheduler/resource_manager.py, `allocate_placement_group`: the ids are cut into workers in the order in
which they are written; workers without devices go to the nodes in turn.
"""

from __future__ import annotations

from typing import Iterator, Sequence

from ....component import UNBOUNDED, Component
from ....machines.cluster import Cluster
from ....machines.node_group import CLUSTER_LABEL, NODE_LABEL
from ....notation.mapping import runs_of
from ....notation.placement_text import Pair
from ....placements.assignment import Run, Seat, compress
from ....placements.in_turn import in_turn
from ..mapping.ids import Ids
from .parts import ROLE_OF
from .role import Role


def placed(role: Role, cluster: Cluster, per_node: int, nodes: int) -> Component:
    """The component of a role that ROLL starts; without runs where its workers are not known. `nodes` are reserved for all roles."""
    spans = {"name": role.span}
    groups = (CLUSTER_LABEL,) if role.ids is not None or role.mapping is not None else (NODE_LABEL,)
    if role.mapping is not None:
        spans["placement"] = role.place
    if role.per_worker_span is not None:
        spans["per_process"] = role.per_worker_span
    each = max(role.num_gpus_per_worker, 1)
    what = ROLE_OF.get(role.part, "")
    if not role.readable or role.world_size is None:
        return Component(role.key, groups, per_process=each, spans={**spans, "placement": role.place}, role=what)
    if role.ids is None:
        spans |= {"placement": role.world_span or role.span, "amount": role.world_span or role.span}
        runs: Sequence[Run] = in_turn(role.world_size, min(nodes, len(cluster.nodes)))
        return Component(role.key, groups, role.world_size, role.world_size, runs=runs, spans=spans, role=what)
    count = role.ids.count
    runs = runs_on(role.ids, each, cluster, per_node)
    return Component(role.key, groups, count, count, each, runs=runs, spans=spans, role=what)


def opened(role: Role) -> Component:
    """The component of a role whose place is left to solve: its hints say how large it is."""
    return Component(
        role.key,
        (CLUSTER_LABEL,),
        1,
        UNBOUNDED,
        max(role.num_gpus_per_worker, 1),
        spans={"name": role.span},
        role=ROLE_OF.get(role.part, ""),
    )


def runs_on(ids: Ids, each: int, cluster: Cluster, per_node: int) -> Sequence[Run]:
    """The runs of workers that hold `each` of the ids, in their order; the cost grows with progressions where they are solid."""
    if all(part.step == 1 and len(part) % each == 0 for part in ids.parts):
        return runs_of([Pair(part.start, part.stop, len(part) // each) for part in ids.parts], cluster, (CLUSTER_LABEL,))
    return compress(_workers(ids, each, per_node))


def _workers(ids: Ids, each: int, per_node: int) -> Iterator[tuple[int, list[Seat]]]:
    held: list[Seat] = []
    rank = 0
    for id_ in ids:
        held.append(divmod(id_, per_node))
        if len(held) == each:
            yield rank, held
            held, rank = [], rank + 1
