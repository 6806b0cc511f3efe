"""Small problems, in as few words as possible."""

from __future__ import annotations

from typing import Any

from placewright.models.component import (
    APART,
    COLOCATED,
    COLOCATED_OR_DISJOINT,
    DISJOINT,
    IN_ORDER,
    NEAR,
    NOT_FEWER,
    RANK_ALIGNED,
    SUBSET,
    ZERO_COPY,
    Component,
    Parallel,
    Relation,
)
from placewright.models.job import Capabilities, Job, Share
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import ACCELERATOR, NodeGroup
from placewright.models.model_cards import ModelCard, ModelUse, engine_splits
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

GIB = 1024


def node(
    rank: int,
    count: int,
    model: str = "GPU",
    gib: int | None = None,
    rack: str = "",
    taken: int = 0,
    robots: int = 0,
    cpus: int | None = None,
    memory: int | None = None,
    numa: int = 1,
    **domains: str,
) -> Node:
    """A node with `count` accelerators of `gib` GiB in `numa` NUMA domains; `domains` of further levels by the level's name."""
    devices = accelerators(count, model, None if gib is None else gib * GIB, numa=numa)
    hardware = tuple(Hardware("Franka") for _ in range(robots))
    return Node(
        rank, f"node-{rank}", devices, hardware, cpus, memory, topology={**({"rack": rack} if rack else {}), **domains}, taken=taken
    )


def cluster(*nodes: dict[str, Any], **groups: tuple[int, ...]) -> Cluster:
    """Nodes from the arguments of `node`, and groups of them by label; a group called `robots` numbers robots."""
    built = tuple(node(rank, **each) for rank, each in enumerate(nodes))
    kinds = {label: "Franka" if label == "robots" else ACCELERATOR for label in groups}
    return Cluster(built, tuple(NodeGroup(label, ranks, kinds[label]) for label, ranks in groups.items()))


def component(name: str, least: int, most: int | None = None, tp: int = 1, pp: int = 1, gib: int = 0, **more: Any) -> Component:
    """A component that asks for `least` (to `most`) accelerators."""
    return Component(name, least=least, most=least if most is None else most, parallel=Parallel(tp, pp), memory=gib * GIB, **more)


def given(name: str, *runs: Run, **more: Any) -> Component:
    """A component whose ranks are given."""
    size = sum(run.amount for run in runs)
    return Component(name, least=size, most=size, runs=runs, **more)


KINDS = {
    "together": COLOCATED,
    "apart": DISJOINT,
    "either": COLOCATED_OR_DISJOINT,
    "within": SUBSET,
    "not_fewer": NOT_FEWER,
    "away": APART,
    "near": NEAR,
    "aligned": RANK_ALIGNED,
    "in_place": ZERO_COPY,
}


def problem(
    where: Cluster,
    *components: Component,
    in_sequence: str = "",
    shares: bool = False,
    in_order: bool = False,
    crossing: bool = False,
    whole: bool = False,
    in_step: str = "",
    dealt: tuple[Share, ...] = (),
    models: dict[str, ModelUse] | None = None,
    **pairs: str,
) -> Problem:
    """A problem. `together`, `apart`, `either`, `within` and `not_fewer`... name pairs such as ``"a+b c+d@rack"``, `in_step` too, `in_sequence` components."""
    relations = [_relation(KINDS[word], pair) for word, text in pairs.items() for pair in text.split()]
    if in_sequence:
        relations.append(Relation(IN_ORDER, tuple(in_sequence.split())))
    can = Capabilities(
        shares_accelerators=shares, nodes_in_order=in_order, groups_may_cross=crossing, processes_may_cross=crossing, whole_replicas=whole
    )
    step = frozenset((one, other) for one, _, other in (pair.partition("+") for pair in in_step.split()))
    return Problem(where, Job(components, tuple(relations), can, shares=dealt, models=models or {}, in_step=step))


def _relation(kind: str, pair: str) -> Relation:
    """`a+b`, or `a+b@rack` where the relation is between domains of a level."""
    names, _, level = pair.partition("@")
    one, other = names.split("+")
    return Relation(kind, (one, other), level=level)


def heads(count: int, kv_heads: int = 0, assumed: bool = False) -> ModelUse:
    """A model of so many heads, divided as inference engines do."""
    return ModelUse("models/x", "model.path", engine_splits({}), card=ModelCard("x", count, kv_heads, assumed=assumed))


def share(component: str, amount: int, multiple: int = 1, **more: Any) -> Share:
    """So many environments for a component."""
    return Share(component, amount, multiple, "environments", "total_num_envs", "group_size" if multiple > 1 else "", **more)
