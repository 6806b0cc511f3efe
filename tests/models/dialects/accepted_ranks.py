"""What the ranks that a file itself gives take, where its framework accepts them."""

from __future__ import annotations

from placewright.models.reading import Reading
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.verify import verify


def takes(reading: Reading) -> int | None:
    """What the ranks of a file take in which nothing is wrong, ns; None of others."""
    if reading.failed or verify(reading).errors:
        return None
    problem = reading.to_solve.problem
    assert problem is not None and problem.job.planning.workload is not None
    priced = baseline_of(problem, planning_problem(problem), cost_model(problem.job.planning.workload.model)).priced
    return priced.nanoseconds if priced is not None else None
