"""CPUs that the processes of a plan reserve on its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping

from .placements.assignment import Assignment

if TYPE_CHECKING:
    from .placements.plan import Plan
    from .problem import Problem


def cpus_of(problem: Problem, assignment: Assignment) -> dict[str, int]:
    """component -> CPUs that are reserved for each of its processes, where there are any."""
    return {each.name: each.cpus for each in problem.components if each.cpus and assignment.of(each.name)}


def cpus_on_nodes(plan: Plan) -> Mapping[int, int]:
    """node rank -> CPUs that are reserved there; nodes without any are left out."""
    found: dict[int, int] = {}
    for name, each in plan.cpus.items():
        for node, processes in plan.assignment.processes_on(name).items():
            found[node] = found.get(node, 0) + each * processes
    return found
