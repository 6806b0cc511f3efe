"""The same problem, in which a component may be on several kinds of accelerators at once, as far as it is known how long it takes there."""

from __future__ import annotations

from dataclasses import replace

from ....models.machines.node_group import ACCELERATOR
from ....models.planning.question import Question
from ....models.problem import Problem
from ..asking.model_of import model_of
from ..memory.without import without_estimates


def spanning(problem: Problem, question: Question) -> Problem | None:
    """The problem with a component on several kinds wherever one has a time there; None where that is no other problem, or not all is known.

    Every plan of the problem is one of these, and takes as long. It is not known how long a component takes on several models whose times name
    models; nor what is estimated to fit where accelerators have not all as much memory.
    """
    job, workload = problem.job, problem.job.workload
    if workload is None or workload.over_kinds or len(question.kinds) < 2 or job.laying is not None:
        return None
    if workload.heeds_estimates and without_estimates(problem) is not None:
        return None
    its = [problem[name] for name in question.options if problem.kind(problem[name]) == ACCELERATOR]
    if any(model_of(problem, each) is None for each in its):
        return None
    return as_spanning(problem)


def as_spanning(problem: Problem) -> Problem:
    """The problem, of which a plan may have components on several kinds at once."""
    workload = problem.job.workload
    return problem if workload is None else replace(problem, job=replace(problem.job, workload=replace(workload, over_kinds=True)))


def as_it_spans(problem: Problem, question: Question) -> Problem:
    """The problem of which a question was asked: with components on several kinds at once where that has them so."""
    return as_spanning(problem) if any(kind.mixed for kind in question.kinds) else problem
