"""Tiny problems about what is kept together: at every level of the topology, over nodes and inside them, alone and beside others."""

from __future__ import annotations

import random
from dataclasses import replace

from placewright.models.component import EP, REPLICA, TP, WHOLE, Component, Keep, Parallel
from placewright.models.machines.cluster import Cluster
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster, component, given, problem

RACKS = cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "a"}, {"count": 1, "rack": "b"}, {"count": 1, "rack": "b"})
TURNS = cluster({"count": 2, "rack": "a"}, {"count": 1, "rack": "b"}, {"count": 1, "rack": "a"}, {"count": 1, "rack": "b"})
LINKED = cluster({"count": 1, "nvlink_domain": "x"}, {"count": 1, "nvlink_domain": "x"}, {"count": 3, "nvlink_domain": "y"})
HALVES = cluster({"count": 4, "numa": 2}, {"count": 4, "numa": 2, "taken": 0b0001})
HALF = cluster({"count": 4, "numa": 2, "taken": 0b0001}, {"count": 2})


def in_domains(where: Cluster, numa: dict[int, tuple[int, ...]]) -> Cluster:
    """The same nodes, with these NUMA domains of their accelerators."""
    nodes = list(where.nodes)
    for rank, domains in numa.items():
        devices = tuple(replace(device, numa=its) for device, its in zip(nodes[rank].accelerators, domains))
        nodes[rank] = replace(nodes[rank], accelerators=devices)
    return replace(where, nodes=tuple(nodes))


KEPT_CASES: dict[str, Problem] = {
    "replica in a rack": problem(RACKS, component("a", 2, 4, pp=2, keep=(Keep(REPLICA, "rack"),)), component("b", 1)),
    "replica of tp groups in a rack": problem(RACKS, component("a", 4, tp=2, pp=2, keep=(Keep(REPLICA, "rack"),)), component("b", 1)),
    "replica in a rack, racks take turns": problem(TURNS, component("a", 2, 4, pp=2, keep=(Keep(REPLICA, "rack"),))),
    "replica in a rack, in order": problem(RACKS, component("a", 2, 4, pp=2, keep=(Keep(REPLICA, "rack"),)), in_order=True),
    "replica of three in a rack, in order": problem(
        cluster(*({"count": 1, "rack": rack} for rack in "aabbb")), component("a", 3, pp=3, keep=(Keep(REPLICA, "rack"),)), in_order=True
    ),
    "tp group over nodes": problem(LINKED, component("a", 2, 4, tp=2, keep=(Keep(TP, "nvlink_domain"),)), component("b", 1)),
    "tp group over nodes anywhere": problem(LINKED, component("a", 4, tp=2, keep=(Keep(TP, "node", required=False),))),
    "tp group over nodes, several a process": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 3, "rack": "a"}, {"count": 2, "rack": "b"}),
        component("a", 4, tp=4, per_process=2, keep=(Keep(TP, "rack"),)),
    ),
    "ep group in a rack": problem(TURNS, Component("a", least=2, most=4, parallel=Parallel(1, ep=2), keep=(Keep(EP, "rack"),))),
    "replica in a node": problem(RACKS, component("a", 2, 4, pp=2, keep=(Keep(REPLICA, "node"),)), component("b", 1)),
    "replica in a rack and ep group in a node": problem(
        RACKS,
        Component("a", least=4, most=4, parallel=Parallel(1, 4, ep=2), keep=(Keep(REPLICA, "rack"), Keep(EP, "node"))),
    ),
    "tp group in a NUMA domain": problem(HALVES, component("a", 2, 4, tp=2, keep=(Keep(TP, "numa"),)), component("b", 1)),
    "NUMA domains and whole nodes": problem(
        cluster({"count": 4, "numa": 2, "taken": 0b0001}, {"count": 3}),
        component("a", 2, tp=2, keep=(Keep(TP, "numa"),)),
        component("b", 2, tp=2),
    ),
    "NUMA domains in one cell": problem(
        cluster({"count": 2, "numa": 2}, {"count": 3, "numa": 2}), component("a", 2, 4, tp=2, keep=(Keep(TP, "numa"),)), component("b", 1)
    ),
    "NUMA domains beside a range": problem(HALF, component("a", 2, tp=2, keep=(Keep(TP, "numa"),)), component("b", 1, 2, contiguous=True)),
    "NUMA domains, sizes that are no chain": problem(
        cluster({"count": 6, "numa": 2}),
        component("a", 3, tp=3, keep=(Keep(TP, "numa"),)),
        component("b", 2, 4, tp=2, keep=(Keep(TP, "numa"),)),
    ),
    "NUMA domains and whole nodes in one cell": problem(
        cluster({"count": 4, "numa": 2}, {"count": 2, "numa": 1}, {"count": 4, "numa": 2}, {"count": 1}, pair=(0, 2)),
        component("a", 2, tp=2, keep=(Keep(TP, "numa"),)),
        component("b", 4, tp=4),
    ),
    "colocated, one in NUMA domains": problem(
        cluster({"count": 4, "numa": 2}, {"count": 1}),
        component("a", 4, tp=4),
        component("b", 4, tp=2, keep=(Keep(TP, "numa"),)),
        together="b+a",
    ),
    "NUMA domains in a range": problem(HALF, component("a", 2, 4, tp=2, contiguous=True, keep=(Keep(TP, "numa"),))),
    "tp 3 and tp 4 in one cell": problem(cluster({"count": 4}, {"count": 3}), component("a", 3, tp=3), component("b", 4, tp=4)),
    "component in one rack": problem(RACKS, component("a", 1, 4, keep=(Keep(WHOLE, "rack"),)), component("b", 1)),
    "component in two racks": problem(
        cluster(*({"count": 1, "rack": rack} for rack in "abc"), {"count": 2, "rack": "c"}),
        component("a", 3, keep=(Keep(WHOLE, "rack", 2),)),
    ),
    "component in one node": problem(RACKS, component("a", 1, 2, keep=(Keep(WHOLE, "node"),)), component("b", 2)),
    "component in two nodes": problem(RACKS, component("a", 2, 4, keep=(Keep(WHOLE, "node", 2),))),
    "component of known size in one node": problem(RACKS, component("a", 2, keep=(Keep(WHOLE, "node"),)), component("b", 2)),
    "component in one NUMA domain": problem(HALVES, component("a", 2, keep=(Keep(WHOLE, "numa"),)), component("b", 1)),
    "colocated with different keeps": problem(
        TURNS,
        component("a", 2, 4, pp=2, keep=(Keep(REPLICA, "rack"),)),
        component("b", 2, 4, keep=(Keep(WHOLE, "rack", 2),)),
        together="b+a",
    ),
    "range with replicas in a rack": problem(
        TURNS, component("a", 2, 4, pp=2, contiguous=True, keep=(Keep(REPLICA, "rack"),)), component("b", 1)
    ),
    "strided range with groups in a rack": problem(
        cluster({"count": 4, "rack": "a"}, {"count": 2, "rack": "b"}),
        component("a", 4, tp=2, contiguous=True, stride=2, keep=(Keep(TP, "rack"),)),
    ),
    "range in one rack": problem(RACKS, component("a", 2, 3, contiguous=True, keep=(Keep(WHOLE, "rack"),))),
    "given, replicas in racks": problem(
        RACKS,
        given("a", Run(range(2), 0), Run(range(2, 3), 2), Run(range(3, 4), 3)),
        component("b", 4, pp=2, keep=(Keep(REPLICA, "rack"),)),
        together="b+a",
    ),
    "given, replicas over racks": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}),
        given("a", Run(range(1), 0), Run(range(1, 2), 1)),
        component("b", 2, pp=2, keep=(Keep(REPLICA, "rack"),)),
        together="b+a",
    ),
    "given, kept": problem(
        RACKS,
        given("a", Run(range(1), 0), Run(range(1, 2), 2), parallel=Parallel(1, 2), keep=(Keep(REPLICA, "rack"),)),
        component("b", 1),
    ),
    "given, groups inside NUMA domains": problem(
        HALF, given("a", Run(range(2), 0, first=2)), component("b", 2, tp=2, keep=(Keep(TP, "numa"),)), together="b+a"
    ),
    "given, groups in NUMA domains": problem(
        HALF, given("a", Run(range(2), 0, first=1)), component("b", 2, tp=2, keep=(Keep(TP, "numa"),)), together="b+a"
    ),
    "strided range over racks": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 4, "rack": "b"}),
        component("a", 4, tp=2, contiguous=True, stride=2, keep=(Keep(TP, "rack"),)),
    ),
    "tp groups in NUMA domains of odd size": problem(
        cluster({"count": 6, "numa": 2}), component("a", 4, 6, tp=2, keep=(Keep(TP, "numa"),)), component("b", 1)
    ),
    "NUMA domains and larger groups of whole nodes": problem(
        in_domains(cluster({"count": 4}, {"count": 4}), {0: (0, 0, 0, 1), 1: (0, 1, 1, 1)}),
        component("a", 4, tp=2, per_process=2, keep=(Keep(TP, "numa"),)),
        component("b", 4, tp=4),
    ),
    "NUMA domains by turns": problem(
        in_domains(cluster({"count": 4}, {"count": 1}), {0: (0, 1, 0, 1)}),
        component("a", 4, tp=2, keep=(Keep(TP, "numa"),)),
        component("b", 1),
    ),
    "NUMA domains of four and of one": problem(
        in_domains(cluster({"count": 5}, {"count": 2}), {0: (0, 0, 0, 0, 1)}),
        component("a", 3, tp=3, keep=(Keep(TP, "numa"),)),
        component("b", 2, tp=2, keep=(Keep(TP, "numa"),)),
    ),
    "NUMA domains of two and of one": problem(
        cluster({"count": 3, "numa": 2}), component("a", 2, tp=2, keep=(Keep(TP, "numa"),)), component("b", 1)
    ),
    "replica in a rack, racks of single ones take turns": problem(
        cluster(*({"count": 1, "rack": rack} for rack in "abab")), component("a", 2, 4, pp=2, keep=(Keep(REPLICA, "rack"),))
    ),
    "tp 3 and tp 4 in one cell of two nodes": problem(
        cluster({"count": 4}, {"count": 4}), component("a", 3, tp=3), component("b", 4, tp=4)
    ),
    "excluded from a cell": problem(
        cluster({"count": 3}, {"count": 2}, {"count": 2}), component("a", 2, tp=2), component("b", 1, excluded=(1, 2))
    ),
}


def with_keeps(source: random.Random, found: Problem) -> Problem:
    """The same problem where some of its components must be kept together, on nodes with NUMA domains, sometimes with nodes in order."""
    nodes = {node.rank: tuple(source.choice([0, 1]) for _ in node.accelerators) for node in found.cluster.nodes if source.random() < 0.3}
    components = []
    for each in found.components:
        keeps = [
            Keep(what, source.choice(["rack", "rack", "node", "numa"]), source.choice([1, 1, 2]) if what == WHOLE else 1)
            for what in source.sample([TP, EP, REPLICA, WHOLE], source.choice([0, 1, 1, 2]))
        ]
        components.append(replace(each, keep=tuple(keeps)) if each.runs is None or source.random() < 0.3 else each)
    can = replace(found.job.capabilities, nodes_in_order=source.random() < 0.2)
    job = replace(found.job, components=tuple(components), capabilities=can)
    return replace(found, cluster=in_domains(found.cluster, nodes), job=job)
