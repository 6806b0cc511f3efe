"""Families of problems beside that of `family.py`: other machines, other sizes of groups, more levels of the topology, more components.

Seeded, from 512 accelerators to 16,384 and more. What is minimised are bytes across racks, or across racks and wider domains.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Callable, Iterable, Mapping, Sequence

from placewright.models.component import APART, NEAR, REPLICA, TP, WHOLE, Component, Keep, Parallel, Pin, Relation, Spread
from placewright.models.job import Job, Link
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.problem import Problem

GIB = 1024
MIXED, ALIKE, LEVELS, OCCUPIED, MANY, ZONES = KINDS = (
    "nodes of 8 and of 12",
    "racks that are alike",
    "three levels",
    "occupied",
    "many components",
    "zones",
)


def instance(kind: str, size: int, seed: int = 1) -> Problem:
    """A problem of one of the `KINDS` on about `size` accelerators; the same seed gives the same one."""
    return _MADE[kind](size, random.Random(f"{kind} {size} {seed}"))


def _mixed(size: int, source: random.Random) -> Problem:
    """Racks of nodes of 8 and racks of nodes of 12, some of them with nodes without accelerators; groups of 3, 6, 8 and 12."""
    nodes: list[Node] = []
    while sum(len(node.accelerators) for node in nodes) < size:
        rack, height = {"rack": f"r{len({node.topology['rack'] for node in nodes})}"}, source.randint(4, 10)
        each, model, cpus = (8, "H100", 96) if source.random() < 0.55 else (12, "A100", 128)
        nodes += [_node(len(nodes) + position, each, model, 80, rack, cpus) for position in range(height)]
        if source.random() < 0.25:
            nodes += [_node(len(nodes) + position, 0, "", 0, rack, 256) for position in range(2)]
    free = {model: sum(len(node.accelerators) for node in nodes if node.accelerator_model == model) for model in ("H100", "A100")}
    components = [
        _component("actor", 0.4 * free["H100"], 8, 70, pp=2, traffic=14, accelerator_model="H100", cpus=4),
        _component("rollout", 0.42 * free["A100"], 12, 60, accelerator_model="A100", cpus=4),
        _component("critic", 0.18 * free["A100"], 6, 50, traffic=6, accelerator_model="A100"),
        _component("reference", 0.07 * size, 3, 40),
        _component("reward", 0.025 * size, 3, 30, spread=(Spread("rack", 3, 50),)),
        Component("agent", ("node",), len(nodes) // 2, len(nodes) // 2, cpus=8),
    ]
    return _problem(nodes, components, (Link("actor", "rollout", weights=28 * GIB),))


def _alike(size: int, source: random.Random) -> Problem:
    """Racks of 18 nodes of 4 that nothing tells apart."""
    racks = -(-size // 72)
    nodes = [_node(18 * rack + position, 4, "GB200", 180, {"rack": f"r{rack}"}) for rack in range(racks) for position in range(18)]
    shares = [source.uniform(0.9, 1.1) for _ in range(6)]
    amounts = [share * part * 72 * racks for share, part in zip(shares, (0.29, 0.33, 0.085, 0.067, 0.025, 0.017))]
    rollout = _component("rollout", amounts[1], 8, 100, keep=(Keep(TP, "rack"),))
    components = [
        _component("actor", amounts[0], 4, 120, pp=4, traffic=14),
        replace(rollout, least=rollout.least * 5 // 64 * 8),
        _component("critic", amounts[2], 4, 90, traffic=6),
        _component("reference", amounts[3], 4, 60),
        _component("reward", amounts[4], 2, 40, spread=(Spread("rack", 3, 40),)),
        _component("judge", amounts[5], 1, 20),
    ]
    links = Link("actor", "rollout", weights=28 * GIB), Link("actor", "reference", weights=7 * GIB)
    return _problem(nodes, components, links, (Relation(APART, ("judge", "critic"), level="rack"),))


def _levels(size: int, source: random.Random) -> Problem:
    """Zones of racks of NVLink domains of two to four nodes of 8."""
    nodes = _racks(size, source, zones=3, chassis=True)
    components = _post_training(len(nodes) * 8 * 0.8, REPLICA, source)
    return _problem(nodes, components, _LINKS)


def _zones(size: int, source: random.Random) -> Problem:
    """Two zones of racks of nodes of 8; the actor had better be in one of them, and the judge is near it."""
    nodes = _racks(size, source, zones=2)
    actor, *others = _post_training(len(nodes) * 8 * 0.78, REPLICA, source)
    actor = replace(actor, keep=(*actor.keep, Keep(WHOLE, "zone", required=False)))
    others = [replace(its, spread=(Spread("zone", 2, 60),)) if its.name == "reward" else its for its in others]
    return _problem(nodes, [actor, *others], _LINKS, (Relation(NEAR, ("judge", "actor"), level="zone"),))


def _occupied(size: int, source: random.Random) -> Problem:
    """Two fifths of the nodes are held in part by other jobs, anywhere on the node; some ranks are pinned."""
    nodes = [
        replace(node, taken=sum(1 << index for index in source.sample(range(8), source.randint(1, 7)))) if source.random() < 0.4 else node
        for node in _racks(size, source)
    ]
    free = sum(8 - node.taken.bit_count() for node in nodes)
    whole = [node.rank for node in nodes if not node.taken]
    actor, *others = _post_training(free * 0.7, REPLICA, source)
    pinned = replace(actor, pins=(Pin(range(8), (source.choice(whole),)),))
    return _problem(nodes, [pinned, *others], _LINKS)


def _many(size: int, source: random.Random) -> Problem:
    """So many components as a rack has nodes and more, most of them small, with links from one to another."""
    nodes = _racks(size, source, heights=range(8, 17))
    count = 30 if size <= 4096 else 60
    weights = [source.choice((1, 1, 1, 2, 4, 10, 20)) for _ in range(count)]
    scale = 0.83 * len(nodes) * 8 / sum(weights)
    components, links = [], []
    for number, weight in enumerate(weights):
        keep = (Keep(WHOLE, "rack", required=False),) if source.random() < 0.08 else ()
        traffic = source.choice((0, 0, 2, 14)) if source.random() < 0.6 else 0
        tp, gib = source.choice((1, 2, 4, 8, 8)), source.choice((30, 50, 70))
        components.append(_component(f"c{number}", source.uniform(0.8, 1.2) * weight * scale, tp, gib, traffic=traffic, keep=keep))
        if number > 1 and source.random() < 0.5:
            links.append(Link(f"c{source.randrange(number)}", f"c{number}", weights=source.choice((3, 14)) * GIB))
    return _problem(nodes, components, links)


_MADE: Mapping[str, Callable[[int, random.Random], Problem]] = {
    MIXED: _mixed, ALIKE: _alike, LEVELS: _levels, OCCUPIED: _occupied, MANY: _many, ZONES: _zones,
}  # fmt: skip
_LINKS = Link("actor", "rollout", weights=28 * GIB), Link("rollout", "reward", stream=64, ratio=4)


def _post_training(amount: float, kept: str, source: random.Random) -> list[Component]:
    """The usual six components on so many accelerators in all, the actor first."""
    shares = [part * source.uniform(0.9, 1.1) * amount for part in (0.385, 0.345, 0.12, 0.08, 0.04, 0.02)]
    return [
        replace(_component("actor", shares[0], 8, 70, pp=2, traffic=14), keep=(Keep(kept, "rack"),)),
        _component("rollout", shares[1], 4, 60),
        _component("critic", shares[2], 8, 60, traffic=7),
        _component("reference", shares[3], 4, 40),
        _component("reward", shares[4], 2, 30),
        _component("judge", shares[5], 8, 60),
    ]


def _component(name: str, amount: float, tp: int, gib: int, pp: int = 1, traffic: int = 0, **more: object) -> Component:
    """A component of whole replicas, at least one; replicas of several groups stay in a rack. `gib` of memory, `traffic` in GiB."""
    least = max(1, int(amount) // (tp * pp)) * tp * pp
    kept = {"keep": (Keep(REPLICA, "rack"),)} if pp > 1 else {}
    its = {**kept, **more}
    return Component(name, least=least, most=least, parallel=Parallel(tp, pp), memory=gib * GIB, traffic=traffic * GIB, **its)  # type: ignore[arg-type]


def _racks(size: int, source: random.Random, zones: int = 0, chassis: bool = False, heights: Sequence[int] = range(4, 10)) -> list[Node]:
    """Racks of nodes of 8 H100, one after the other in the zones, with their NVLink domains if they have any."""
    nodes: list[Node] = []
    rack = domain = 0
    total = -(-size // 8)
    while len(nodes) < total:
        place = {"rack": f"r{rack}"} | ({"zone": f"z{len(nodes) * zones // total}"} if zones else {})
        left = min(source.choice(heights), total - len(nodes))
        while left:
            its = min(left, source.randint(2, 4)) if chassis else left
            where = place | ({"nvlink_domain": f"d{domain}"} if chassis else {})
            nodes += [_node(len(nodes) + position, 8, "H100", 80, where) for position in range(its)]
            left, domain = left - its, domain + 1
        rack += 1
    return nodes


def _node(rank: int, each: int, model: str, gib: int, topology: Mapping[str, str], cpus: int | None = None) -> Node:
    return Node(rank, f"node-{rank}", accelerators(each, model, gib * GIB) if each else (), cpus=cpus, topology=dict(topology))


def _problem(nodes: Iterable[Node], components: Sequence[Component], links: Sequence[Link], relations: Sequence[Relation] = ()) -> Problem:
    return Problem(Cluster(tuple(nodes)), Job(tuple(components), tuple(relations), links=tuple(links)))
