"""Explanation of a file, with the time of an iteration of its own ranks."""

from __future__ import annotations

from typing import Callable

from ..models.derivation import Derivation
from ..models.machines.shorthand import AsDeclared
from ..models.problem import Problem
from ..models.reading import Reading
from ..solver.explaining.demands import in_seconds
from ..solver.explaining.explain import explain as explained
from ..solver.explaining.explanation import Explanation
from .verify import verify

ITERATION = "seconds an iteration"


def explain(reading: Reading, again: Callable[[AsDeclared], Reading]) -> Explanation:
    """What the file that was read comes to; `again` reads it on other machines."""
    return explained(reading, again, verify, iteration_of)


def iteration_of(problem: Problem) -> tuple[Derivation, ...]:
    """How long an iteration of the ranks takes that the file itself gives, by its cost model; nothing where that cannot be told."""
    workload = problem.job.planning.workload
    if workload is None or not (problem.job.planning.own or any(each.runs for each in problem.components)):
        return ()
    from .baseline import own_of
    from .costs import cost_model
    from .problem import asked
    from .usage import shares

    question, model = asked(problem, workload), cost_model(workload.model)
    own = own_of(problem, question, model)
    priced, question = own.priced, own.question
    if priced is None:
        return ()
    parts = [f"{question.tasks[task]} {in_seconds(time)}" for task, time in shares(question, model, priced.design).items() if time]
    return (Derivation("", ITERATION, in_seconds(priced.nanoseconds), f"{' + '.join(parts)} (cost model {workload.model})"),)
