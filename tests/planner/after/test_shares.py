"""What each task adds to an iteration comes to the whole of it."""

from __future__ import annotations

import pytest
from placewright.planner.accounting import shares
from placewright.planner.costs import cost_model

from .designs import each_planned


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_the_shares_are_the_iteration(name: str) -> None:
    seen = 0
    for planned in each_planned(name, range(60)):
        for priced in (planned.best, *planned.alternatives):
            found = shares(planned.question, cost_model(name), priced.design)
            assert sum(found.values()) == priced.nanoseconds
            assert set(found) == set(range(len(planned.question.tasks)))
            for task, adds in found.items():
                assert 0 <= adds <= priced.design.nanoseconds(planned.question, task)
            seen += 1
    assert seen > 80


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_what_adds_nothing_may_be_quicker_without_any_gain(name: str) -> None:
    """A task that adds nothing is hidden: without it the iteration takes as long."""
    hidden = 0
    for planned in each_planned(name, range(40)):
        model, question, design = cost_model(name), planned.question, planned.best.design
        for task, adds in shares(question, model, design).items():
            if not adds:
                members = [other for other in range(len(question.tasks)) if design.segments[other] == design.segments[task]]
                left = [other for other in members if other != task]
                if left:
                    assert model.nanoseconds(question, design, left) == model.nanoseconds(question, design, members)
                    hidden += 1
    assert hidden > 5
