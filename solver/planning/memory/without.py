"""A problem that is planned as if nobody had estimated any memory."""

from __future__ import annotations

from dataclasses import replace

from ....models.problem import Problem


def without_estimates(problem: Problem) -> Problem | None:
    """The problem, to be planned without its estimates; None if there are none that planning goes by."""
    workload = problem.job.workload
    if workload is None or not any(each.estimate and not (each.memory or each.offloaded) for each in problem.components):
        return None
    return replace(problem, job=replace(problem.job, workload=replace(workload, heeds_estimates=False)))
