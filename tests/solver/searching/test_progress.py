"""What is told while a search runs: verified plans that only become better, and bounds that only grow."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Severity
from placewright.solver.check import check
from placewright.solver.searching import search as one_choice
from placewright.solver.searching.progress import Incumbents
from placewright.solver.searching.search import solve

from ..bounds.test_stage import shared_cluster


def told(seed: int) -> list[Incumbents]:
    found: list[Incumbents] = []
    answer = solve(shared_cluster(seed), on_progress=found.append)
    assert answer.plan is not None and answer.plan.status == "optimal"
    assert found[-1].plan is not None and found[-1].plan.digest == answer.plan.digest
    return found


def test_plans_become_better_and_bounds_grow() -> None:
    found = told(3)
    assert len(found) > 2
    costs = [each.objective for each in found if each.objective is not None]
    assert costs == sorted(costs, reverse=True)
    bounds = [each.bound for each in found]
    assert bounds == sorted(bounds)
    assert found[-1].gap == 0.0 and all(each.gap is None or each.gap >= 0 for each in found)
    assert all(before.seconds <= after.seconds for before, after in zip(found, found[1:]))


def test_every_plan_that_is_told_was_verified() -> None:
    question = shared_cluster(4)
    found: list[Incumbents] = []
    solve(question, on_progress=found.append)
    plans = [each.assignment for each in found if each.assignment is not None]
    assert plans
    for assignment in plans:
        assert not [finding for finding in check(question, assignment) if finding.severity is Severity.ERROR]


def test_what_the_listener_raises_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_choice, "greedy", lambda layout: None)

    def stop(progress: Incumbents) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(shared_cluster(3), on_progress=stop)


def test_a_search_that_is_cut_short_gives_the_same_answer_every_time() -> None:
    plans = [solve(shared_cluster(5), limit=0.05).plan for _ in range(3)]
    assert len({plan.digest for plan in plans if plan}) == 1
    assert len({plan.bound for plan in plans if plan}) == 1
