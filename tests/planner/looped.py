"""Two phases in a chain, planned and placed in rounds."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Callable

from placewright.models.answer import Answer
from placewright.models.component import Component, Parallel, Pin, Spread
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import SECOND, After, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.plan import plan
from placewright.solver.searching.search import solve

from ..solver.cases import cluster, component, problem

CHAIN = Workload((After("rollout", "actor"),))


def timed(name: str, least: int, most: int, seconds: int = 60, power: float = 1.0, **more: Any) -> Component:
    """A component that takes so many seconds on 4 accelerators; `power` 1 is twice as fast on twice as many."""
    rows = tuple(Measurement(count, int(seconds * SECOND * (4 / count) ** power)) for count in (1, 2, 4, 8, 16))
    return replace(component(name, least, most, **more), timed=TimedComponent(rows))


def planned(asked_for: Problem, workload: Workload = CHAIN, place: Callable[[Problem], Answer] = solve) -> tuple[Answer, PlanningResult]:
    """The answer, which has a plan."""
    answer = plan(asked_for.with_workload(workload), place)
    assert answer.plan is not None, answer.findings
    assert answer.planned is not None
    return answer, answer.planned


def drawn(seed: int) -> Problem:
    """Two or three components on two or three small nodes with holes, groups, and demands that no count tells of."""
    random = Random(f"loop {seed}")
    nodes = [
        {"count": random.choice((2, 3, 4)), "taken": random.choice((0, 0, 1)), "rack": rack} for rack in "aba"[: random.choice((2, 2, 3))]
    ]
    size = random.choice((2, 2, 3))
    parts = []
    for name in ("rollout", "actor", "ref")[:size]:
        more: dict[str, Any] = {}
        if random.random() < 0.4:
            more["spread"] = (Spread("rack", 2),)
        elif random.random() < 0.4:
            more["pins"] = (Pin(range(random.choice((1, 2))), (random.randrange(len(nodes)),)),)
        tp = random.choice((1, 1, 2, 3))
        parts.append(
            timed(name, tp, 6, random.choice((30, 60, 90)), random.choice((0.3, 0.6, 1.0)), tp=tp, contiguous=random.random() < 0.2, **more)
        )
    choices = {"rollout": (Parallel(2), Parallel(1))} if random.random() < 0.4 else {}
    relations = {
        word: f"rollout+actor{level}" for word, level in (("apart", ""), ("away", "@rack"), ("near", "@rack")) if random.random() < 0.25
    }
    asked_for = problem(cluster(*nodes), *parts, **relations)
    return replace(asked_for, job=replace(asked_for.job, choices=choices))


PAIR = problem(cluster({"count": 8}, {"count": 8}), timed("rollout", 1, 16), timed("actor", 1, 16, 30))
