"""Where a plan flips, against plans that nobody asked for too: with other times it is solved again with all of them allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.planning.planned import Planned
from placewright.models.problem import Problem
from placewright.solver.planning.after.accounting import account
from placewright.solver.planning.after.flips.flip import HUNDRED, WORTH
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.costs.cost_model import iteration

from ...variants.test_both import ANSWER, nested, random_job
from ...variants.test_over_nodes import opened

PLAN = Path(__file__).parents[5] / "examples" / "plan.yaml"
ROUNDED = 1_000
"""ns that times between those that were measured differ by, where these are scaled instead."""


def slowed(problem: Problem, component: str, percent: int) -> Problem:
    """The problem in which a component takes so many percent of its times."""

    def scaled(each: int) -> int:
        return -(-each * percent // HUNDRED)

    found = []
    for each in problem.components:
        if each.name == component and each.timed is not None:
            times = tuple(replace(its, nanoseconds=scaled(its.nanoseconds)) for its in each.timed.measured)
            each = replace(each, timed=replace(each.timed, measured=times))
        found.append(each)
    return replace(problem, job=replace(problem.job, components=tuple(found)))


def there(planned: Planned, component: str, percent: int) -> int:
    """ns of the plan where a component takes so many percent of its times."""
    design = planned.best.design
    option = design.options[component]
    times = tuple(-(-time * percent // HUNDRED) for time in option.nanoseconds)
    its = replace(design, options={**design.options, component: replace(option, nanoseconds=times)})
    return iteration(cost_model(planned.model), planned.question, its)


def test_a_plan_holds_against_plans_that_nobody_asked_for_as_far_as_is_said() -> None:
    """As far as a flip says it, or less far where that is said; with groups over nodes, nested, or both at once."""
    far = less = unsure = 0
    for seed in (*range(14), 98, 109, 110):
        its = random_job(Random(seed))
        planned = ANSWER(its).planned
        if planned is None:
            continue
        found = account(its, planned).sensitivity
        assert found is not None
        if found.wider is not None and not found.wider.as_it_is:
            unsure += 1
            continue
        ends = {(flip.component, flip.holds > HUNDRED): flip.holds for flip in found.flips if flip.holds != HUNDRED}
        for held in found.wider.holds if found.wider is not None else ():
            ends[held.component, held.slower] = held.percent
            less += 1
        for (name, _), holds in ends.items():
            best = ANSWER(nested(opened(slowed(its, name, holds)))).planned
            assert best is not None and best.proved
            assert best.price[0] * (HUNDRED + WORTH) >= there(planned, name, holds) * HUNDRED, (seed, name, holds)
            far += 1
    assert far > 20 and less > 1 and unsure > 2


def test_where_traffic_counts_as_time_other_plans_are_of_the_kinds_that_they_were_found_with(tmp_path: Path) -> None:
    """Beside plans on several kinds at once, of which the kinds are one."""
    file = tmp_path / "job.yaml"
    file.write_text(
        "cluster: 1x3xH100+1x2xA100\ncomponents:\n"
        "  named: {accelerators: 1-5, accelerator: A100, scaling: table, seconds: {1: 32}, phase: generate, traffic: 20GiB}\n"
        "  any: {accelerators: 1-5, scaling: table, seconds: {1: 6, 5: 46}, phase: infer, traffic: 20GiB}\n"
        "plan: {cost_model: stages, bandwidth: {node: 2GiB}}\n",
        encoding="utf-8",
    )
    found = pw.account(str(file))
    assert found is not None and found.sensitivity is not None and len(found.sensitivity.flips) == 4


def test_the_nested_plan_to_which_it_flips_sooner_is_told() -> None:
    """The best that is known there: at no percent before it is one better, and there it is."""
    found, problem = pw.account(str(PLAN)), pw.load(str(PLAN)).problem
    assert problem is not None and found is not None and found.sensitivity is not None and found.sensitivity.wider is not None
    flips, planned = found.sensitivity.wider.flips, found.planned
    assert {flip.component for flip in flips} == {"rollout", "reward", "actor"}
    assert any(flip.placed for flip in flips) and not all(flip.placed for flip in flips)
    for flip in flips:
        assert flip.flips is not None and flip.to is not None and flip.exact
        best = ANSWER(nested(slowed(problem, flip.component, flip.flips))).planned
        takes = there(planned, flip.component, flip.flips)
        assert best is not None and best.price[0] <= flip.to.nanoseconds + ROUNDED and takes == pytest.approx(flip.takes, abs=ROUNDED)
        assert flip.to.nanoseconds * (HUNDRED + WORTH) <= flip.takes * HUNDRED
        holds = ANSWER(nested(slowed(problem, flip.component, flip.holds))).planned
        assert holds is not None
        assert (holds.price[0] + ROUNDED) * (HUNDRED + WORTH) >= there(planned, flip.component, flip.holds) * HUNDRED


@pytest.mark.parametrize(("nested", "sure"), [("", False), (", nested: false", True)])
def test_nothing_keeps_to_the_budget_where_no_plan_that_nobody_asked_for_does_either(tmp_path: Path, nested: str, sure: bool) -> None:
    """With more time for one of both, reward has only some of rollout's four: 22 of 30 seconds."""
    file = tmp_path / "job.yaml"
    file.write_text(
        "cluster: 1x4\ncomponents:\n"
        "  rollout: {accelerators: 2-4, scaling: table, seconds: {2: 20, 4: 12}}\n"
        "  reward: {accelerators: 1-2, scaling: table, seconds: {1: 12, 2: 10}}\n"
        f"plan: {{workflow: rollout => reward, budget: {{seconds: 30}}{nested}}}\n",
        encoding="utf-8",
    )
    found = pw.account(str(file)).sensitivity
    assert found is not None
    assert [(flip.component, flip.flips, flip.to, flip.sure) for flip in found.flips if flip.flips is not None] == [
        ("rollout", 101, None, sure), ("reward", 101, None, sure),
    ]  # fmt: skip
