"""Random problems on racks of which many are alike."""

from __future__ import annotations

import random
from typing import Iterator

from placewright.models.component import APART, COLOCATED, EP, NEAR, REPLICA, TP, WHOLE, Component, Keep, Parallel, Relation, Spread
from placewright.models.job import WEIGHTED, Capabilities, Job, Link, Preference
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster

NAMES = ("a", "b", "c")


def racks(seed: int, most: int) -> Problem:
    """A problem on two to four racks of one to three nodes, with no more than `most` accelerators."""
    source = random.Random(seed)
    one = source.choice
    sorts = [[(one((2, 2, 4, 4)), one((0, 0, 0, 1)), one("XXY")) for _ in range(one((1, 1, 2, 3)))] for _ in range(one((1, 1, 2)))]
    nodes: list[dict[str, object]] = []
    for rack in range(source.randint(2, 4)):
        its = one(sorts)
        if sum(int(str(node["count"])) for node in nodes) + sum(count for count, _, _ in its) <= most:
            nodes += [{"count": c, "taken": t, "model": m, "rack": f"r{rack}", "nvlink_domain": f"n{rack}"} for c, t, m in its]
    if not nodes:
        nodes = [{"count": 2, "taken": 0, "model": "X", "rack": f"r{rack}"} for rack in range(2)]
    total = sum(int(str(node["count"])) for node in nodes)
    components = [_component(source, name, total) for name in NAMES[: source.randint(1, 3)]]
    if source.random() < 0.15:
        free = next((rank for rank, node in enumerate(nodes) if not node["taken"]), None)
        if free is not None:
            components.insert(0, Component("g", least=1, most=1, runs=(Run(range(1), free),)))
    names = [component.name for component in components]
    relations = (Relation(COLOCATED, ("a", "b")),) if "b" in names and source.random() < 0.15 else ()
    if len(names) > 1:
        relations = (*relations, *_relations(random.Random(-1 - seed), names))
    links = []
    for _ in range(one((0, 1, 1, 2)) if len(names) > 1 else 0):
        source_name, target = source.sample(names, 2)
        links.append(Link(source_name, target, *one(((2, 0, 1), (0, 1, 1), (0, 3, 2), (3, 1, 1)))))
    preference = Preference(WEIGHTED, {"rack": one((0, 1, 5))}) if source.random() < 0.2 else Preference()
    job = Job(tuple(components), relations, Capabilities(shares_accelerators=True), links=tuple(links), preference=preference)
    return Problem(cluster(*nodes), job)


def _relations(source: random.Random, names: list[str]) -> Iterator[Relation]:
    """Mostly nothing between two components, else that they share no rack, or that one is only where the other is."""
    if source.random() < 0.25:
        yield Relation(source.choice((APART, NEAR)), tuple(source.sample(names, 2)), level="rack")


def _component(source: random.Random, name: str, total: int) -> Component:
    one = source.choice
    parallel = Parallel(tp=one((1, 1, 1, 2, 2, 3)), pp=one((1, 1, 1, 2, 3)), ep=one((1, 1, 1, 2)))
    least = max(1, min(one((1, 1, 2, 3)), total // 3 // parallel.replica) * parallel.replica)
    most = least + one((0, 0, 0, 1, 2)) * parallel.replica
    keep = [Keep(what, one(("rack", "rack", "nvlink_domain"))) for what in (TP, EP, REPLICA) if source.random() < 0.3]
    if source.random() < 0.15:
        keep.append(Keep(WHOLE, "rack", one((1, 2))))
    spread = (Spread("rack", one((1, 2)), one((50, 75, 100))),) if source.random() < 0.2 else ()
    model = "X" if source.random() < 0.1 else ""
    return Component(
        name, least=least, most=most, parallel=parallel, keep=tuple(keep), spread=spread, traffic=one((0, 0, 1, 3)), accelerator_model=model
    )
