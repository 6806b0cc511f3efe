"""Topology domains of a component, counted from the runs of an assignment."""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping

from ..models.machines.cluster import Cluster
from ..models.machines.node import Node
from ..models.machines.node_group import NODE
from ..models.machines.topology import NODE_LEVEL, domain
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.ranks import without
from .stretches import sweep

DomainCount = tuple[str, int, int]
"""First domain or node rank, first node of the component there, number of domains."""


def common_domains(cluster: Cluster, level: str, assignment: Assignment, first: str, second: str) -> DomainCount | None:
    """Return the domains with some of both components; None without any."""
    return _compared(cluster, level, assignment, (first, second), met=True)


def first_only(cluster: Cluster, level: str, assignment: Assignment, first: str, second: str) -> DomainCount | None:
    """Return the domains with some of the first component and none of the second."""
    return _compared(cluster, level, assignment, (first, second), met=False)


def _compared(cluster: Cluster, level: str, assignment: Assignment, pair: tuple[str, str], met: bool) -> DomainCount | None:
    """Compare the domains of two components.

    Cost grows with runs and distinct kinds of nodes, not with the number of nodes.
    """
    first_nodes, second_nodes = (assignment.node_ranges(name) for name in pair)
    if level == NODE_LEVEL:
        alone = without(first_nodes, second_nodes)
        nodes = without(first_nodes, alone) if met else alone
        return (str(nodes[0].start), nodes[0].start, sum(map(len, nodes))) if nodes else None
    first, second = (_domains(cluster, level, ranges) for ranges in (first_nodes, second_nodes))
    names = [name for name in first if (name in second) == met]
    return (names[0], first[names[0]], len(names)) if names else None


def _domains(cluster: Cluster, level: str, node_ranges: tuple[range, ...]) -> dict[str, int]:
    """Return domain -> first node in the domain."""
    first_nodes: dict[str, int] = {}
    for ranges in node_ranges:
        for alike, ranks in cluster.alike_among(ranges):
            first_nodes.setdefault(domain(alike.node, level), ranks.start)
    return first_nodes


def amounts_in(cluster: Cluster, level: str, assignment: Assignment, component: str) -> Iterator[tuple[str, int, int]]:
    """Yield (domain, amount of the component, number of consecutive domains alike).

    Domains without the component are left out. The amount counts resources; a resource shared by
    several processes counts once. If nodes are the resource, the amount counts processes.
    """
    amounts: dict[str, int] = {}
    for ranks, per_node in _amounts_per_node(assignment, component):
        if level == NODE_LEVEL:
            yield str(ranks.start), per_node, len(ranks)
            continue
        for alike, part in cluster.alike_among(ranks):
            name = domain(alike.node, level)
            amounts[name] = amounts.get(name, 0) + per_node * len(part)
    yield from ((name, amount, 1) for name, amount in amounts.items())


def processes_alike(
    problem: Problem, assignment: Assignment, names: Iterable[str]
) -> Iterator[tuple[range, Node, Mapping[str, int]]]:  # fmt: skip
    """Yield (consecutive identical nodes, first of them, component -> processes per node).

    Nodes without these components are left out. A process on several nodes counts on the node of
    its first resource.
    """
    placed: list[tuple[range, tuple[str, int]]] = []
    for name in names:
        done = 0
        for repeat in assignment.repeats(name):
            # With several runs or nodes, every process is in one run (see Repeat).
            count = repeat.each_node if len(repeat) > 1 else repeat.ranks.stop - max(repeat.ranks.start, done)
            if count > 0:
                placed.append((repeat.node_ranks, (name, count)))
            done = max(done, repeat.ranks.stop)
    for ranks, entries in sweep(placed):
        counts: dict[str, int] = {}
        for name, count in entries:
            counts[name] = counts.get(name, 0) + count
        for alike, part in problem.cluster.alike_among(ranks):
            yield part, alike.node, counts


def _amounts_per_node(assignment: Assignment, component: str) -> Iterator[tuple[range, int]]:
    """Yield (consecutive nodes, amount of the component per node), ascending."""
    for ranks, repeats in sweep((repeat.node_ranks, repeat) for repeat in assignment.repeats(component)):
        masks: dict[str, int] = {}
        processes = 0
        for run in (run for repeat in repeats for run in repeat.runs):
            masks[run.kind] = masks.get(run.kind, 0) | run.mask
            processes += len(run.ranks) if run.kind == NODE else 0
        yield ranks, processes + sum(mask.bit_count() for mask in masks.values())
