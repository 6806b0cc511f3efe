"""What `solve` says of a small problem, against every Assignment that the rules accept."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterator, Sequence
from unittest.mock import patch

from placewright.models.answer import IMPOSSIBLE, UNDECIDED
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import OPTIMAL, VERIFIED, Plan
from placewright.models.problem import Problem
from placewright.solver import interval_dp as one_line
from placewright.solver.layout.layout import Layout
from placewright.solver.objectives import OBJECTIVES
from placewright.solver.objectives.tiers import tiers
from placewright.solver.refuting import certificate
from placewright.solver.searching import search as one_choice
from placewright.solver.searching import tiers as by_patterns
from placewright.solver.searching.search import solve

from .brute_force import Every, refused

NOT_SEARCHED = "not searched"


class Disagreement(AssertionError):
    """The search and the enumeration say different things."""


@dataclass(frozen=True)
class Judged:
    """What the search said, which is right; why, where it did not take the problem on."""

    verdict: str
    why: str = ""


def judge(problem: Problem, budget: int) -> Judged:
    """Raises Disagreement, TooMany, and whatever the search raises."""
    answer = solve(problem)
    if answer.verdict == UNDECIDED:
        codes = {finding.code for finding in answer.findings}
        if "PW604" not in codes:
            raise Disagreement(f"undecided: {answer.findings}")
        return Judged(NOT_SEARCHED, answer.findings[0].message)
    if answer.plan is not None:
        _is_an_answer(problem, answer.plan)
    best = _best(problem, budget)
    if answer.verdict == IMPOSSIBLE:
        if best is not None:
            raise Disagreement(f"impossible ({answer.how}: {answer.findings[0].message}), but not {best[1]}")
        return Judged(IMPOSSIBLE)
    if best is None:
        raise Disagreement(f"enumeration finds nothing, the search {answer.plan and answer.plan.assignment}")
    assert answer.plan is not None
    _is_the_best(problem, answer.plan, *best)
    return Judged(answer.verdict)


def _chosen(problem: Problem, degrees: Plan) -> Problem:
    """The problem with the degrees that a plan has chosen."""
    for each in problem.alternatives():
        if all(each[name].parallel == its for name, its in degrees.degrees.items()):
            return each
    raise Disagreement(f"no choice is {degrees.degrees}")


def _is_an_answer(problem: Problem, plan: Plan) -> None:
    chosen = _chosen(problem, plan)
    if refused(chosen, plan.assignment):
        raise Disagreement("the answer is refused")
    for term in plan.terms:
        its = next(each for each in OBJECTIVES if each.name == term.name)
        if its.value(chosen, plan.assignment) != term.value:
            raise Disagreement(f"{term.name} is {its.value(chosen, plan.assignment)}, the plan says {term.value}")
        if term.bound > term.value:
            raise Disagreement(f"the bound of {term.name} is above its value")
    if plan.bound > plan.objective:
        raise Disagreement("the bound is above the value")


Best = tuple[tuple[int, ...], Assignment]


def _best(problem: Problem, budget: int) -> Best | None:
    """What the best of all costs in each tier."""
    found: Best | None = None
    for each in problem.alternatives():
        its = _best_of(each, budget)
        if its is not None and (found is None or its[0] < found[0]):
            found = its
    return found


def _best_of(problem: Problem, budget: int) -> Best | None:
    layout, asked, found = Layout(problem), tiers(problem), None
    terms = [(term, term.bound(layout)) for term in OBJECTIVES]
    for assignment in Every(problem, budget).assignments():
        for term, bound in terms:
            if not bound <= term.value(problem, assignment) <= term.most(problem):
                raise Disagreement(f"{term.name} is {term.value(problem, assignment)}, not {bound} to {term.most(problem)}: {assignment}")
        costs = tuple(tier.value(problem, assignment) for tier in asked)
        if found is None or costs < found[0]:
            found = (costs, assignment)
    return found


def _is_the_best(problem: Problem, plan: Plan, costs: Sequence[int], best: Assignment) -> None:
    if plan.status == VERIFIED:
        return
    asked = tiers(_chosen(problem, plan))
    mine = tuple(tier.value(_chosen(problem, plan), plan.assignment) for tier in asked)
    if mine != tuple(costs):
        raise Disagreement(f"the answer costs {mine} in {_names(problem)}, {costs} is possible: {best}; not {plan.assignment}")
    least = sum(tier.scale * cost for tier, cost in zip(asked, costs))
    if plan.objective != least or plan.bound > least or plan.status != OPTIMAL:
        raise Disagreement(f"{plan.status}: {plan.objective}, bound {plan.bound}, in truth {least}")


def _names(problem: Problem) -> list[str]:
    return [" + ".join(term.name for term, _ in tier.members) for tier in tiers(problem)]


@contextmanager
def by_the_solver_alone() -> Iterator[None]:
    """Nothing is answered before the solver is asked: no greedy answer, no counting row, no sweep, no patterns."""
    with (
        patch.object(one_choice, "greedy", lambda *_: None),
        patch.object(certificate, "counting_row", lambda *_: None),
        patch.object(one_line, "best_on_line", lambda *_: None),
        patch.object(by_patterns, "search_by_patterns", lambda *_: 0.0),
    ):
        yield


def agree(problem: Problem, limit: float = 3.0) -> Judged:
    """What the search says with all that makes it fast and without it is the same. Raises Disagreement, and whatever the search raises."""
    answer = solve(problem, limit)
    with by_the_solver_alone():
        other = solve(problem, limit)
    if {answer.verdict, other.verdict} >= {IMPOSSIBLE} and answer.verdict != other.verdict != UNDECIDED != answer.verdict:
        raise Disagreement(f"{answer.verdict}, by the solver alone {other.verdict}")
    plans = [each.plan for each in (answer, other) if each.plan is not None]
    for plan in plans:
        _is_an_answer(problem, plan)
    if plans and min(plan.objective for plan in plans) < max(plan.bound for plan in plans):
        raise Disagreement(f"bounds {[plan.bound for plan in plans]}, values {[plan.objective for plan in plans]}")
    refused = any(finding.code == "PW604" for finding in answer.findings)
    return Judged(NOT_SEARCHED, answer.findings[0].message) if refused else Judged(answer.verdict)
