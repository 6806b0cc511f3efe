"""Compact occupancy, counted from runs: stretches of alike nodes, and domains of components."""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping, TypeVar

from ..models.component import Component
from ..models.machines.cluster import Cluster
from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR, NODE
from ..models.machines.topology import NODE_LEVEL, domain
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.ranks import without
from .wording import lowest

T = TypeVar("T")
Holding = tuple[str, str]
"""(component, kind of resource)."""
Places = tuple[tuple[int, int], ...]
"""(stretch number, bit mask of accelerators per node), ascending."""
Occupancy = tuple[range, Node, Mapping[Holding, int]]
"""(node ranks, first node, resources per component as bit masks) of a stretch."""
DomainCount = tuple[str, int, int]
"""First domain or node rank, first node of the component there, number of domains."""


def stretches(problem: Problem, assignment: Assignment, components: Iterable[Component] | None = None) -> Iterator[Occupancy]:
    """Yield the occupancy of all nodes.

    Stretches ascend. `components` defaults to all of the problem. The cost grows with runs and
    differing nodes, not with nodes.
    """
    spans: list[tuple[range, Node | tuple[Holding, int]]] = [
        (range(stretch.node.rank, stretch.stop), stretch.node) for stretch in problem.cluster.alike
    ]
    for component in problem.components if components is None else components:
        for repeat in assignment.repeats(component.name):
            spans += [(range(run.node, run.node + repeat.nodes), ((component.name, run.kind), run.mask)) for run in repeat.runs]
    for ranks, entries in sweep(spans):
        masks: dict[Holding, int] = {}
        nodes: list[Node] = []
        for entry in entries:
            if isinstance(entry, Node):
                nodes.append(entry)
            else:
                masks[entry[0]] = masks.get(entry[0], 0) | entry[1]
        yield from ((ranks, node, masks) for node in nodes)


def components_by_accelerators(occupancy: Iterable[Occupancy]) -> tuple[list[range], dict[Places, list[str]]]:
    """Return (nodes per stretch, components by used accelerators).

    Components without accelerators are left out.
    """
    nodes, places_of = list[range](), dict[str, list[tuple[int, int]]]()
    for number, (ranks, _, holdings) in enumerate(occupancy):
        nodes.append(ranks)
        for (name, kind), mask in holdings.items():
            if kind == ACCELERATOR and mask:
                places_of.setdefault(name, []).append((number, mask))
    groups: dict[Places, list[str]] = {}
    for name, places in places_of.items():
        groups.setdefault(tuple(places), []).append(name)
    return nodes, groups


def extent(first: Mapping[int, int], masks: Mapping[int, int]) -> tuple[int, int]:
    """Return the first resource rank of some resources, and the rank after the last.

    `first` maps node ranks to the first resource rank in a numbering; `masks` are not empty.
    """
    lowest_rank = min(first[node] + lowest(mask) for node, mask in masks.items())
    return lowest_rank, max(first[node] + mask.bit_length() for node, mask in masks.items())


def sweep(spans: Iterable[tuple[range, T]]) -> Iterator[tuple[range, list[T]]]:
    """Yield (consecutive nodes, items on all of them), ascending; skip uncovered nodes."""
    items = list(spans)
    starts: dict[int, list[int]] = {}
    stops: dict[int, list[int]] = {}
    for number, (ranks, _) in enumerate(items):
        starts.setdefault(ranks.start, []).append(number)
        stops.setdefault(ranks.stop, []).append(number)
    cuts = sorted({*starts, *stops})
    active: dict[int, None] = {}
    for start, stop in zip(cuts, cuts[1:]):
        for number in stops.get(start, ()):
            del active[number]
        active.update(dict.fromkeys(starts.get(start, ())))
        if active:
            yield range(start, stop), [items[number][1] for number in active]


def domains_of_first(cluster: Cluster, level: str, assignment: Assignment, pair: tuple[str, str], met: bool) -> DomainCount | None:
    """Return the domains of a component with some (`met`) or none of another.

    Cost grows with runs and distinct kinds of nodes, not with the number of nodes.
    """
    first_nodes, second_nodes = (assignment.node_ranges(name) for name in pair)
    if level == NODE_LEVEL:
        strays = without(first_nodes, second_nodes)
        nodes = without(first_nodes, strays) if met else strays
        return (str(nodes[0].start), nodes[0].start, sum(map(len, nodes))) if nodes else None
    first, second = (_domains(cluster, level, ranges) for ranges in (first_nodes, second_nodes))
    names = [name for name in first if (name in second) == met]
    return (names[0], first[names[0]], len(names)) if names else None


def _domains(cluster: Cluster, level: str, node_ranges: tuple[range, ...]) -> dict[str, int]:
    """Return domain -> first node in the domain."""
    first_nodes: dict[str, int] = {}
    for ranges in node_ranges:
        for stretch, ranks in cluster.alike_among(ranges):
            first_nodes.setdefault(domain(stretch.node, level), ranks.start)
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
        for stretch, nodes in cluster.alike_among(ranks):
            name = domain(stretch.node, level)
            amounts[name] = amounts.get(name, 0) + per_node * len(nodes)
    yield from ((name, amount, 1) for name, amount in amounts.items())


def processes_alike(
    problem: Problem, assignment: Assignment, names: Iterable[str]
) -> Iterator[tuple[range, Node, Mapping[str, int]]]:  # fmt: skip
    """Yield (consecutive identical nodes, first of them, component -> processes per node).

    Nodes without these components are left out. A process on several nodes counts on the node of
    its first resource.
    """
    spans: list[tuple[range, tuple[str, int]]] = []
    for name in names:
        next_rank = 0
        for repeat in assignment.repeats(name):
            # With several runs or nodes, every process is in one run (see Repeat).
            count = repeat.each_node if len(repeat) > 1 else repeat.ranks.stop - max(repeat.ranks.start, next_rank)
            if count > 0:
                spans.append((repeat.node_ranks, (name, count)))
            next_rank = max(next_rank, repeat.ranks.stop)
    for ranks, entries in sweep(spans):
        counts: dict[str, int] = {}
        for name, count in entries:
            counts[name] = counts.get(name, 0) + count
        for stretch, nodes in problem.cluster.alike_among(ranks):
            yield nodes, stretch.node, counts


def _amounts_per_node(assignment: Assignment, component: str) -> Iterator[tuple[range, int]]:
    """Yield (consecutive nodes, amount of the component per node), ascending."""
    for ranks, repeats in sweep((repeat.node_ranks, repeat) for repeat in assignment.repeats(component)):
        masks: dict[str, int] = {}
        processes = 0
        for run in (run for repeat in repeats for run in repeat.runs):
            masks[run.kind] = masks.get(run.kind, 0) | run.mask
            processes += len(run.ranks) if run.kind == NODE else 0
        yield ranks, processes + sum(mask.bit_count() for mask in masks.values())
