"""What dividing leaves open is settled by a solver, in its own process: the same answers, and none that was not checked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from placewright.planner.costs import cost_model
from placewright.planner.search import search as searching
from placewright.planner.search.own_process import Settling, read_question, write_question
from placewright.planner.search.search import search
from placewright.planner.search.settle import Unsettled, settle

from .questions import question
from .test_limited import limited

LIAR = Path(__file__).with_name("liar.py")


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is divided: whatever is not decided at first sight is asked of the solver."""
    monkeypatch.setattr(searching, "PARTS", 0)
    monkeypatch.setattr(searching, "FEW", 0)


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_the_solver_finds_what_dividing_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, asked = cost_model(name), 0
    for seed in range(60):
        each = question(seed, name == "stages")
        divided = search(each, model, count=2)
        with monkeypatch.context() as patched:
            patched.setattr(searching, "PARTS", 0)
            patched.setattr(searching, "FEW", 0)
            solved = search(each, model, count=2, settle=settle)
        assert solved.proved and [found.price for found in solved.found] == [found.price for found in divided.found], seed
        asked += solved.spent != divided.spent
    assert asked > 5


def hard(name: str) -> int:
    """A question that is not decided at first sight."""
    return {"stages": 40, "stream": 4}[name]


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("name", ["stages", "stream"])
def test_in_its_own_process_it_finds_the_same(name: str) -> None:
    asked, model = question(hard(name), name == "stages"), cost_model(name)
    assert search(asked, model) == search(asked, model, settle=settle)


LIES = {
    "cheaper": "PW610",
    "no choice": "PW610",
    "other structure": "PW610",
    "bound": "PW610",
    "babble": "PW610",
    "raises": "PW610",
    "crash": "PW602",
    "hang": "PW602",
    "devour": "PW602",
}


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("lie", LIES)
def test_a_process_that_lies_or_ends_changes_no_answer(lie: str) -> None:
    """What is shown then is what was known before, as no more than it is."""
    asked, model = question(hard("stream"), False), cost_model("stream")
    honest = search(asked, model)
    memory = 1024
    searched = search(asked, model, 0.2, settle=Settling(memory, (sys.executable, str(LIAR), lie, str(memory))))
    assert not searched.proved and searched.stopped is not None and searched.stopped.with_answer.code == LIES[lie]
    assert honest.best is not None and searched.bound is not None and searched.bound <= honest.best.price[0]
    assert searched.best is None or searched.best.price >= honest.best.price


@pytest.mark.parametrize("stages", [False, True])
def test_every_word_of_a_question_crosses_to_the_other_process(stages: bool) -> None:
    for seed in range(40):
        asked = Unsettled(limited(seed, stages), "stages" if stages else "stream", (), ((1, 2),), 1, 0.5, 1)
        assert read_question(write_question(asked)) == asked
