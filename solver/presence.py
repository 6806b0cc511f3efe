"""Which domains of the topology hold some of a component, and how much: read off the runs of an answer."""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping, TypeVar

from ..models.machines.cluster import Cluster
from ..models.machines.node import Node
from ..models.machines.node_group import NODE
from ..models.machines.topology import NODE_LEVEL, domain
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.ranks import without

T = TypeVar("T")

Found = tuple[str, int, int]
"""(the first of some domains, or the rank of the first node, the first node of the component in it, how many there are)."""


def in_common(cluster: Cluster, level: str, assignment: Assignment, one: str, other: str) -> Found | None:
    """The domains that hold some of both components."""
    return _compared(cluster, level, assignment, (one, other), met=True)


def without_other(cluster: Cluster, level: str, assignment: Assignment, one: str, other: str) -> Found | None:
    """The domains that hold some of the first component and none of the second."""
    return _compared(cluster, level, assignment, (one, other), met=False)


def _compared(cluster: Cluster, level: str, assignment: Assignment, pair: tuple[str, str], met: bool) -> Found | None:
    """Cost grows with runs and with nodes that differ, not with nodes."""
    one, other = (assignment.node_ranges(name) for name in pair)
    if level == NODE_LEVEL:
        alone = without(one, other)
        nodes = without(one, alone) if met else alone
        return (str(nodes[0].start), nodes[0].start, sum(map(len, nodes))) if nodes else None
    first, second = (_domains(cluster, level, ranges) for ranges in (one, other))
    names = [name for name in first if (name in second) == met]
    return (names[0], first[names[0]], len(names)) if names else None


def _domains(cluster: Cluster, level: str, there: tuple[range, ...]) -> dict[str, int]:
    """Domain -> the first of the nodes that is in it."""
    found: dict[str, int] = {}
    for ranges in there:
        for alike, ranks in cluster.alike_among(ranges):
            found.setdefault(domain(alike.node, level), ranks.start)
    return found


def amounts_in(cluster: Cluster, level: str, assignment: Assignment, component: str) -> Iterator[tuple[str, int, int]]:
    """(a domain, how much of the component it holds, how many domains on end hold as much), only those that hold some.

    What is counted are resources, one that processes share counted once; processes where nodes are the resource.
    """
    found: dict[str, int] = {}
    for ranks, each in _each_node(assignment, component):
        if level == NODE_LEVEL:
            yield str(ranks.start), each, len(ranks)
            continue
        for alike, part in cluster.alike_among(ranks):
            name = domain(alike.node, level)
            found[name] = found.get(name, 0) + each * len(part)
    yield from ((name, amount, 1) for name, amount in found.items())


def processes_alike(
    problem: Problem, assignment: Assignment, names: Iterable[str]
) -> Iterator[tuple[range, Node, Mapping[str, int]]]:  # fmt: skip
    """(nodes on end that are alike, the first of them, component -> its processes on each), where there are some of these components.

    A process that lies on several nodes is where its first resource is.
    """
    placed: list[tuple[range, tuple[str, int]]] = []
    for name in names:
        done = 0
        for repeat in assignment.repeats(name):
            # Where there are several runs or nodes, every process lies in one run (see Repeat).
            count = repeat.each_node if len(repeat) > 1 else repeat.ranks.stop - max(repeat.ranks.start, done)
            if count > 0:
                placed.append((repeat.node_ranks, (name, count)))
            done = max(done, repeat.ranks.stop)
    for ranks, its in _sweep(placed):
        counts: dict[str, int] = {}
        for name, count in its:
            counts[name] = counts.get(name, 0) + count
        for alike, part in problem.cluster.alike_among(ranks):
            yield part, alike.node, counts


def _each_node(assignment: Assignment, component: str) -> Iterator[tuple[range, int]]:
    """(nodes on end, how much of the component is on each), ascending."""
    for ranks, repeats in _sweep((repeat.node_ranks, repeat) for repeat in assignment.repeats(component)):
        masks: dict[str, int] = {}
        processes = 0
        for run in (run for repeat in repeats for run in repeat.runs):
            masks[run.kind] = masks.get(run.kind, 0) | run.mask
            processes += len(run.ranks) if run.kind == NODE else 0
        yield ranks, processes + sum(mask.bit_count() for mask in masks.values())


def _sweep(covered: Iterable[tuple[range, T]]) -> Iterator[tuple[range, list[T]]]:
    """(nodes on end, what covers each of them), ascending, without those that nothing covers."""
    items = list(covered)
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, (ranks, _) in enumerate(items):
        begins.setdefault(ranks.start, []).append(number)
        ends.setdefault(ranks.stop, []).append(number)
    cuts = sorted({*begins, *ends})
    there: dict[int, None] = {}
    for start, stop in zip(cuts, cuts[1:]):
        for number in ends.get(start, ()):
            del there[number]
        there.update(dict.fromkeys(begins.get(start, ())))
        if there:
            yield range(start, stop), [items[number][1] for number in there]
