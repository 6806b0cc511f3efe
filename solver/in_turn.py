"""Processes that the framework deals out to the nodes that it reserves: which these are follows from all the others."""

from __future__ import annotations

from dataclasses import replace

from ..models.answer import UNDECIDED, Answer, Solve
from ..models.findings.finding import error
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.placements.plan import Plan
from ..models.placements.sound import in_turn
from ..models.problem import Problem
from .wording import listed

TRIES = 4
"""Answers at most: the processes hold no accelerators, so the second is nearly always on as many nodes as the first."""


def dealt_out(solve: Solve) -> Solve:
    """How a problem is solved whose `in_turn` follow from the rest, given how any is."""

    def answer(problem: Problem) -> Answer:
        asked, found = problem, solve(problem)
        for _ in range(TRIES):
            if not problem.job.in_turn or found.plan is None:
                return found
            dealt = _dealt(asked, _nodes(found.plan.assignment))
            if dealt == asked:
                return found
            asked, found = dealt, solve(dealt)
        names = listed([f"`{name}`" for name in sorted(problem.job.in_turn)])
        message = f"how many nodes are used changes with where the processes of {names} are, and they with it"
        return Answer(UNDECIDED, findings=(error("PW604", "", message, help="give the ranks of some component"),), how="search")

    return answer


def as_dealt(problem: Problem, plan: Plan) -> Problem:
    """The problem whose `in_turn` are where a plan has them."""
    names = problem.job.in_turn
    components = tuple(replace(each, runs=plan.assignment.of(each.name)) if each.name in names else each for each in problem.components)
    return replace(problem, job=replace(problem.job, components=components)) if names else problem


def _nodes(assignment: Assignment) -> int:
    """How many nodes there are up to the last one of which accelerators are used."""
    used = [node for name in assignment.runs for node, kind in assignment.masks(name) if kind == ACCELERATOR]
    return max(used, default=0) + 1


def _dealt(problem: Problem, nodes: int) -> Problem:
    """The problem with these processes on so many nodes."""
    components = tuple(
        replace(each, runs=in_turn(Assignment({each.name: each.runs}).world_size(each.name), nodes))
        if each.name in problem.job.in_turn and each.runs is not None
        else each
        for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=components))
