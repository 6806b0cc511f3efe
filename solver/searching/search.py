"""Solve a problem: a verified plan, or the reason for its absence."""

from __future__ import annotations

from functools import partial
from typing import Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.findings.finding import Finding, error
from ...models.findings.wording import plural
from ...models.part import given_part
from ...models.placements.plan import VERIFIED, Plan
from ...models.problem import Problem
from ...models.reserved import cpus_of
from ..check import check
from ..given import check_explicit
from ..session import Session
from ..unchecked import unchecked
from ..unsearched import unsupported
from .choices import best_first
from .progress import Incumbents, OnProgress, silent
from .standing import ChoiceState, Search, WrongAnswer, errors

__all__ = ["LIMIT", "SEED", "WrongAnswer", "solve"]

SEED = 1
LIMIT = 10.0


def solve(
    problem: Problem, limit: float = LIMIT, seed: int = SEED, on_progress: OnProgress = silent, session: Session | None = None
) -> Answer:
    """Place all hinted components.

    Parameters
    ----------
    limit : total seconds of metered work: the same answer on any machine.
    seed : the same problem and seed give the same plan, in any process.
    on_progress : callback for every better answer and bound (see progress.py).
    session : decides if a solver may be loaded; None allows it. Raises SearchNeeded if not.
    """
    session = session or Session()
    solve_again = partial(solve, session=session)
    search = Search(problem, seed, on_progress, solve_again, session)
    if faults := errors(check_explicit(problem)):
        return Answer(IMPOSSIBLE, findings=faults, how="given")
    if not problem.hinted:
        explicit_assignment = problem.given()
        plan = Plan(problem.cluster, explicit_assignment, VERIFIED, seconds=search.seconds, cpus=cpus_of(problem, explicit_assignment))
        return Answer(VERIFIED, plan, how="given", unchecked=tuple(unchecked(problem, plan.assignment)))
    if refused := unsupported(problem):
        from ..refuting.contradicted import find_contradiction

        contradiction = find_contradiction(problem)
        return (
            Answer(IMPOSSIBLE, findings=(contradiction,), how="given")
            if contradiction
            else Answer(UNDECIDED, findings=refused, how="given")
        )
    # Explicit ranks exclude some choices of degrees.
    alternatives = [alternative for alternative in problem.alternatives() if not errors(check(given_part(alternative), problem.given()))]
    stands, bound = best_first(alternatives, search, limit)
    best = min((standing for standing in stands if standing.assignment), key=lambda standing: standing.objective, default=None)
    if best is None or best.assignment is None:
        if all(standing.refuted for standing in stands) and len(stands) == len(alternatives):
            if not problem.explained:
                return Answer(IMPOSSIBLE, findings=(error("PW601", "", "impossible"),), how=stands[0].how)
            proof = _proof(stands)
            if proof:
                on_progress(Incumbents(None, 0, search.seconds, refuted=True))
            from ..refuting.impossible import impossible

            why = impossible(alternatives, solve_again, proof, session)
            return Answer(IMPOSSIBLE if why.code == "PW601" else UNDECIDED, findings=(why,), how=stands[0].how)
        return Answer(UNDECIDED, findings=(_undecided(limit),), how="search")
    plan = best.plan(bound)
    on_progress(Incumbents(plan, bound, search.seconds))
    return Answer(plan.status, plan, how=best.how, unchecked=tuple(unchecked(problem, best.assignment)))


def _proof(stands: Sequence[ChoiceState]) -> str:
    """Return the independent refutation of all choices, in words; "" without proof."""
    searched = [standing for standing in stands if standing.how != "counting"]
    if not all(standing.tried is not None or standing.agreed for standing in searched):
        return ""
    if any(standing.agreed for standing in searched):
        return "a second, separately written model agrees"
    tried = sum(standing.tried or 0 for standing in searched)
    return f"{tried:,} {plural('way', tried)} tried, all that there are"


def _undecided(limit: float) -> Finding:
    message = f"undecided: {limit:g} s of search found no placement, and no proof that there is none"
    return error("PW602", "", message, help=f"give it longer: `--limit {limit * 4:g}`")
