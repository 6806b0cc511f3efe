"""Components without times get what the others leave, as ranges do where nothing has times; no plan takes longer for that."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any, Iterator

import pytest
from placewright.models.component import Component, Pin
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import ACCELERATORS, SECOND, After, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.placing import placing
from placewright.planner.plan import plan
from placewright.solver.searching.search import solve
from sampling import examples

from ...solver.cases import cluster, component, problem

CHAIN = Workload((After("rollout", "actor"),))
NODES = cluster({"count": 8}, {"count": 8})


def timed(name: str, least: int, most: int, seconds: int = 60, **more: Any) -> Component:
    """A component that is as much quicker as it has more accelerators."""
    rows = tuple(Measurement(count, seconds * SECOND * 4 // count) for count in (1, 2, 4, 8))
    return replace(component(name, least, most, **more), timed=TimedComponent(rows))


def planned(asked_for: Problem, workload: Workload = CHAIN) -> PlanningResult:
    answer = plan(asked_for.with_workload(workload), solve)
    assert answer.plan is not None and answer.planned is not None, answer.findings
    found = answer.planned
    assert {name: answer.plan.assignment.world_size(name) for name in found.question.components} == {
        name: option.processes for name, option in found.best.design.options.items()
    }
    return found


def counts(found: PlanningResult) -> dict[str, int]:
    return {name: option.amount for name, option in found.best.design.options.items()}


TRAINING = timed("rollout", 4, 8), timed("actor", 4, 4)


def test_a_range_without_times_gets_all_that_is_left() -> None:
    found = planned(problem(NODES, *TRAINING, component("reward", 1, 6), apart="rollout+actor"))
    assert counts(found) == {"rollout": 8, "actor": 4, "reward": 4}
    assert found.filled == {"reward": 6}
    assert found.best.design.accelerators == 16
    assert found.price == (found.best.nanoseconds, 13), "what nobody else needs makes no plan dearer"


def test_it_gets_no_more_than_was_asked() -> None:
    found = planned(problem(NODES, *TRAINING, component("reward", 1, 3), apart="rollout+actor"))
    assert counts(found)["reward"] == 3


def test_a_budget_is_of_what_they_get_too() -> None:
    parts = component("reward", 1, 6), component("judge", 1, 6)
    found = planned(problem(NODES, *TRAINING, *parts, apart="rollout+actor"), replace(CHAIN, budget=Budget(15)))
    assert counts(found) == {"rollout": 8, "actor": 4, "reward": 2, "judge": 1}
    roomy = timed("rollout", 4, 4), timed("actor", 4, 4)
    found = planned(problem(NODES, *roomy, *parts, apart="rollout+actor"), replace(CHAIN, budget=Budget(12)))
    assert counts(found) == {"rollout": 4, "actor": 4, "reward": 3, "judge": 1}, "in the written order where the budget has no room for all"


def test_what_lies_within_another_grows_with_it() -> None:
    parts = timed("rollout", 4, 4), timed("actor", 4, 4), component("judge", 1, 4), component("reward", 1, 6)
    asked_for = problem(NODES, *parts, apart="rollout+actor", within="judge+reward")
    assert counts(planned(asked_for, replace(CHAIN, budget=Budget(12)))) == {"rollout": 4, "actor": 4, "judge": 4, "reward": 4}


def test_the_fewest_accelerators_are_the_fewest() -> None:
    asked_for = problem(NODES, *TRAINING, component("reward", 1, 6), component("judge", 1, 6), within="judge+actor")
    found = planned(asked_for, replace(CHAIN, aim=ACCELERATORS))
    assert counts(found) == {"rollout": 4, "actor": 4, "reward": 1, "judge": 4}, "who is within others takes none of its own"
    assert found.best.design.accelerators == found.price[0] == 9


def test_one_within_what_trains_gets_all_of_it() -> None:
    found = planned(problem(NODES, *TRAINING, component("reward", 1, 6), apart="rollout+actor", within="reward+actor"))
    assert counts(found) == {"rollout": 8, "actor": 4, "reward": 4}
    assert {(block.components, block.accelerators) for block in found.best.design.blocks} == {(("rollout",), 8), (("actor", "reward"), 4)}
    assert found.best.design.structure() not in {each.design.structure() for each in found.alternatives}


def test_one_bound_to_what_trains_has_its_count() -> None:
    found = planned(problem(NODES, *TRAINING, component("reward", 1, 8), together="reward+actor"))
    assert counts(found)["reward"] == counts(found)["actor"] and not found.filled


def test_traffic_that_would_take_time_is_none_of_what_is_left() -> None:
    """Two are left in each rack, and more than two would exchange something across racks."""
    pinned = (timed(name, 4, 4, pins=(Pin(range(4), (node,)),)) for node, name in enumerate(("rollout", "actor")))
    racks = cluster({"count": 6, "rack": "a"}, {"count": 6, "rack": "b"})
    asked_for = problem(racks, *pinned, component("reward", 1, 6, traffic=1024))
    assert counts(planned(asked_for))["reward"] == 4
    found = planned(asked_for, replace(CHAIN, bandwidth={"rack": 100}))
    assert (counts(found)["reward"], found.best.traffic) == (2, 0)


def drawn(seed: int) -> tuple[Problem, Workload]:
    """Two components with times and two ranges without, on small nodes with holes; groups, relations and budgets."""
    random = Random(f"left over {seed}")
    nodes = [{"count": random.choice((2, 3, 4)), "taken": random.choice((0, 0, 1))} for _ in range(random.choice((2, 3)))]
    if random.random() < 0.3:
        nodes[0]["model"] = "other"
    parts: list[Component] = [timed("rollout", 1, random.choice((1, 3))), timed("actor", 1, random.choice((1, 2)), 30)]
    for name in ("reward", "judge")[: random.choice((1, 2))]:
        tp = random.choice((1, 1, 2))
        parts.append(component(name, tp, tp * random.choice((2, 3, 4)), tp=tp))
    told = (("within", "reward+actor"), ("not_fewer", "reward+judge"), ("within", "judge+reward"), ("apart", "rollout+actor"))
    parts = [*parts[:2], *random.sample(parts[2:], len(parts) - 2)]
    names = {each.name for each in parts}
    said: dict[str, str] = {}
    for word, pair in told:
        if random.random() < 0.3 and word not in said and names.issuperset(pair.split("+")):
            said[word] = pair
    if "within" not in said and random.random() < 0.4:  # one that is within another is not contiguous
        parts[-1] = replace(parts[-1], contiguous=True)
    budget = Budget(random.choice((None, None, 4, 6)))
    return problem(cluster(*nodes), *parts, **said), replace(CHAIN, budget=budget)


def wider(asked_for: Problem, found: PlanningResult) -> Iterator[dict[str, int]]:
    """Every way to have other counts of what has no times beside the same of what has, that has a placement and keeps to the budget."""
    lean, question = found.compared, found.question
    names = [name for name in question.components if not question.tasks_of[name]]
    for options in product(*(question.options[name] for name in names)):
        its = dict(zip(names, options))
        if any(its[name].parallel != lean.options[name].parallel for name in names):
            continue
        if any(its[name].kind != lean.options[name].kind for pair in question.sharing.within for name in pair if name in its):
            continue
        fixed = placing(asked_for, question, replace(lean, options={**lean.options, **its}), {name: its[name].amount for name in names})
        parts = tuple(replace(each, least=its[each.name].amount) if each.name in its else each for each in fixed.components)
        answer = solve(replace(fixed, job=replace(fixed.job, components=parts)))
        if answer.plan is None:
            continue
        used = {seat for name in question.components for seat in _held(answer.plan.assignment.masks(name))}
        if question.budget.accelerators is None or len(used) <= question.budget.accelerators:
            yield {name: option.amount for name, option in its.items()}


def _held(masks: dict[tuple[int, str], int]) -> Iterator[tuple[int, int]]:
    return ((node, index) for (node, _), mask in masks.items() for index in range(mask.bit_length()) if mask >> index & 1)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(part, examples(20), 4) for part in range(4)])
def test_no_placement_has_more_of_what_has_no_times(seeds: range) -> None:
    for seed in seeds:
        asked_for, workload = drawn(seed)
        answer = plan(asked_for.with_workload(workload), solve)
        if answer.planned is None:
            continue
        found = answer.planned
        assert not list(faults(found.question, cost_model("stream"), found.best.design)), seed
        mine = {name: counts(found)[name] for name in found.question.components if not found.question.tasks_of[name]}
        every = list(wider(asked_for, found))
        assert mine in every, seed
        if found.question.budget.accelerators is None:
            assert sum(mine.values()) == max(sum(its.values()) for its in every), seed
        assert not [its for its in every if its != mine and all(its[name] >= mine[name] for name in mine)], seed
