"""The plan after nodes were lost or have joined: the same question on the nodes that are there, near the plan that ran."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Collection

from ...models.answer import IMPOSSIBLE, Answer
from ...models.findings.finding import UnusableInput
from ...models.machines.cluster import Cluster
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ..failure import LaunchFailed
from .given_up import NO_ROOM_HELP, given_up
from .question import loosened, question_of

Search = Callable[[Problem], Answer]


def searched(problem: Problem, reading: Reading | None = None) -> Answer:
    """The answer of a search in a process of its own, so that nothing that it does can harm the launch.

    Counts and degrees that were chosen by time are chosen anew for what there is; what the framework refuses in the file that was
    read, if that is known, is no answer.
    """
    from ...planner.answer import Solver
    from ...planner.refusing import refusing
    from ...solver.sandbox.solve import solve
    from ...solver.searching.search import LIMIT

    return Solver(solve, LIMIT, refuses=refusing(reading))(problem)


@dataclass(frozen=True)
class Room:
    """Where a launch may be placed anew: the names of the nodes that are `there`, in a cluster that counts as taken what others hold."""

    cluster: Cluster
    there: Collection[str]


class Replanner:
    """Answers one question again and again, as its nodes come and go; `problem` is the question on all that were ever known.

    Without a problem it is what the plan alone tells, with guesses of what must stay on one node; where only these stand in the
    way, it is asked without them.
    """

    def __init__(self, plan: Plan, problem: Problem | None, search: Search) -> None:
        self.problem = question_of(plan) if problem is None else problem
        self._guessed = problem is None
        self._search = search

    def widen(self, cluster: Cluster) -> None:
        """From now on the question is asked on this cluster."""
        self.problem = replace(self.problem, cluster=cluster)

    def replanned(self, before: Plan, room: Room, failure: LaunchFailed) -> tuple[Plan, Moves]:
        """The plan with the fewest moves in this room, and what moved. Raises LaunchFailed as the function `replanned` does."""
        problem = replace(self.problem, cluster=room.cluster)
        try:
            plan, moved = replanned(problem, before, room.there, self._search, failure)
        except LaunchFailed:
            if not self._guessed:
                raise
            plan, moved = replanned(loosened(problem, before), before, room.there, self._search, failure)
        return replace(plan, cluster=_as_known(plan.cluster, self.problem.cluster)), moved


def replanned(problem: Problem, before: Plan, there: Collection[str], search: Search, failure: LaunchFailed) -> tuple[Plan, Moves]:
    """The plan with the fewest moves on the nodes of these names, and what moved.

    Raises LaunchFailed (PW714, beside `failure` and what the solver says) where there is none.
    """
    from ...planner.placing.placing import decided
    from ...solver.pricing.changes import near
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
    return answer.plan, moves(decided(question, answer), before, answer.plan)


def _nothing_fits(cluster: Cluster, there: Collection[str]) -> str:
    left, held = len(there), sum(node.name in there and bool(node.taken) for node in cluster.nodes)
    others = f", {held} of them with accelerators of other jobs" if held else ""
    return f"its components fit no longer on the {f'{left} nodes that are' if left > 1 else 'node that is'} left of {len(cluster.nodes)}{others}"


def _as_known(cluster: Cluster, known: Cluster) -> Cluster:
    """The cluster with what its own file counts as taken: what others hold today is no part of a plan."""
    taken = {node.name: node.taken for node in known.nodes}
    if all(node.taken == taken[node.name] for node in cluster.nodes):
        return cluster
    return replace(cluster, nodes=tuple(replace(node, taken=taken[node.name]) for node in cluster.nodes))
