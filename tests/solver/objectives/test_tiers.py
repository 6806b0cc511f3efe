"""What is more important is decided first; weights put all bytes into one sum; both agree with trying everything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.placements.plan import OPTIMAL, Plan, TermValue
from placewright.solver.check import check
from placewright.solver.greedy import greedy
from placewright.solver.layout.layout import Layout
from placewright.solver.objectives.tiers import plan_terms, tiers
from placewright.solver.searching import search as one_choice
from placewright.solver.searching.progress import silent
from placewright.solver.searching.search import solve
from placewright.solver.searching.state import ChoiceState, Search

from .. import parity
from ..cases import component, problem
from .traffic_cases import HALLS, RACKS, TRAFFIC_CASES, linked, sends


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAFFIC_CASES)
@pytest.mark.parametrize("greedy", [True, False], ids=["with a greedy answer", "without one"])
def test_the_tiers_one_after_the_other_find_the_best_of_all_answers(name: str, greedy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    question = TRAFFIC_CASES[name]
    if not greedy:
        monkeypatch.setattr(one_choice, "greedy", lambda layout: None)
    best = min(parity.objective(question, each) for each in parity.assignments(question) if not any(check(question, each)))
    plan = solve(question).plan
    assert plan is not None
    assert (plan.status, plan.objective, plan.bound, plan.gap) == (OPTIMAL, best, best, 0.0)
    assert [term.bound for term in plan.terms] == [term.value for term in plan.terms]


def test_bytes_of_one_level_are_one_tier() -> None:
    question = TRAFFIC_CASES["two levels"]
    assert [[term.name for term, _ in tier.members] for tier in tiers(question)] == [
        ["MiB of collectives across zones", "MiB of weights across zones", "MiB of streams across zones"],
        ["MiB of collectives across racks", "MiB of weights across racks", "MiB of streams across racks"],
    ]


def test_weights_put_all_bytes_into_one_tier() -> None:
    (tier,) = tiers(TRAFFIC_CASES["two levels, weighted"])
    assert [cost for _, cost in tier.members] == [4, 4, 4, 3, 3, 3]


def test_a_weight_may_turn_the_order_of_levels() -> None:
    # One rack of two and one zone of two single racks: b is near a in another zone, or in its zone in another rack.
    question = linked(problem(HALLS, component("a", 2, traffic=1), component("b", 3)), sends("a", "b", weights=5))
    dear = replace(
        question, job=replace(question.job, preference=replace(question.job.preference, order="weighted", weights={"rack": 100}))
    )
    for each in (question, dear):
        best = min(parity.objective(each, answer) for answer in parity.assignments(each) if not any(check(each, answer)))
        plan = solve(each).plan
        assert plan is not None and plan.objective == best


def test_no_later_tier_outweighs_an_earlier_one() -> None:
    question = TRAFFIC_CASES["two levels"]
    found = tiers(question)
    for earlier, later in zip(found, found[1:]):
        assert earlier.scale > later.scale * sum(cost * term.most(question) for term, cost in later.members)


def test_the_gap_is_that_of_the_first_tier_which_is_not_proved() -> None:
    terms = (TermValue("far", 3, 3, 1000, 0), TermValue("near", 40, 38, 1, 1), TermValue("nearer", 10, 2, 1, 1))
    plan = Plan(RACKS, TRAFFIC_ANSWER, "feasible", terms, bound=3048)
    assert plan.objective == 3050
    assert plan.gap == pytest.approx(2 / 50)
    assert replace(plan, bound=3050).gap == 0.0


def test_what_is_proved_of_a_tier_bounds_each_term_beside_the_others() -> None:
    question = TRAFFIC_CASES["weights"]
    answer = solve(question).plan
    assert answer is not None
    values = [term.value for term in answer.terms]
    zeros = [[0] * len(tier.members) for tier in tiers(question)]
    term_values = [tier.values(question, answer.assignment) for tier in tiers(question)]
    below = plan_terms(tiers(question), term_values, zeros, [max(0, sum(values) - 1), *([0] * (len(tiers(question)) - 1))])
    assert [term.bound for term in below][: len(zeros[0])] == [max(0, value - 1) for value in values][: len(zeros[0])]


def test_what_another_choice_may_reach_bounds_the_terms_too() -> None:
    """Proved the best with its degrees; with others the first term may be one less, and nothing is known of the next."""
    question = problem(RACKS, component("a", 2, 9, traffic=5), component("b", 2))
    state = ChoiceState(Layout(question), Search(question, 1, silent))
    values = greedy(state.layout)
    assert values is not None and state.offer(values, "greedy") is not None
    state.prove_best()
    proved, open_ = state.plan(state.objective), state.plan(state.objective - 1 - state.tiers[0].scale)
    assert proved.status == OPTIMAL and all(term.bound == term.value for term in proved.terms)
    first, *later = open_.terms
    assert first.value > 2 and first.bound == first.value - 2
    assert [term.bound for term in later] == [0] * len(later)


TRAFFIC_ANSWER = next(parity.assignments(TRAFFIC_CASES["weights"]))
