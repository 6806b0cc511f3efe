"""Plans in which a component uses only some of another's accelerators: what they come to beside the plan that shares as a whole."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from placewright.models.component import Component
from placewright.models.planning.measured import SECOND, Measured
from placewright.models.planning.question import Question
from placewright.models.planning.workload import ACCELERATORS, RLINF, RLINF_EMBODIED, STAGES, After, Budget, Timed, Workload
from placewright.models.problem import Problem
from placewright.solver.planning.answering import answering
from placewright.solver.planning.asking.asked import asked
from placewright.solver.planning.searching.searched import Searched
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.planning.variants import inside as variants
from placewright.solver.searching.search import solve

from ...cases import cluster, problem
from ..tried import priced

ANSWER = answering(solve, 10.0, 1, settle)


def timed(name: str, rows: dict[int, int], phase: str = "") -> Component:
    points = tuple(Measured(count, seconds * SECOND, phase) for count, seconds in rows.items())
    return Component(name, least=1, most=64, timed=Timed(points))


def job(count: int, *components: Component, **plan: object) -> Problem:
    its = problem(cluster({"count": count}), *components)
    names = [each.name for each in components]
    workload = Workload(tuple(After(one, other, False) for one, other in zip(names, names[1:])), **plan)  # type: ignore[arg-type]
    return replace(its, job=replace(its.job, workload=workload))


def nested(its: Problem) -> Problem:
    assert its.job.workload is not None
    return replace(its, job=replace(its.job, workload=replace(its.job.workload, nested=True)))


def random_job(random: Random) -> Problem:
    count = random.randint(2, 5)
    parts = [
        timed(name, {each: random.randint(10, 200) for each in random.sample(range(1, count + 1), 2)})
        for name in ("rollout", "reward", "actor")[: random.randint(2, 3)]
    ]
    batches = random.choice([1, 4])
    if random.random() < 0.2:
        return job(count, *parts, batches=batches, aim=ACCELERATORS, budget=Budget(nanoseconds=random.randint(50, 400) * SECOND))
    return job(count, *parts, batches=batches)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_said_where_none_of_these_plans_is_better_and_else_the_best_of_them(seed: int) -> None:
    its = random_job(Random(seed))
    planned, other = ANSWER(its).planned, ANSWER(nested(its)).planned
    if planned is None or other is None:
        assert planned is None
        return
    assert other.proved and other.nested is None
    asked_for = nested(its)
    assert asked_for.job.workload is not None
    best = min(price for price, _ in priced(asked(asked_for, asked_for.job.workload), False))[0]
    assert other.price[0] == best
    told = planned.nested
    if told is None:
        assert best == planned.price[0]
    else:
        assert told.best is not None and told.bound == best < planned.price[0]


A_CIRCLE = (timed("rollout", {1: 80, 4: 20}), timed("reward", {1: 40, 4: 10}), timed("actor", {1: 120, 4: 30}))


def test_a_plan_inside_another_s_accelerators_is_told_and_only_with_it_the_proof_leaves_something_out() -> None:
    its = job(4, *A_CIRCLE, batches=10)
    assert its.job.workload is not None
    for workload in (
        replace(its.job.workload, nested=True),
        replace(its.job.workload, spans={"nested": None}),  # the file says `nested: false`
        replace(its.job.workload, model=RLINF),
    ):
        assert (told := ANSWER(replace(its, job=replace(its.job, workload=workload))).planned) is not None and told.nested is None
    frameworks = replace(its.job, capabilities=replace(its.job.capabilities, shares_accelerators=True))
    assert (told := ANSWER(replace(its, job=frameworks)).planned) is not None and told.nested is None


def test_env_and_rollout_are_planned_inside_actor_by_rlinf_s_estimate_of_embodied_jobs_too() -> None:
    its = job(4, timed("env", {2: 60, 4: 50}), timed("rollout", {2: 60, 4: 50}), timed("actor", {4: 40}), model=RLINF_EMBODIED, batches=4)
    planned, other = ANSWER(its).planned, ANSWER(nested(its)).planned
    assert planned is not None and other is not None and planned.nested is not None
    assert planned.nested.bound == other.price[0] == 70 * SECOND and planned.price[0] == 140 * SECOND


def test_phases_are_planned_inside_others_too() -> None:
    parts = (
        timed("actor", {2: 100, 4: 50}, "train"),
        timed("critic", {1: 40, 4: 30}, "infer"),
        timed("reward", {1: 40, 4: 30}, "infer"),
    )
    its = job(4, *parts, model=STAGES, phases=("infer", "train"))
    planned, other = ANSWER(its).planned, ANSWER(nested(its)).planned
    assert planned is not None and other is not None and planned.nested is not None
    assert planned.nested.bound == other.price[0] < planned.price[0]


def test_what_a_tenth_of_the_time_finds_no_better_plan_of_is_not_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    its = job(4, *A_CIRCLE, batches=10)
    planned = ANSWER(its).planned
    assert planned is not None
    asked_twice: list[Problem] = []

    def quietly(problem: Problem) -> Answer:
        asked_twice.append(problem)
        return ANSWER(problem)

    def at_once(question: Question, *_: object) -> Searched:
        return Searched((), 1, False, (1, 0))

    monkeypatch.setattr(variants, "search", at_once)
    found = variants.inside(ANSWER, quietly, 10.0, 1, settle, True)(its).planned
    assert found is not None and found.nested is not None and not asked_twice
    assert (found.nested.bound, found.nested.best) == (1, None)


def test_nothing_is_said_where_no_better_plan_can_be_placed() -> None:
    its = job(4, *A_CIRCLE, batches=10)
    found = variants.inside(ANSWER, lambda problem: Answer(IMPOSSIBLE), 10.0, 1, settle, True)(its).planned
    assert found is not None and found.nested is None
