"""Small problems, in as few words as possible."""

from __future__ import annotations

from typing import Any

from placewright.models.accelerators import accelerators
from placewright.models.assignment import Run
from placewright.models.cluster import Cluster, Hardware, Node
from placewright.models.component import COLOCATED, DISJOINT, Component, Parallel, Relation
from placewright.models.job import Capabilities, Job
from placewright.models.node_group import ACCELERATOR, NodeGroup
from placewright.models.problem import Problem

GIB = 1024


def node(rank: int, count: int, model: str = "GPU", gib: int | None = None, rack: str = "", taken: int = 0, robots: int = 0) -> Node:
    """A node with `count` accelerators of `gib` GiB."""
    devices = accelerators(count, model, None if gib is None else gib * GIB)
    hardware = tuple(Hardware("Franka") for _ in range(robots))
    return Node(rank, f"node-{rank}", devices, hardware, topology={"rack": rack} if rack else {}, taken=taken)


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


def problem(
    where: Cluster, *components: Component, together: str = "", apart: str = "", shares: bool = False, in_order: bool = False
) -> Problem:
    """A problem; `together` and `apart` name pairs such as ``"a+b c+d"``."""
    relations = [
        Relation(kind, (pair.split("+")[0], pair.split("+")[1]))
        for kind, text in ((COLOCATED, together), (DISJOINT, apart))
        for pair in text.split()
    ]
    return Problem(where, Job(components, tuple(relations), Capabilities(shares_accelerators=shares, nodes_in_order=in_order)))
