"""A family of problems that look like real post-training jobs on shared clusters: seeded, from 8 accelerators to 16384 and more.

Racks of 4 to 18 nodes with 8 accelerators each, H100, A800 or 4090, a third of the larger racks mixed; some nodes are partly held
by other jobs; a few nodes carry robots. Eight components ask together for a share of what is free: an actor in replicas of two nodes
of one rack, rollout, critic, reference, reward (at most 60 % of it in one rack), environments on the small accelerators, a judge over
two nodes of one rack, and a process for each robot. What is minimised are bytes across racks, in arbitrary units of MiB.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from placewright.models.component import REPLICA, Component, Keep, Parallel, Spread
from placewright.models.job import Job, Link
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import ACCELERATOR, NodeGroup
from placewright.models.problem import Problem

EACH = 8
"""Accelerators of a node."""
MODELS = {"H100": 80, "A800": 80, "4090": 24}
"""Model -> GiB of memory."""
LARGE, SMALL, ANY, ROBOTS = "large", "small", "any", "robots"
"""The node groups: H100 and A800, 4090, all with accelerators, those with robots."""
ROBOT = "Arm"
GIB = 1024


@dataclass(frozen=True)
class Asked:
    """A component of the family before it has its amount: the share of the free accelerators of its group that it takes."""

    name: str
    tp: int
    share: float
    gib: int
    pp: int = 1
    traffic: int = 0
    group: str = LARGE
    percent: int = 100


def instance(size: int, seed: int = 1, occupied: float = 0.15, fill: float = 0.82) -> Problem:
    """A problem on `size` accelerators.

    Parameters
    ----------
    seed : the same one gives the same problem.
    occupied : share of the nodes that other jobs hold in part (0 to 7 accelerators stay free).
    fill : share of the free accelerators that the job asks for; on a single node it asks for most of it.
    """
    nodes = _nodes(size, seed, occupied)
    groups = _groups(nodes)
    cluster = Cluster(tuple(nodes), tuple(NodeGroup(label, ranks, ROBOT if label == ROBOTS else ACCELERATOR) for label, ranks in groups))
    free = {label: sum(EACH - nodes[rank].taken.bit_count() for rank in ranks) for label, ranks in groups if label != ROBOTS}
    components = [its for asked in _asked(size, bool(free.get(SMALL))) if (its := _component(asked, fill if size > EACH else 1.0, free))]
    robots = max(1, size // EACH // 128)
    components.append(Component("robotctl", (ROBOTS,), robots, robots))
    names = {component.name for component in components}
    links = (Link("actor", "rollout", weights=6), Link("rollout", "env", stream=1))
    return Problem(cluster, Job(tuple(components), links=tuple(link for link in links if {link.source, link.target} <= names)))


def _nodes(size: int, seed: int, occupied: float) -> list[Node]:
    source, count = random.Random(1000 * seed + size), max(1, size // EACH)
    nodes: list[Node] = []
    rack = 0
    while len(nodes) < count:
        height = min(source.choice([4, 8, 12, 16, 18]), count - len(nodes))
        model = source.choices(list(MODELS), [0.55, 0.28, 0.17])[0]
        model = "H100" if rack == 0 else model
        mixed = model != "4090" and rack > 0 and source.random() < 0.35 and height >= 8
        for position in range(height):
            its = "4090" if mixed and position >= height * 3 // 4 else model
            free = source.choice(range(EACH)) if size > EACH and source.random() < occupied else EACH
            rank, taken = len(nodes), (1 << EACH - free) - 1
            devices = accelerators(EACH, its, MODELS[its] * GIB)
            nodes.append(Node(rank, f"node-{rank}", devices, topology={"rack": f"r{rack}"}, taken=taken))
        rack += 1
    for number in range(max(1, count // 128)):
        place = {"rack": f"r{rack + number // 4}"}
        nodes.append(Node(len(nodes), f"node-{len(nodes)}", hardware=(Hardware(ROBOT),), topology=place))
    return nodes


def _groups(nodes: list[Node]) -> list[tuple[str, tuple[int, ...]]]:
    """(label, node ranks) of every group that has a node."""
    models = {LARGE: {"H100", "A800"}, SMALL: {"4090"}, ANY: set(MODELS)}
    found = [(label, tuple(node.rank for node in nodes if node.accelerator_model in its)) for label, its in models.items()]
    found.append((ROBOTS, tuple(node.rank for node in nodes if node.hardware)))
    return [(label, ranks) for label, ranks in found if ranks]


def _asked(size: int, small: bool) -> list[Asked]:
    if size == EACH:
        return [
            Asked("actor", 4, 0.5, 60, traffic=10),
            Asked("rollout", 2, 0.25, 60),
            Asked("reward", 1, 0.125, 20, traffic=3, group=ANY),
        ]
    rollout = 4 if size >= 512 else 2
    found = [
        Asked("actor", 8, 0.30, 70, 2 if size >= 256 else 1, traffic=10),
        Asked("rollout", rollout, 0.34, 60),
        Asked("critic", 4, 0.12, 60, traffic=5),
        Asked("ref", 4, 0.08, 50, traffic=3),
        Asked("reward", 2, 0.06, 22, traffic=3, group=ANY, percent=60),
        Asked("env", 1, 0.9, 10, group=SMALL) if small else Asked("env", 1, 0.05, 10),
    ]
    return [*found, Asked("judge", 8, 0.05, 70, 2, traffic=4)] if size >= 512 else found


def _component(asked: Asked, fill: float, free: dict[str, int]) -> Component | None:
    """The component with whole replicas for its share; None if that is not even one."""
    wanted, replica = fill * asked.share * free[SMALL if asked.group == SMALL else LARGE], asked.tp * asked.pp
    amount = int(wanted) // replica * replica
    if asked.group == SMALL or asked.tp == 1:
        amount = max(1, int(wanted))
    if not amount:
        return None
    keep = (Keep(REPLICA, "rack"),) if asked.pp > 1 else ()
    spread = (Spread("rack", percent=asked.percent),) if asked.percent < 100 else ()
    return Component(
        asked.name, (asked.group,), amount, amount, parallel=Parallel(asked.tp, asked.pp), memory=asked.gib * GIB, keep=keep,
        spread=spread, traffic=asked.traffic,
    )  # fmt: skip
