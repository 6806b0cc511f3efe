"""Re-placement with few moves after nodes were lost or joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
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
    """Solve a problem in a separate process, which protects the launch.

    Counts and degrees chosen by time are chosen anew; plans that the framework refuses for the
    file, if known, are excluded.
    """
    from ...planner.answer import Solver
    from ...planner.refusing import refusing
    from ...solver.sandbox.solve import solve
    from ...solver.searching.search import LIMIT
    from ...solver.session import Session

    with Session() as session:
        return Solver(partial(solve, session=session), LIMIT, session=session, refuses=refusing(reading))(problem)


@dataclass(frozen=True)
class Room:
    """Scope of a re-placement: usable nodes, and a cluster with other jobs' use as taken."""

    cluster: Cluster
    there: Collection[str]


class Replanner:
    """Repeated solver of a problem on changing nodes; `problem` covers all nodes ever known.

    Without a problem it is derived from the plan, with guesses of node locality; if only these
    prevent a placement, they are dropped.
    """

    def __init__(self, plan: Plan, problem: Problem | None, search: Search) -> None:
        self.problem = question_of(plan) if problem is None else problem
        self._guessed = problem is None
        self._search = search

    def widen(self, cluster: Cluster) -> None:
        """Set the cluster of all later problems."""
        self.problem = replace(self.problem, cluster=cluster)

    def replanned(self, before: Plan, room: Room, failure: LaunchFailed) -> tuple[Plan, Moves]:
        """Return the plan with the fewest moves in this scope, and the moves.

        Raises LaunchFailed as the function `replanned` does.
        """
        problem = replace(self.problem, cluster=room.cluster)
        try:
            plan, moved = replanned(problem, before, room.there, self._search, failure)
        except LaunchFailed:
            if not self._guessed:
                raise
            plan, moved = replanned(loosened(problem, before), before, room.there, self._search, failure)
        return replace(plan, cluster=_as_known(plan.cluster, self.problem.cluster)), moved


def replanned(problem: Problem, before: Plan, there: Collection[str], search: Search, failure: LaunchFailed) -> tuple[Plan, Moves]:
    """Return the plan with the fewest moves on the named nodes, and the moves.

    Raises LaunchFailed (PW714, with `failure` and the solver's findings) if there is none.
    """
    from ...planner.placing.placing import decided
    from ...solver.pricing.changes import near
    from ...solver.replanning.replan import moves

    lost_names = [node.name for node in problem.cluster.nodes if node.name not in there]
    if not there:
        raise given_up(failure, "no node of its cluster is left", NO_ROOM_HELP)
    try:
        question = near(problem, before, lost_names)
    except UnusableInput as problem_of_input:
        raise given_up(failure, _nothing_fits(problem.cluster, there), NO_ROOM_HELP, problem_of_input.findings) from None
    answer = search(question)
    if answer.plan is None:
        words = _nothing_fits(problem.cluster, there) if answer.verdict == IMPOSSIBLE else "no placement was found in time"
        raise given_up(failure, words, NO_ROOM_HELP, answer.findings)
    return answer.plan, moves(decided(question, answer), before, answer.plan)


def _nothing_fits(cluster: Cluster, reachable: Collection[str]) -> str:
    count, shared_nodes = len(reachable), sum(node.name in reachable and bool(node.taken) for node in cluster.nodes)
    shared_text = f", {shared_nodes} of them with accelerators of other jobs" if shared_nodes else ""
    return f"its components fit no longer on the {f'{count} nodes that are' if count > 1 else 'node that is'} left of {len(cluster.nodes)}{shared_text}"


def _as_known(cluster: Cluster, known: Cluster) -> Cluster:
    """Restore the file's own taken accelerators: current use by others is no part of a plan."""
    taken = {node.name: node.taken for node in known.nodes}
    if all(node.taken == taken[node.name] for node in cluster.nodes):
        return cluster
    return replace(cluster, nodes=tuple(replace(node, taken=taken[node.name]) for node in cluster.nodes))
