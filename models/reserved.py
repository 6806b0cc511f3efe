"""CPUs reserved by the processes of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping

from .placements.assignment import Assignment

if TYPE_CHECKING:
    from .placements.plan import Plan
    from .problem import Problem


def cpus_of(problem: Problem, assignment: Assignment) -> dict[str, int]:
    """Return component -> CPUs reserved per process, without zeros."""
    return {component.name: component.cpus for component in problem.components if component.cpus and assignment.of(component.name)}


def cpus_on_nodes(plan: Plan) -> Mapping[int, int]:
    """Return node rank -> reserved CPUs, without zeros."""
    cpus_by_node: dict[int, int] = {}
    for name, cpus in plan.cpus.items():
        for node, processes in plan.assignment.processes_on(name).items():
            cpus_by_node[node] = cpus_by_node.get(node, 0) + cpus * processes
    return cpus_by_node
