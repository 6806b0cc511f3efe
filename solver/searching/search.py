"""From a problem to a verified Plan, or to the reason why there is none."""

from __future__ import annotations

from functools import partial
from typing import Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.findings.finding import Finding, error
from ...models.findings.wording import plural
from ...models.part import explicit
from ...models.placements.plan import VERIFIED, Plan
from ...models.problem import Problem
from ...models.reserved import cpus_of
from ..check import check
from ..given import check_given
from ..session import Session
from ..unchecked import unchecked
from ..unsearched import not_searched
from .choices import best_first
from .progress import OnProgress, Progress, silent
from .standing import Search, Standing, WrongAnswer, errors

__all__ = ["LIMIT", "SEED", "WrongAnswer", "solve"]

SEED = 1
LIMIT = 10.0


def solve(
    problem: Problem, limit: float = LIMIT, seed: int = SEED, on_progress: OnProgress = silent, session: Session | None = None
) -> Answer:
    """Place everything that is not given.

    Parameters
    ----------
    limit : how long to search in all, in seconds of metered work: the same answer on any machine.
    seed : the same problem and seed give the same plan, in any process.
    on_progress : told of every better answer and bound while the search runs (see progress.py).
    session : it says whether a solver may be loaded; None if one may. Raises SearchNeeded if not.
    """
    session = session or Session()
    again = partial(solve, session=session)
    search = Search(problem, seed, on_progress, again, session)
    if faults := errors(check_given(problem)):
        return Answer(IMPOSSIBLE, findings=faults, how="given")
    if not problem.hinted:
        given = problem.given()
        plan = Plan(problem.cluster, given, VERIFIED, seconds=search.seconds, cpus=cpus_of(problem, given))
        return Answer(VERIFIED, plan, how="given", unchecked=tuple(unchecked(problem, plan.assignment)))
    if refused := not_searched(problem):
        from ..refuting.contradicted import contradicted

        both = contradicted(problem)
        return Answer(IMPOSSIBLE, findings=(both,), how="given") if both else Answer(UNDECIDED, findings=refused, how="given")
    # Ranks that are given rule out some choices of degrees.
    alternatives = [each for each in problem.alternatives() if not errors(check(explicit(each), problem.given()))]
    stands, bound = best_first(alternatives, search, limit)
    best = min((each for each in stands if each.assignment), key=lambda each: each.objective, default=None)
    if best is None or best.assignment is None:
        if all(each.refuted for each in stands) and len(stands) == len(alternatives):
            if not problem.explained:
                return Answer(IMPOSSIBLE, findings=(error("PW601", "", "impossible"),), how=stands[0].how)
            proof = _proof(stands)
            if proof:
                on_progress(Progress(None, 0, search.seconds, refuted=True))
            from ..refuting.impossible import impossible

            why = impossible(alternatives, again, proof, session)
            return Answer(IMPOSSIBLE if why.code == "PW601" else UNDECIDED, findings=(why,), how=stands[0].how)
        return Answer(UNDECIDED, findings=(_undecided(limit),), how="search")
    plan = best.plan(bound)
    on_progress(Progress(plan, bound, search.seconds))
    return Answer(plan.status, plan, how=best.how, unchecked=tuple(unchecked(problem, best.assignment)))


def _proof(stands: Sequence[Standing]) -> str:
    """How all choices were refuted beside the search, in words; "" if one of them was not."""
    searched = [each for each in stands if each.how != "counting"]
    if not all(each.tried is not None or each.agreed for each in searched):
        return ""
    if any(each.agreed for each in searched):
        return "a second, separately written model agrees"
    tried = sum(each.tried or 0 for each in searched)
    return f"{tried:,} {plural('way', tried)} tried, all that there are"


def _undecided(limit: float) -> Finding:
    message = f"undecided: {limit:g} s of search found no placement, and no proof that there is none"
    return error("PW602", "", message, help=f"give it longer: `--limit {limit * 4:g}`")
