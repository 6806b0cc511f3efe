"""Visits of a component to domains in rank order, and groups cut between them."""

from __future__ import annotations

from typing import Iterable, Iterator

from ....models.machines.cluster import Cluster
from ....models.machines.node_group import ACCELERATOR
from ....models.machines.topology import NUMA, domain, numa_masks
from ....models.placements.assignment import Assignment, seats
from ....models.problem import Problem

Visit = tuple[str, int, int]
"""Domain, node, and accelerators there, in the order of ranks."""


def torn(visits: Iterable[Visit], size: int) -> dict[int, tuple[tuple[str, int], tuple[str, int]]]:
    """Return group -> first two (domain, node), for groups in several domains."""
    crossing: dict[int, tuple[tuple[str, int], tuple[str, int]]] = {}
    position, begun = 0, ("", -1)
    for name, node, amount in visits:
        if position % size and name != begun[0]:
            crossing.setdefault(position // size, (begun, (name, node)))
        if position % size + amount >= size or not position % size:
            begun = (name, node)
        position += amount
    return crossing


def visits_of(problem: Problem, level: str, assignment: Assignment, component: str) -> Iterator[Visit]:
    """Yield the visits of a component in rank order.

    Cost grows with runs and their nodes; for NUMA domains, with accelerators.
    """
    nodes = problem.cluster.nodes
    if level == NUMA:
        for _, process_seats in seats(assignment.of(component)):
            for (node, index), kind, _ in process_seats:
                yield _numa_domain(problem.cluster, node, index, kind), node, 1
        return
    for repeat in sorted(assignment.repeats(component), key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        amount = sum(run.amount or len(run.ranks) for run in repeat.runs)
        for node in repeat.node_ranks:
            yield domain(nodes[node], level), node, amount


def _numa_domain(cluster: Cluster, node: int, index: int, kind: str) -> str:
    masks = numa_masks(cluster.nodes[node]) if kind == ACCELERATOR else ()
    return f"{next((number for number, mask in enumerate(masks) if mask >> index & 1), 0)} of {cluster.name(node)}"
