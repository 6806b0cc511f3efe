"""Problems of the family that are impossible, in three ways that people meet."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.component import Component
from placewright.models.machines.node_group import ACCELERATOR
from placewright.models.machines.topology import domain
from placewright.models.problem import Problem
from placewright.solver.refuting.census import CountingRow

from placing.family import GIB, SMALL, instance

CAUSES = ("too many actors", "reference pinned to small-memory nodes", "rollout needs 100 GiB")


def broken(size: int, cause: str, seed: int) -> Problem:
    """A problem of the family on a shared cluster, with one demand too many."""
    problem = instance(size, seed)
    if cause == CAUSES[0]:
        actors = 3 * problem["actor"].least
        return _with(problem, replace(problem["actor"], least=actors, most=actors))
    if cause == CAUSES[1]:
        return _with(problem, replace(problem["ref"], node_groups=(SMALL,)))
    return _with(problem, replace(problem["rollout"], memory=100 * GIB))


def can_be(size: int, seed: int) -> bool:
    """Has the cluster small-memory nodes, so that all causes can be had?"""
    problem = instance(size, seed)
    return SMALL in problem.cluster.groups and "ref" in {component.name for component in problem.components}


def certificate(problem: Problem, row: CountingRow) -> dict[str, object]:
    """A sum and all that is needed to count again, as JSON data."""
    labels: dict[int, list[str]] = {}
    for label, group in problem.cluster.groups.items():
        for rank in group.node_ranks:
            labels.setdefault(rank, []).append(label)
    nodes = [
        {
            "name": node.name, "rack": domain(node, "rack"), "free": node.free(ACCELERATOR).bit_count(),
            "memory": node.accelerator_memory or 0, "groups": labels[node.rank],
        }
        for node in problem.cluster.nodes
    ]  # fmt: skip
    components = [{"name": c.name, "amount": c.least, "memory": c.memory, "group": c.node_groups[0]} for c in problem.components]
    its = {"need": row.need, "have": row.have, "size": row.size, "unit": row.unit, "level": row.level}
    return {"nodes": nodes, "components": components, "row": {"components": [c.name for c in row.components], **its}}


def _with(problem: Problem, changed: Component) -> Problem:
    components = tuple(changed if component.name == changed.name else component for component in problem.components)
    return replace(problem, job=replace(problem.job, components=components))
