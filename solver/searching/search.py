"""From a problem to a verified Plan, or to the reason why there is none."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Iterable, Iterator

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.findings.finding import Finding, Severity, error
from ...models.placements.assignment import Assignment
from ...models.placements.plan import FEASIBLE, OPTIMAL, VERIFIED, Plan, Term
from ...models.problem import Problem
from ..check import check
from ..layout.layout import Bundle, Count, Layout, Values
from ..objectives import OBJECTIVES, terms, weights
from ..refuting.certificate import counting_row
from ..refuting.impossible import impossible
from ..unchecked import unchecked
from ..verify import check_given
from .expand import ExpansionFailed, expand
from .greedy import greedy
from .not_searched import not_searched
from .permission import about_to_search
from .progress import OnProgress, Progress, silent
from .thinned import refutable, thinned

SEED = 1
LIMIT = 10.0


class WrongAnswer(Exception):
    """A search gave an answer that the rules refuse, or another objective than the answer has: a fault of ours."""


@dataclass(frozen=True)
class _Found:
    """The best answer to one choice of parallel degrees; `bound` is proved for that choice."""

    problem: Problem
    assignment: Assignment | None
    terms: tuple[Term, ...]
    bound: int
    how: str
    refuted: bool = False

    @property
    def objective(self) -> int:
        return sum(term.weight * term.value for term in self.terms)


def solve(problem: Problem, limit: float = LIMIT, seed: int = SEED, on_progress: OnProgress = silent) -> Answer:
    """Place everything that is not given.

    Parameters
    ----------
    limit : how long to search, in CP-SAT's deterministic time (about seconds), for each choice of parallel degrees.
    seed : the same problem and seed give the same plan, in any process.
    on_progress : told of every better answer and bound while the search runs (see progress.py).
    """
    began = time.perf_counter()
    if faults := _errors(check_given(problem)):
        return Answer(IMPOSSIBLE, findings=faults, how="given")
    if not problem.hinted:
        plan = Plan(problem.cluster, problem.given(), VERIFIED, seconds=time.perf_counter() - began)
        return Answer(VERIFIED, plan, how="given", unchecked=tuple(unchecked(problem, plan.assignment)))
    if refused := not_searched(problem):
        return Answer(UNDECIDED, findings=refused, how="given")
    # Ranks that are given rule out some choices of degrees.
    alternatives = [each for each in problem.alternatives() if not _errors(check(each.explicit, problem.given()))]
    found = _best_first(alternatives, limit, seed)
    best = min((each for each in found if each.assignment), key=lambda each: each.objective, default=None)
    if best is None or best.assignment is None:
        if all(each.refuted for each in found):
            return Answer(
                IMPOSSIBLE,
                findings=(impossible(alternatives, lambda changed: _is_possible(changed, limit, seed)),),
                how=found[0].how,
            )
        return Answer(UNDECIDED, findings=(_undecided(limit),), how="search")
    bound = min(each.bound for each in found if not each.refuted)
    status = OPTIMAL if best.objective == bound else FEASIBLE
    seconds = time.perf_counter() - began
    degrees = {name: best.problem[name].parallel for name in problem.job.choices}
    plan = Plan(problem.cluster, best.assignment, status, best.terms, bound, seed, seconds, degrees=degrees)
    on_progress(Progress(plan, bound, seconds))
    return Answer(status, plan, how=best.how, unchecked=tuple(unchecked(problem, best.assignment)))


def _is_possible(problem: Problem, limit: float, seed: int) -> bool:
    return not not_searched(problem) and _one(problem, limit, seed).assignment is not None


def _best_first(alternatives: Iterable[Problem], limit: float, seed: int) -> list[_Found]:
    """What each choice of degrees gives; ends early when no later choice can be better than what was found."""
    problems = list(alternatives)
    floor = min(_bound(problem, _bounds(Layout(problem))) for problem in problems)
    found: list[_Found] = []
    for problem in problems:
        found.append(_one(problem, limit, seed))
        if found[-1].assignment and found[-1].objective == floor:
            break
    return [*found, *(_Found(problem, None, (), floor, "bound") for problem in problems[len(found) :])]


def _one(problem: Problem, limit: float, seed: int) -> _Found:
    """One choice of degrees: a greedy answer that meets the bound, a counting row against it, or a search."""
    layout = Layout(problem)
    bounds = _bounds(layout)
    values = greedy(layout)
    guess = None if values is None else _judged(problem, layout, values, bounds)
    if guess and guess.objective == guess.bound:
        return guess
    if not guess and counting_row(problem):
        return _Found(problem, None, (), 0, "counting", refuted=True)
    found = _searched(problem, bounds, limit, seed, values if guess else None)
    if guess and (found.assignment is None or found.objective > guess.objective):
        return replace(guess, bound=max(guess.bound, found.bound))
    return found


def _judged(problem: Problem, layout: Layout, values: Values, bounds: list[int]) -> _Found | None:
    """The greedy answer, if it passes every check."""
    try:
        assignment = expand(layout, values)
    except ExpansionFailed:  # a guess that does not fit; the search knows better
        return None
    if _errors(check(problem, assignment)):
        return None
    return _Found(problem, assignment, terms(problem, assignment, bounds), _bound(problem, bounds), "greedy")


def _searched(problem: Problem, bounds: list[int], limit: float, seed: int, start: Values | None) -> _Found:
    about_to_search()
    from ..model.compile import compile
    from ..model.engine import Status, run

    variables = compile(problem)
    if start:
        variables.hint({key: start[other] for key, other in _same(variables.layout, start)})
    outcome = run(variables, limit, seed)
    floor, some = _bound(problem, bounds), thinned(variables.layout)
    if outcome.status is Status.INFEASIBLE:
        # One "infeasible" is no proof (or-tools 5274, 5295): it must say so again without presolve.
        again = run(compile(problem), limit, seed, presolve=False)
        return _Found(problem, None, (), floor, "search", refuted=refutable(variables.layout) and again.status is Status.INFEASIBLE)
    if outcome.values is None:
        return _Found(problem, None, (), floor, "search")
    assignment = expand(variables.layout, outcome.values)
    if faults := _errors(check(problem, assignment)):
        raise WrongAnswer("; ".join(f"{fault.code} {fault.message}" for fault in faults))
    found = _Found(problem, assignment, terms(problem, assignment, bounds), floor if some else max(outcome.bound, floor), "search")
    if found.objective != outcome.objective:
        raise WrongAnswer(f"the solver's objective is {outcome.objective}, that of its answer {found.objective}")
    if outcome.status is Status.OPTIMAL and not some:
        # What is proved of the sum is proved of each term as far as no earlier term can give way.
        proved = tuple(replace(term, bound=term.value) for term in found.terms)
        return replace(found, terms=proved, bound=found.objective)
    return found


def _same(layout: Layout, values: Values) -> Iterator[tuple[object, object]]:
    """The keys of another layout of the same problem, beside its own."""
    bundles = {bundle.name: bundle for bundle in layout.bundles}
    for key in values:
        if isinstance(key, Count):
            yield Count(bundles[key.bundle.name], layout.cells[key.cell.index]), key
        elif isinstance(key, Bundle):
            yield bundles[key.name], key


def _errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def _bounds(layout: Layout) -> list[int]:
    return [objective.bound(layout) for objective in OBJECTIVES]


def _bound(problem: Problem, bounds: list[int]) -> int:
    return sum(weight * bound for weight, bound in zip(weights(problem), bounds))


def _undecided(limit: float) -> Finding:
    message = f"undecided: neither a placement nor a proof that there is none within {limit:g} s of search"
    return error("PW602", "", message, help=f"give it longer: `--limit {limit * 4:g}`")
