"""What a plan takes for granted of how an iteration goes, where nobody says it."""

from __future__ import annotations

from typing import Iterator

from ....models.machines.node_group import ACCELERATOR
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ...wording import listed
from ..asking.taking_turns import overlapping
from ..choosing.dividing import refused_degrees
from .never_shared import never_shared


def assumed(problem: Problem, question: Question) -> Iterator[str]:
    """One sentence each: what its dialect takes for granted, which degrees a model refuses, who never shares, who waits for nobody, and that time does not matter."""
    workload = problem.job.workload
    if workload is None:
        return
    yield from workload.assumed
    yield from refused_degrees(problem)
    yield from never_shared(problem, question)
    yield from _left_alone(problem, question)
    if any(overlapping(problem)):
        yield "beside ranks that overlap in part it is not looked for what becomes of the plan where a hint is wrong"
    if workload.flows:
        yield from _beside(question)
    if workload.aim != SECONDS and workload.budget.nanoseconds is None:
        yield "the fewest accelerators however long an iteration takes: no `budget` of seconds is said"


def _left_alone(problem: Problem, question: Question) -> Iterator[str]:
    """Who keeps its ranks to itself, though its framework lets others use them: of a plan with others on them nobody knows what it takes."""
    if not problem.job.capabilities.shares_accelerators:
        return
    given = [each for each in problem.components if each.runs is not None and each.timed is None and each.name not in question.options]
    names = [each.name for each in given if problem.kind(each) == ACCELERATOR and each.name not in problem.job.overlaps]
    if names:
        have, them = ("has", "its ranks stay") if len(names) == 1 else ("have", "their ranks stay")
        yield f"{listed(names)}: {them}, and nobody else is put onto them, since {'it' if len(names) == 1 else 'they'} {have} no `seconds`"


def _beside(question: Question) -> Iterator[str]:
    """Who works at any time, since no chain names it."""
    named = {task for edge in question.edges for task in (edge.earlier, edge.later)}
    unnamed = [task for task in range(len(question.tasks)) if task not in named]
    if not unnamed or len(question.tasks) < 2:
        return
    whole = {name for name, its in question.tasks_of.items() if set(its) <= set(unnamed)}
    names = dict.fromkeys(its.component if its.component in whole else str(its) for its in (question.tasks[task] for task in unnamed))
    why = "no chain of `workflow` names " + ("it" if len(names) == 1 else "them") if named else "no `workflow` says what works on what"
    yield f"{listed(list(names))}: {'waits' if len(names) == 1 else 'wait'} for nobody, since {why}"
