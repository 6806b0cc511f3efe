"""The question that the placement of an answer answers: where counts and degrees were chosen by time, with these decided."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import Answer
from ....models.component import SUBSET
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...in_turn import as_dealt


def decided(problem: Problem, answer: Answer) -> Problem:
    """What is asked of where things are, with what was chosen before that; the problem itself where nothing was chosen by time.

    So whatever asks about a placement (why there, what moved, what else) asks about this design alone. Where the dialect lays out what
    was chosen, or it may lie over what is given or around it, there is nothing to search: its ranks are given.
    """
    placed, plan = chosen(problem, answer), answer.plan
    if plan is None or not (_is_over_given(placed, answer) or _lies_around(placed)):
        return placed
    components = tuple(
        replace(
            each,
            parallel=problem.divided(each.name, plan.degrees.get(each.name, each.parallel)),
            runs=plan.assignment.of(each.name),
        )
        for each in placed.components
    )
    return replace(placed, job=replace(placed.job, components=components, laying=None, accepted={}, choices={}, overlaps={}))


def _lies_around(problem: Problem) -> bool:
    if not problem.related(SUBSET):
        return False
    from .around import lies_around

    return lies_around(problem)


def _is_over_given(placed: Problem, answer: Answer) -> bool:
    """Was it laid out by the dialect, or may what was chosen lie over what is given?"""
    return answer.planned is not None and (placed.job.laying is not None or bool(placed.job.overlaps))


def chosen(problem: Problem, answer: Answer) -> Problem:
    """The problem with what was chosen by time decided, whoever lays that out: where it lies is open, as it was before."""
    planned, plan = answer.planned, answer.plan
    problem = as_dealt(problem, plan) if plan is not None else problem
    if planned is None or plan is None:
        return problem
    from .placing import placing

    placed = placing(problem, planned.question, planned.best.design)
    workload = problem.job.workload
    if workload is not None and workload.bandwidth:  # by which placements are still weighed (see answering.py)
        placed = replace(placed, job=replace(placed.job, workload=Workload(bandwidth=workload.bandwidth)))
    return placed
