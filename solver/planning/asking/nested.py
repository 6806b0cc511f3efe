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
    shares = job.capabilities.shares_accelerators and not job.ways
    if job.laying is not None or job.overlaps or shares or _all_are_arranged(problem):
        return None
    return replace(problem, job=replace(job, workload=replace(workload, nested=True)))


def _all_are_arranged(problem: Problem) -> bool:
    """Does the framework say of all that is planned whether it shares accelerators as a whole or not at all?"""
    named = [{name for pair in (*way.together, *way.apart) for name in pair} for way in problem.job.ways]
    timed = [each.name for each in problem.components if each.timed and each.runs is None]
    return bool(named) and all(name in its for its in named for name in timed)


def forbids_nesting(workload: Workload) -> bool:
    """Does the file say `nested: false`? Then only what is demanded or given so lies inside others."""
    return not workload.nested and "nested" in workload.spans


def led_inside(problem: Problem) -> frozenset[tuple[str, str]]:
    """Pairs of which the first is to lie inside the second, though nothing demands it: it goes along with that one."""
    found = (each.components for each in problem.related(SUBSET) if each.proposed)
    return frozenset((inner, outer) for inner, outer in found)
