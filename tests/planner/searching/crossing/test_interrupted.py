"""After Ctrl-C nothing further is counted of what crosses: of hundreds of accelerators that took seconds before the search ended."""

from __future__ import annotations

import os
import signal

import pytest
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.search.choices import BlockChoices
from placewright.planner.search.sizing import Sizing
from placewright.planner.search.structures import arrangements, divide
from placewright.solver.session import Session

from .questions import asked

pytestmark = pytest.mark.usefixtures("interruptible")


def test_what_crosses_between_sets_is_left_out_of_what_is_proved_after_it() -> None:
    counted = 0
    for seed in range(12):
        question = planning_problem(asked(seed))
        if question.crossing is None:
            continue
        model = cost_model("stream")
        for structure in (
            each
            for nested in (False, True)
            for arrangement in arrangements(question, model, nested)
            for each in divide(question, model, arrangement)
        ):
            with Session() as session:
                ways = BlockChoices(question, model.divisor(question), session)
                before = Sizing(question, model, structure, ways).between
                os.kill(os.getpid(), signal.SIGINT)
                assert Sizing(question, model, structure, ways).between == ()
            counted += len(before)
    assert counted
