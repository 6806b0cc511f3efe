"""What any design takes at least, by arithmetic: never more than the best of all designs takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.planning.problem import PlanningProblem
from placewright.models.planning.workload import ACCELERATORS, SECONDS, Budget
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search
from placewright.planner.why.quick_infeasibility import fewest, quickest

from .questions import question

SEEDS = 200


def least(asked: PlanningProblem, name: str, aim: str) -> int | None:
    """The smallest time, or number of accelerators, of all designs; None if there are none."""
    found = search(replace(asked, aim=aim), cost_model(name))
    assert found.proved
    return found.bound


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stages", "stream", "steady", "rlinf", "rlinf-embodied"])
def test_no_design_takes_less(name: str) -> None:
    met, model = 0, cost_model(name)
    for seed in range(SEEDS):
        asked = question(seed, name == "stages")
        asked = replace(asked, budget=Budget(asked.budget.accelerators))
        time, used = least(asked, name, SECONDS), least(asked, name, ACCELERATORS)
        if time is not None and used is not None:
            assert quickest(asked, model) <= time, seed
            assert fewest(asked) <= used, seed
            met += fewest(asked) == used
    assert met > SEEDS // 4  # it says something, too


def test_parts_one_after_the_other_add_up() -> None:
    """Without it a budget that no count can meet would be told by a search alone."""
    exact = sum(
        quickest(asked, cost_model("stream")) == least(asked, "stream", SECONDS)
        for asked in (replace(question(seed, False), budget=Budget()) for seed in range(SEEDS))
    )
    assert exact > SEEDS // 20
