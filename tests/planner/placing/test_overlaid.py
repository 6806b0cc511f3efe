"""Given components that others may use accelerators of: room, placements over them, and what must not use theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import SUBSET, Relation
from placewright.models.machines.node_group import ACCELERATOR
from placewright.models.placements.run import Run
from placewright.models.planning.workload import SECOND, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.accounting import account
from placewright.planner.answer import Solver
from placewright.planner.capacity import areas, free_capacity
from placewright.planner.problem import planning_problem as question
from placewright.report.planning.works import works
from placewright.solver.choosing.lying_over import place_over_given
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, component, given, problem


def timed(name: str, least: int, most: int, seconds: int = 80) -> Any:
    rows = tuple(Measurement(count, seconds * SECOND // count) for count in (1, 2, 4, 8))
    return replace(component(name, least, most), timed=TimedComponent(rows))


def asked(judge: tuple[int, ...], overlaps: dict[str, frozenset[str]], *parts: Any) -> Problem:
    """One node of 8 with a judge on given accelerators."""
    its = problem(cluster({"count": 8}), *parts, given("judge", Run(range(len(judge)), 0, first=judge[0])), shares=True)
    return replace(its, job=replace(its.job, overlaps=overlaps, planning=replace(its.job.planning, workload=Workload())))


def test_who_may_share_has_room_that_others_have_not() -> None:
    its = asked((6, 7), {"judge": frozenset({"actor"})}, timed("actor", 1, 8), timed("rollout", 1, 8))
    actor, rollout, judge = its.components
    space = free_capacity(its, [judge])
    assert space.kinds[0].accelerators == 8
    assert (space.most(its, actor, 0), space.most(its, rollout, 0)) == (8, 6)
    alone = free_capacity(replace(its, job=replace(its.job, overlaps={})), [judge])
    assert (alone.kinds[0].accelerators, alone.most(its, actor, 0)) == (6, 6)


def test_what_is_one_range_has_the_longest_one_for_room() -> None:
    whole = replace(timed("rollout", 1, 8), contiguous=True)
    its = asked((2, 3), {"judge": frozenset({"actor"})}, timed("actor", 1, 8), whole)
    space = free_capacity(its, [its["judge"]])
    assert (space.most(its, its["actor"], 0), space.most(its, whole, 0)) == (8, 4)


def test_two_that_may_not_share_have_one_room_between_them() -> None:
    parts = [timed("actor", 1, 8), timed("rollout", 1, 8), timed("critic", 1, 8)]
    its = asked((6, 7), {"judge": frozenset({"actor"})}, *parts)
    space = free_capacity(its, [its["judge"]])
    assert its.job.planning.workload is not None
    options = question(its).options
    assert [(set(area.components), dict(area.rooms)) for area in areas(its, its.components[:3], options, space)] == [
        ({"rollout", "critic"}, {1: 6})
    ]


def test_the_best_plan_lies_over_what_lets_it_and_keeps_its_place() -> None:
    its = asked((6, 7), {"judge": frozenset({"actor"})}, timed("actor", 1, 8), timed("rollout", 1, 8))
    answer = Solver(solve, 2.0)(its)
    assert answer.plan is not None
    placed = answer.plan.assignment
    assert placed.masks("judge") == its.build_given().masks("judge")
    assert not any(mask & 0b11000000 for mask in placed.masks("rollout").values())
    assert answer.planned is not None
    assert answer.planned.proved
    assert answer.planned.best.nanoseconds == 20 * SECOND  # on 4 each, where only `actor` may lie over the judge


def test_one_alone_uses_all_that_is_shared() -> None:
    answer = Solver(solve, 2.0)(asked((0, 1, 2, 3), {"judge": frozenset({"actor"})}, timed("actor", 8, 8)))
    assert answer.plan is not None
    assert answer.plan.assignment.count_held("actor") == 8
    assert answer.plan.components == ("actor", "judge")


@pytest.mark.parametrize("count", [2, 4, 6])
@pytest.mark.parametrize("judge", [(0, 1), (6, 7)])
def test_what_must_not_lie_over_it_is_placed_first(judge: tuple[int, int], count: int) -> None:
    its = asked(judge, {"judge": frozenset({"actor"})}, component("rollout", count), component("actor", 8 - count))
    answer = place_over_given(its, solve)
    assert answer.plan is not None
    masks = [next(iter(answer.plan.assignment.masks(name).values())) for name in ("rollout", "actor", "judge")]
    assert masks[0] & (masks[1] | masks[2]) == 0
    assert masks[0] | masks[1] == 0b11111111


def test_where_what_must_not_share_has_no_room_it_is_proved() -> None:
    its = asked((0, 1), {"judge": frozenset({"actor"})}, component("rollout", 7), component("actor", 1))
    answer = place_over_given(its, solve)
    assert answer.verdict == IMPOSSIBLE
    assert answer.findings[0].message == (
        "impossible beside `judge` and over it, whose ranks are given: what may not use theirs has no room, or memory is short"
    )


def test_what_shows_that_there_is_no_room_is_said() -> None:
    its = asked((3, 4), {"judge": frozenset({"actor"})}, component("rollout", 6, contiguous=True), component("actor", 2))
    assert place_over_given(its, solve).findings[0].message == (
        "impossible beside `judge` and over it, whose ranks are given: rollout needs one free range of 6 accelerators, the longest has 3"
    )


def test_one_inside_another_is_placed_beside_what_only_the_outer_one_may_use() -> None:
    """`rollout` is within `reference`, which may use all, and `actor` within `rollout`; the judge sits in the middle."""
    for contiguous in (False, True):
        its = asked(
            (2, 3), {"judge": frozenset({"reference"})}, component("reference", 8),
            component("rollout", 4, contiguous=contiguous), component("actor", 2, contiguous=contiguous),
        )  # fmt: skip
        relations = tuple(Relation(SUBSET, pair) for pair in (("rollout", "reference"), ("actor", "rollout")))
        answer = place_over_given(replace(its, job=replace(its.job, relations=relations)), solve)
        assert answer.plan is not None
        reference, rollout, actor = (answer.plan.assignment.masks(name)[0, ACCELERATOR] for name in ("reference", "rollout", "actor"))
        assert reference == 0b11111111 and not rollout & 0b1100 and not actor & ~rollout
        assert (rollout.bit_count(), actor.bit_count()) == (4, 2)


def test_memory_beside_what_is_given_is_counted() -> None:
    its = problem(
        cluster({"count": 4, "gib": 80}), component("actor", 2, gib=50), component("critic", 2),
        given("judge", Run(range(2), 0, first=0), memory=40 * 1024), shares=True,
    )  # fmt: skip
    its = replace(its, job=replace(its.job, overlaps={"judge": frozenset({"actor", "critic"})}))
    answer = place_over_given(its, solve)
    assert answer.plan is not None
    assert answer.plan.assignment.masks("actor")[0, ACCELERATOR] == 0b1100


def test_what_has_no_room_even_so_is_impossible() -> None:
    answer = place_over_given(asked((0, 1), {"judge": frozenset({"actor"})}, component("actor", 9, 9)), solve)
    assert answer.verdict == "impossible"


def test_the_bill_counts_what_lies_over_the_plan() -> None:
    """8 GiB of the actor and 3 of the judge are on the same accelerators: neither has them alone."""
    actor = replace(timed("actor", 8, 8), memory=8 * 1024, phases=("train",))
    its = asked((6, 7), {"judge": frozenset({"actor"})}, actor)
    parts = tuple(replace(each, memory=3 * 1024) if each.name == "judge" else each for each in its.components)
    its = replace(its, job=replace(its.job, components=parts))
    answer = Solver(solve, 2.0)(its)
    assert answer.plan is not None and answer.planned is not None
    found = account(its, answer.planned, searches=0, assignment=answer.plan.assignment)
    peaks = {bill.block.components: (bill.block.accelerators, bill.peak.mebibytes) for bill in found.bills}
    assert peaks == {("actor",): (6, 8 * 1024), ("actor", "judge"): (2, 11 * 1024)}
    said = works(found).splitlines()[-1]
    assert said == "the 8 accelerators work 100 % of the time, not counting judge, which has no seconds"
