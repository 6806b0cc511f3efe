"""What is planned by estimates against everything tried: of all designs without estimates, the best of those whose bill leaves a tenth."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.answer import Answer
from placewright.models.component import Component, Parallel
from placewright.models.estimate import FSDP, NONE, MemoryInput
from placewright.models.findings.finding import Severity
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.memory.estimate import with_estimates
from placewright.models.model_cards.known import known_model
from placewright.models.planning.spec import PlanningSpec
from placewright.models.planning.workload import POWER, SECOND, After, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.planner.bills import bill
from placewright.planner.check import price
from placewright.planner.costs import cost_model
from placewright.planner.memory import without_estimates
from placewright.planner.problem import planning_problem
from placewright.solver.searching.search import solve

from ..tried import priced

MODELS = ("Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-14B")


def drawn(seed: int) -> Problem:
    """Two or three components one after the other, on up to five accelerators that are small for them."""
    random = Random(seed)
    parts = []
    for name in ("rollout", "reference", "actor")[-random.choice((2, 3)) :]:
        sharding = FSDP if name == "actor" else NONE
        estimate = MemoryInput(
            random.choice(MODELS), sharding=sharding, sequence=random.choice((1024, 4096)), sequences=random.choice((4, 32)) if name == "rollout" else 0,
            offload=random.random() < 0.5,
        )  # fmt: skip
        times = tuple(Measurement(count, random.randint(20, 200) * SECOND // count) for count in (1, 2, 4))
        degrees = Parallel(tp=random.choice((1, 1, 2)))
        parts.append(Component(name, least=1, most=5, parallel=degrees, timed=TimedComponent(times, POWER), estimate=estimate))
    after = tuple(
        After(one.name, other.name, random.random() < 0.5) for one, other in zip(parts, parts[1:])
    )  # fmt: skip
    workload = Workload(after, batches=random.choice((1, 4)), nested=random.random() < 0.3)
    job = with_estimates(Job(tuple(parts), planning=PlanningSpec(workload=workload)), states_divisions=True)
    cards = {name: replace(use, card=known_model(use.path)) for name, use in job.models.items()}
    machines = read_shorthand(f"1x{random.choice((3, 4, 5))}x{random.choice(('4090', 'A100-40GB', 'H100'))}")
    return Problem(machines, replace(job, models=cards))  # type: ignore[arg-type]


def answered(problem: Problem) -> Answer:
    return Solver(solve, 10.0)(problem)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_best_of_all_that_fit_is_planned(first: int) -> None:
    ways = set()
    for seed in range(first, first + 20):
        problem = drawn(seed)
        open_ = without_estimates(problem)
        assert open_ is not None and open_.job.planning.workload is not None
        question, model = planning_problem(open_), cost_model("stream")
        every = [(its, any(each.tight for each in bill(problem, question, design))) for its, design in priced(question, stages=False)]
        fitting, best = min((its for its, tight in every if not tight), default=None), min(its for its, _ in every)
        answer = answered(problem)
        assert answer.planned is not None, (seed, answer.findings)
        found = price(answer.planned.question, model, answer.planned.best.design)
        without = answer.planned.without_estimates
        codes = [(finding.code, finding.severity) for finding in answer.findings]
        if fitting is None:
            ways.add("nothing fits")
            assert found == best and codes == [("PW805", Severity.WARNING)], seed
        elif fitting == best:
            ways.add("the best fits")
            assert found == best and without is None and codes == [], seed
        else:
            ways.add("another fits")
            assert found == fitting and without is not None and codes == [("PW805", Severity.NOTE)], seed
            assert price(question, model, without.design) == best, seed
    assert ways == {"nothing fits", "the best fits", "another fits"}
