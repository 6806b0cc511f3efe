"""A search for plans that is cut short, by its limit or by Ctrl-C: soon, and it claims nothing that it does not know."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import PlanningProblem, Task, Workflow
from placewright.models.planning.workload import SECONDS
from placewright.planner.check import faults, price
from placewright.planner.costs import cost_model
from placewright.planner.search import found as progress
from placewright.planner.search.branching import Branching
from placewright.planner.search.found import Counting, SearchOutcome
from placewright.planner.search.search import search
from placewright.solver.session import Session
from sampling import examples

from .questions import question
from .test_search import branched, hybrid

COUNT = 3


def interrupt_at(number: int, patched: pytest.MonkeyPatch) -> None:
    """Ctrl-C while so many structures have been looked at."""
    look, seen = Branching.search, 0

    def interrupted(self: Branching, *rest: Any) -> int:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGINT)
        return look(self, *rest)

    patched.setattr(Branching, "search", interrupted)


def must_be_true(asked: PlanningProblem, name: str, cut: SearchOutcome, whole: SearchOutcome) -> None:
    """What it found is an answer and costs so much; its bound is none; it is proved only if it is all that there is."""
    assert all(not list(faults(asked, cost_model(name), each.design)) for each in cut.found)
    assert all(price(asked, cost_model(name), each.design) == each.price for each in cut.found)
    if cut.proved:
        assert [each.price for each in cut.found] == [each.price for each in whole.found]
    if whole.best is not None:
        assert cut.bound is not None and cut.bound <= whole.best.price[0]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", ["stages", "stream"])
def test_ctrl_c_at_any_moment_leaves_nothing_half_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = 0
    for seed in range(examples(12)):
        asked, model = question(seed, name == "stages"), cost_model(name)
        whole = search(asked, model, count=COUNT)
        for number in (1, 2, 3, 5, 8):
            with monkeypatch.context() as patched, Session() as session:
                interrupt_at(number, patched)
                cut = search(asked, model, count=COUNT, session=session)
            stopped += cut.stopped is not None
            must_be_true(asked, name, cut, whole)
    assert stopped > 10


@pytest.mark.usefixtures("interruptible")
def test_who_does_not_ask_for_what_was_found_gets_the_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        search(branched(5, 64, 0, 8), cost_model("stream"))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.05, 0.2])
def test_a_limit_is_kept_where_much_is_to_be_listed(limit: int) -> None:
    """And something is found all the same."""
    asked, model = hybrid(6, 1024, 1), cost_model("stages")
    cut = search(asked, model, limit=limit, count=4)
    assert cut.spent < limit + 0.5 and cut.best is not None
    must_be_true(asked, "stages", cut, search(asked, model, count=4))


def test_what_is_told_of_all_designs_holds_and_never_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "NOW_AND_THEN", -1.0)
    told: list[Counting] = []
    words = 0
    for seed in range(examples(6)):
        for name in ("stages", "stream"):
            asked, model = question(seed, name == "stages"), cost_model(name)
            whole = search(asked, model, count=COUNT)
            for limit in (10.0, 0.005):
                told.clear()
                cut = search(asked, model, limit, count=COUNT, counting=told.append)
                bounds, held = [now.bound for now in told], 0 if asked.aim == SECONDS else asked.given.held
                assert bounds == sorted(bounds), (seed, name)
                assert cut.bound is None or cut.bound >= max(bounds, default=held) - held, (seed, name)
                must_be_true(asked, name, cut, whole)
                words += len(told)
    assert words > 250


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 8])
def test_more_time_finds_nothing_worse(seed: int) -> None:
    """Of very many arrangements, the one that has most together is looked at first, however short the time is."""
    asked, before = branched(7, 64, seed, 8), None
    for limit in (0.003, 0.03, 0.3):
        best = search(asked, cost_model("stream"), limit, count=4).best
        assert best is not None and (before is None or best.price <= before)
        before = best.price


def test_what_fits_nowhere_is_known_at_once() -> None:
    """However many counts the others have: no structure is looked at."""
    counts = range(8, 1025, 8)
    options = {
        name: tuple(
            Option(0, count, Parallel(degree), (10**12 // count,), memory) for count in counts for degree in (1, 2, 4)
        )
        for name, memory in (("a", 10), ("b", 20), ("c", 90), ("d", 5), ("e", 1))
    }  # fmt: skip
    asked = PlanningProblem((AcceleratorKind("H100", 1024, 80),), tuple(map(Task, options)), options, flow=Workflow(phases=("",)))
    searched = search(asked, cost_model("stream"))
    assert searched.proved and searched.best is None and searched.bound is None
    assert searched.structures == (0, 0) and searched.spent < 0.2


def test_no_more_is_searched_than_there_is() -> None:
    for seed in range(examples(40)):
        for name in ("stages", "stream"):
            every, searched = search(question(seed, name == "stages"), cost_model(name), count=COUNT).structures
            assert searched <= every, seed
