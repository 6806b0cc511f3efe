"""Questions with very many arrangements: the best design of all, proved, or what is known after the limit."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.option import NO_KIND, AcceleratorKind, Option
from placewright.models.planning.problem import Edge, PlanningProblem, Sharing, Task, Workflow
from placewright.models.planning.workload import PHASES
from placewright.planner.check import faults, price
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search
from sampling import examples

from .questions import question
from .tried import priced

SECOND = 10**9
BATCHES = 16


def job(components: int, accelerators: int, seed: int, chain: bool = False) -> PlanningProblem:
    """Components of different size that speed up by different powers; each in one phase; nothing relates them, or all are a chain."""
    random = Random(f"{components} {accelerators} {seed}")
    options, phases = {}, {}
    for name in (f"component {number}" for number in range(components)):
        work, power, phases[name] = random.randint(20, 300), random.choice((0.4, 0.6, 0.8, 0.95)), random.choice(PHASES)
        times = (-(-int(work * SECOND / count**power) // BATCHES) * BATCHES for count in range(1, accelerators + 1))
        options[name] = tuple(Option(0, count, Parallel(), (its,)) for count, its in enumerate(times, 1))
    tasks = tuple(sorted((Task(name, phases[name]) for name in options), key=lambda task: PHASES.index(task.phase)))
    edges = tuple(Edge(place, place + 1) for place in range(components - 1)) if chain else ()
    return PlanningProblem((AcceleratorKind("H100", accelerators),), tasks, options, Workflow(edges, phases=PHASES, batches=BATCHES))


@cache
def best_of(seed: int, stages: bool) -> tuple[int, int] | None:
    """The price of the best design of a random question, by trying everything."""
    return min((its for its, _ in priced(question(seed, stages), stages)), default=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stages", "stream"])
def test_the_best_of_everything_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few there are."""
    model, stages = cost_model(name), name == "stages"
    for seed in range(examples(100)):
        asked, best = question(seed, stages), best_of(seed, stages)
        for count in (1, 3):
            searched = search(asked, model, count=count)
            assert searched.bound == (best and best[0]) and (searched.best and searched.best.price) == best, seed
            assert searched.first_proved and (searched.proved or count > 1), seed
            assert len({each.design.structure() for each in searched.found}) == len(searched.found), seed
            for each in searched.found:
                assert list(faults(asked, model, each.design)) == [], seed
                assert each.price == price(asked, model, each.design), seed


def test_components_without_work_have_a_place_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few of the others there are: they take no time, and so no set that is the least busy is busier for them."""
    for idle in range(1, 4):
        options = {f"idle {number}": (Option(0, 1, Parallel(), ()), Option(0, 2, Parallel(), ())) for number in range(idle)}
        options["busy"] = (Option(0, 1, Parallel(), (20,)), Option(0, 2, Parallel(), (12,)))
        asked = PlanningProblem((AcceleratorKind("H100", 4),), (Task("busy", PHASES[0]),), options, flow=Workflow(phases=PHASES))
        for name in ("stages", "stream"):
            searched = search(asked, cost_model(name))
            assert searched.proved and searched.best is not None and searched.best.price == (12, 2)


def test_where_nobody_needs_accelerators_nothing_is_worth_any(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {name: (Option(NO_KIND, 1, Parallel(), (20,)), Option(NO_KIND, 2, Parallel(), (12,))) for name in "ab"}
    asked = PlanningProblem((AcceleratorKind("H100", 4),), tuple(map(Task, "ab")), options, Workflow((Edge(0, 1, True),)))
    searched = search(asked, cost_model("stream"))
    assert searched.proved and searched.best is not None and searched.best.price == (24, 0)
    searched = search(asked, cost_model("rlinf"))  # which keeps no second part here, so that nothing is found
    assert searched.proved and searched.best is None


def test_where_nothing_is_found_all_is_soon_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a hundred steps: RLinf's tool keeps none of the structures in which two of three roles are together."""
    options = {name: tuple(Option(0, count, Parallel(), (1_000_000 // count,)) for count in range(1, 9)) for name in "abcdef"}
    asked = PlanningProblem(
        (AcceleratorKind("H100", 8),),
        tuple(map(Task, "abcdef")),
        options,
        sharing=Sharing(together=frozenset({("a", "b")}), apart=frozenset({("a", "c")})),
    )
    searched = search(asked, cost_model("rlinf"))
    assert searched.proved and searched.best is None and searched.spent < 1.0


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_whatever_is_cut_short_claims_nothing_that_it_does_not_know(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(examples(25)):
        asked, model, best = question(seed, name == "stages"), cost_model(name), best_of(seed, name == "stages")
        for limit in (0.0, 0.001, 0.01):
            searched = search(asked, model, limit)
            if searched.proved or searched.first_proved:
                assert (searched.best and searched.best.price) == best, (seed, limit)
            if best is not None:
                assert searched.bound is not None and searched.bound <= best[0], (seed, limit)
                assert searched.best is None or searched.best.price >= best, (seed, limit)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "components", "accelerators"), [("stream", 7, 8), ("stages", 8, 8), ("steady", 8, 8)])
def test_seven_components_that_nothing_relates_are_proved(name: str, components: int, accelerators: int) -> None:
    asked, model = job(components, accelerators, 1), cost_model(name)
    searched = search(asked, model, count=4)
    assert searched.best is not None and searched.bound == searched.best.price[0]
    assert not list(faults(asked, model, searched.best.design))


@pytest.mark.slow
def test_of_very_many_there_is_a_plan_with_its_gap() -> None:
    """Of 14 components that nothing relates there are 190,899,322 arrangements."""
    searched = search(job(14, 8, 1), cost_model("stream"), limit=0.3)
    assert searched.best is not None and not searched.first_proved
    assert searched.bound is not None and 0 < searched.bound < searched.best.price[0]
    assert 0.3 <= searched.spent < 0.4
