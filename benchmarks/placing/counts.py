"""An answer to a problem of the family as counts, judged and priced without placewright's own rules and objectives."""

from __future__ import annotations

from typing import Iterator, Mapping

from placewright.models.component import Component
from placewright.models.machines.node import Node
from placewright.models.placements.assignment import Assignment
from placewright.models.problem import Problem

Counts = Mapping[tuple[str, int], int]
"""(component, node rank) -> resources that it holds there."""


def counts_of(problem: Problem, assignment: Assignment) -> dict[tuple[str, int], int]:
    """The counts of an Assignment."""
    found: dict[tuple[str, int], int] = {}
    for component in problem.components:
        for (node, _), mask in assignment.masks(component.name).items():
            found[component.name, node] = found.get((component.name, node), 0) + mask.bit_count()
    return found


def racks_of(problem: Problem) -> dict[str, list[Node]]:
    """The nodes of every rack, in order."""
    found: dict[str, list[Node]] = {}
    for node in problem.cluster.nodes:
        found.setdefault(node.topology["rack"], []).append(node)
    return found


def usable(problem: Problem, component: Component) -> list[Node]:
    """The nodes that a component may use."""
    inside = problem.cluster.members(component.node_groups)
    return [node for node in problem.cluster.nodes if node.rank in inside and room(problem, component, node)]


def room(problem: Problem, component: Component, node: Node) -> int:
    """What a node has for a component, nobody else there."""
    kind = problem.kind(component)
    if (node.accelerator_memory or 0) < component.memory:
        return 0
    return node.free(kind).bit_count() if kind == "Accelerator" else node.count(kind)


def groups_in_a_rack(component: Component) -> int:
    """How many tensor parallel groups one rack may hold at most."""
    groups = component.least // component.parallel.tp
    percent = min((spread.percent for spread in component.spread), default=100)
    return max(1, -(-percent * groups // 100))


def price(problem: Problem, counts: Counts) -> int:
    """MiB across racks."""
    held: dict[tuple[str, str], int] = {}
    for (name, rank), count in counts.items():
        rack = problem.cluster.nodes[rank].topology["rack"]
        held[name, rack] = held.get((name, rack), 0) + count
    racks = {name: {rack for (its, rack), count in held.items() if its == name and count} for name, _ in held}
    total = sum(component.traffic * (len(racks[component.name]) - 1) for component in problem.components)
    for link in problem.job.links:
        total += link.weights * len(racks[link.target] - racks[link.source])
        total += link.stream * sum(
            max(0, held[link.target, rack] - link.ratio * held.get((link.source, rack), 0)) for rack in racks[link.target]
        )
    return total


def faults(problem: Problem, counts: Counts) -> Iterator[str]:
    """What is wrong with counts; nothing if they are an answer."""
    for node in problem.cluster.nodes:
        here = {name: count for (name, rank), count in counts.items() if rank == node.rank and count}
        if sum(here.values()) > max((room(problem, problem[name], node) for name in here), default=0):
            yield f"node {node.rank} holds too much"
        for name, count in here.items():
            if count % problem[name].parallel.tp or node not in usable(problem, problem[name]):
                yield f"{name} cannot be on node {node.rank} with {count}"
    for component in problem.components:
        if sum(count for (name, _), count in counts.items() if name == component.name) != component.least:
            yield f"{component.name} is not placed as asked"
        for rack, nodes in racks_of(problem).items():
            held = sum(counts.get((component.name, node.rank), 0) for node in nodes)
            if component.keep and held % component.parallel.replica:
                yield f"a replica of {component.name} leaves {rack}"
            if held > groups_in_a_rack(component) * component.parallel.tp:
                yield f"too much of {component.name} in {rack}"
