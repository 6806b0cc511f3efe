"""Of very many choices of degrees few are planned, and the answer is as if all were."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from placewright.models.answer import Answer
from placewright.models.component import Component, Parallel
from placewright.models.planning.workload import ACCELERATORS, SECOND, SECONDS, TABLE, After, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner import policies as cheapest_first
from placewright.planner import policies as tied
from placewright.planner.answer import Solver
from placewright.planner.policies import MOST_BESIDE
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, problem

ANSWER = Solver(solve, 10.0)
DEGREES = (Parallel(tp=1), Parallel(tp=2), Parallel(pp=2), Parallel(tp=2, pp=2))
NAMES = ("rollout", "actor", "ref")


def job(random: Random) -> Problem:
    """Two components with four choices each, and a third with the degrees of the second; all have times on one count with each of these."""
    nodes = random.choice([(6,), (3, 3), (4, 4), (2, 2, 2)])

    def part(name: str) -> Component:
        counts = ([count for count in range(2, 7) if len(nodes) < 2 or count % (its.tp * its.pp) == 0] for its in DEGREES)
        rows = [
            Measurement(random.choice(some), random.randint(10, 100) * SECOND, parallel=its) for its, some in zip(DEGREES, counts) if some
        ]
        return Component(name, least=1, most=6, parallel=DEGREES[0], timed=TimedComponent(tuple(rows), TABLE))

    asked = problem(cluster(*({"count": count} for count in nodes)), *map(part, NAMES), together=random.choice(["", "actor+ref"]))
    workload = Workload(tuple(After(one, other, random.random() < 0.5) for one, other in zip(NAMES, NAMES[1:])))
    model, nested = random.choice([workload.model, "rlinf"]), random.random() < 0.3
    aim, budget = random.choice([(SECONDS, Budget()), (ACCELERATORS, Budget(nanoseconds=random.randint(50, 250) * SECOND))])
    workload = replace(workload, model=model, nested=nested, aim=aim, budget=budget)
    choices = dict.fromkeys(("actor", "rollout"), DEGREES)
    return replace(
        asked, job=replace(asked.job, choices=choices, planning=replace(asked.job.planning, workload=workload, tied={"ref": "actor"}))
    )


def told(answer: Answer) -> tuple[object, ...]:
    """All that is said of the best plan."""
    if (its := answer.planned) is None:
        return (answer.verdict, *(finding.message for finding in answer.findings))
    return answer.verdict, its.price, its.bound, its.proved, its.ties_open, len(its.parts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
def test_the_answer_is_that_of_all_choices(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = job(Random(seed))
    monkeypatch.setattr(cheapest_first, "MOST_BESIDE", 0)
    found = ANSWER(asked)
    monkeypatch.setattr(cheapest_first, "lower_bounds", lambda every, *_: [0] * len(every))
    every = ANSWER(asked)
    assert told(found) == told(every)
    if (
        found.planned is not None
        and every.planned is not None
        and not found.planned.alternatives_open
        and found.planned.question.aim == SECONDS
    ):
        assert [each.nanoseconds for each in found.planned.alternatives] == [each.nanoseconds for each in every.planned.alternatives]


def test_of_eighteen_choices_few_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was planned, placed, written and verified, also where one is the best at sight."""
    degrees = tuple(Parallel(tp=tp, pp=pp) for tp in range(1, 13) for pp in range(1, 13) if 12 % (tp * pp) == 0)
    points = tuple(Measurement(12, (50 if its.tp > 1 or its.pp > 1 else 10) * SECOND, parallel=its) for its in degrees)
    parts = (Component(name, least=12, most=12, parallel=degrees[0], timed=TimedComponent(points, TABLE)) for name in ("actor", "ref"))
    asked = problem(cluster({"count": 12}), *parts)
    workload = Workload((After("ref", "actor", True),))
    asked = replace(
        asked,
        job=replace(asked.job, choices={"actor": degrees}, planning=replace(asked.job.planning, workload=workload, tied={"ref": "actor"})),
    )
    planned, first = list[int](), cheapest_first.cheapest_first

    def counted(*its: Any) -> Any:
        found = first(*its)
        planned.append(len(found[0]))
        return found

    monkeypatch.setattr(tied, "cheapest_first", counted)
    found = ANSWER(asked).planned
    assert found is not None and found.proved and found.best.nanoseconds == 20 * SECOND and len(found.parts) == len(degrees) == 18
    assert planned == [1 + MOST_BESIDE]
