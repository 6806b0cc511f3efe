"""The plan after nodes were lost or have joined: the same question on the nodes that are there, near the plan that ran."""

from __future__ import annotations

from typing import Callable, Collection

from ...models.answer import IMPOSSIBLE, Answer
from ...models.findings.finding import UnusableInput
from ...models.machines.cluster import Cluster
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ..failure import LaunchFailed
from .given_up import NO_ROOM_HELP, given_up

Search = Callable[[Problem], Answer]


def searched(problem: Problem) -> Answer:
    """The answer of a search in a process of its own, so that nothing that it does can harm the launch."""
    from ...solver.sandbox.solve import solve

    return solve(problem)


def replanned(problem: Problem, before: Plan, there: Collection[str], search: Search, failure: LaunchFailed) -> tuple[Plan, Moves]:
    """The plan with the fewest moves on the nodes of these names, and what moved.

    Raises LaunchFailed (PW714, beside `failure` and what the solver says) where there is none.
    """
    from ...solver.pricing.near import near
    from ...solver.replanning.replan import moves

    gone = [node.name for node in problem.cluster.nodes if node.name not in there]
    if not there:
        raise given_up(failure, "no node of its cluster is left", NO_ROOM_HELP)
    try:
        question = near(problem, before, gone)
    except UnusableInput as problem_of_input:
        raise given_up(failure, _nothing_fits(problem.cluster, there), NO_ROOM_HELP, problem_of_input.findings) from None
    answer = search(question)
    if answer.plan is None:
        words = _nothing_fits(problem.cluster, there) if answer.verdict == IMPOSSIBLE else "no placement was found in time"
        raise given_up(failure, words, NO_ROOM_HELP, answer.findings)
    return answer.plan, moves(question, before, answer.plan)


def _nothing_fits(cluster: Cluster, there: Collection[str]) -> str:
    left = len(there)
    return f"its components fit no longer on the {f'{left} nodes that are' if left > 1 else 'node that is'} left of {len(cluster.nodes)}"
