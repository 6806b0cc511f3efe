"""The search against everything tried: the same best price on every small question, the same best structures, and sound answers."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

import pytest
from placewright.models.planning.cost_models import iteration
from placewright.models.planning.design import Design, bars
from placewright.models.planning.problem import PlanningProblem, Task
from placewright.models.planning.workload import PHASES
from placewright.planner.benders import this_alone
from placewright.planner.check import faults, price
from placewright.planner.costs import cost_model
from placewright.planner.search import search as searching
from placewright.planner.search.search import search
from sampling import examples

from .questions import question
from .tried import Price, cost, needlessly_apart, priced, shape

MODELS = ("stages", "steady", "stream")
SEEDS = examples(40)
CHUNK = 20
"""Questions of one test."""
FROM_HERE_ON = (searching.COSTLY, 0)
"""Options from which the relaxation is searched first: where there are many, and always."""
TOP = 3


def asked_of(name: str, seed: int) -> PlanningProblem:
    """A question of a model; `steady` is `stages` with a single phase."""
    asked = question(seed, name != "stream")
    if name != "steady":
        return asked
    phase = PHASES[0]
    tasks = tuple(Task(task.component, phase) for task in asked.tasks)
    return replace(asked, tasks=tasks, flow=replace(asked.flow, phases=(phase,)))


def each_shape(asked: PlanningProblem, every: list[tuple[Price, Design]], stages: bool) -> list[Price]:
    """What the best design of each structure costs, the best first; parts that could be one are one."""
    best: dict[object, Price] = {}
    for its, design in every:
        if stages or not needlessly_apart(asked, design):
            key = shape(asked, design)
            best[key] = min(its, best.get(key, its))
    return sorted(best.values())


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
@pytest.mark.parametrize("name", MODELS)
def test_the_best_of_everything_is_found(name: str, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are the best of the best three structures; each is an answer, and costs what it says: at once, and without memory first."""
    model, stages = cost_model(name), name != "stream"
    for seed in range(first, first + CHUNK):
        asked = asked_of(name, seed)
        every = list(priced(asked, stages))
        best, bound = each_shape(asked, every, stages)[:TOP], min((its[0] for its, _ in every), default=None)
        for costly in FROM_HERE_ON:
            monkeypatch.setattr(searching, "COSTLY", costly)
            searched = search(asked, model, count=TOP)
            assert searched.proved, (seed, costly)
            assert [each.price for each in searched.found] == best, (seed, costly)
            assert searched.bound == bound, (seed, costly)
            for each in searched.found:
                assert list(faults(asked, model, each.design)) == [], (seed, costly)
                assert each.price == price(asked, model, each.design), (seed, costly)


@pytest.mark.parametrize("name", MODELS)
def test_the_best_that_is_not_ruled_out_is_found(name: str) -> None:
    """Keep a slower option of one amount where the fastest is ruled out."""
    model, stages, others = cost_model(name), name != "stream", 0
    for seed in range(examples(24)):
        asked = asked_of(name, seed)
        every = list(priced(asked, stages))
        if every:
            no_good = this_alone(min(every, key=itemgetter(0))[1])
            left = [its for its, design in every if not bars(no_good, design)]
            searched = search(replace(asked, barred=(no_good,)), model, count=1)
            assert [each.price for each in searched.found] == sorted(left)[:1], seed
            others += bool(left)
    assert others > 10


@pytest.mark.parametrize("name", MODELS)
def test_every_face_of_a_model_says_the_same_time(name: str) -> None:
    """Of every design: what the model computes, what the search is told of it, and what the definition gives."""
    model, stages = cost_model(name), name != "stream"
    compared = 0
    for seed in range(examples(20)):
        asked = asked_of(name, seed)
        for _, design in priced(asked, stages):
            assert iteration(model, asked, design) == cost(asked, design, stages) == told(asked, model, design), seed
            compared += 1
    assert compared > 300


def told(asked: PlanningProblem, model: Any, design: Design) -> int:
    """Nanoseconds by the maxima that the search is told."""
    parts: dict[int, list[int]] = {}
    for task, part in enumerate(design.segments):
        parts.setdefault(part, []).append(task)
    blocks = [block.components for block in design.blocks]
    divisor, found = model.divisor(asked), 0
    for tasks in parts.values():
        for maximum in model.maxima(asked, blocks, tasks):
            sums = (sum(design.nanoseconds(asked, task) // divisor for task in its) for its in maximum.sums)
            found += maximum.weight * max(sums)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_random_questions_are_of_every_kind(name: str) -> None:
    """Many have no answer, many have several structures; none of the words of a question is never asked."""
    stages = name != "stream"
    asked = [asked_of(name, seed) for seed in range(SEEDS)]
    words = ["memory.resident", *(f"sharing.{word}" for word in ("together", "apart", "within", "alone", "nested", "only_within"))]
    for word in (*words, "flow.phases" if stages else "flow.edges"):
        assert sum(bool(attrgetter(word)(each)) for each in asked) >= SEEDS // 60, word
    assert stages or sum(bool(each.flow.rounds) for each in asked) >= SEEDS // 30
    assert sum(len(each.kinds) == 2 for each in asked) >= SEEDS // 10
    assert sum(any(options[0].kind < 0 for options in each.options.values()) for each in asked) >= SEEDS // 30
    assert {each.aim for each in asked} == {"seconds", "accelerators"}
    assert sum(each.budget.accelerators is not None for each in asked) >= SEEDS // 10
    assert sum(each.budget.nanoseconds is not None for each in asked) >= SEEDS // 10
    assert sum(any(kind.memory is not None for kind in each.kinds) for each in asked) >= SEEDS // 4
