"""The problem in which components may lie inside others."""

from __future__ import annotations

from dataclasses import replace

from ....models.component import SUBSET
from ....models.planning.workload import RLINF, Workload
from ....models.problem import Problem


def with_nesting(problem: Problem) -> Problem | None:
    """The problem with `nested: true`; None where its file says that already, or what its framework or its cost model takes is no matter of that."""
    job, workload = problem.job, problem.job.workload
    if workload is None or workload.nested or "nested" in workload.spans or workload.model == RLINF:
        return None
    if job.ways or job.laying is not None or job.overlaps or job.capabilities.shares_accelerators:
        return None
    return replace(problem, job=replace(job, workload=replace(workload, nested=True)))


def forbids_nesting(workload: Workload) -> bool:
    """Does the file say `nested: false`? Then only what is demanded or given so lies inside others."""
    return not workload.nested and "nested" in workload.spans


def led_inside(problem: Problem) -> frozenset[tuple[str, str]]:
    """Pairs of which the first is to lie inside the second, though nothing demands it: it goes along with that one."""
    found = (each.components for each in problem.related(SUBSET) if each.proposed)
    return frozenset((inner, outer) for inner, outer in found)
