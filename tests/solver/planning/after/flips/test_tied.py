"""Flips where degrees follow others: a plan with other degrees of all of them is another plan, compared by plain sums."""

from __future__ import annotations

from random import Random

import pytest
from placewright.models.planning.measured import SECOND
from placewright.solver.planning.after.accounting import account
from placewright.solver.planning.after.flips.flip import HUNDRED, QUICKEST, SLOWEST, WORTH
from placewright.solver.planning.answering import answering
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.searching.search import solve

from ...choosing.test_tied import DEGREES, NAMES, Times, job


def takes(times: Times, component: str, percent: int) -> dict[object, int]:
    """ns of an iteration with each choice of the actor's degrees, which are those of the reference too."""
    factor = {name: percent if name == component else HUNDRED for name in NAMES}
    chosen = {parallel: {"actor": parallel, "ref": parallel, "rollout": DEGREES[0]} for parallel in DEGREES}
    return {
        parallel: sum(times[name][its] * factor[name] * SECOND // HUNDRED for name, its in degrees.items())
        for parallel, degrees in chosen.items()
    }


@pytest.mark.parametrize("seed", range(12))
def test_a_plan_flips_to_other_degrees_of_all_just_where_it_is_said(seed: int) -> None:
    random = Random(seed)
    times: Times = {name: {parallel: random.randint(1, 100) for parallel in DEGREES} for name in NAMES}
    solver = answering(solve, 10.0, 1, settle)
    problem = job(times)
    planned = solver(problem).planned
    assert planned is not None
    found = account(problem, planned, solve=solver).sensitivity
    assert found is not None and not found.left
    plan = planned.best.design.options["actor"].parallel

    def flipped(component: str, percent: int) -> bool:
        its = takes(times, component, percent)
        return any(other * (HUNDRED + WORTH) < its[plan] * HUNDRED for other in its.values())

    for name in NAMES:
        for step, end in ((1, SLOWEST), (-1, QUICKEST)):
            expected = next((percent for percent in range(HUNDRED, end + step, step) if flipped(name, percent)), None)
            (flip,) = (each for each in found.flips if each.component == name and (each.flips or each.holds) * step > HUNDRED * step)
            assert flip.sure and flip.placed
            assert flip.flips == expected, (name, end)
            if expected is not None:
                its = takes(times, name, expected)
                assert flip.to is not None
                assert flip.to.nanoseconds == min(its.values()) and flip.takes == its[plan]
                assert its[flip.to.design.options["actor"].parallel] == min(its.values())
                assert flip.to.design.options["ref"].parallel == flip.to.design.options["actor"].parallel
