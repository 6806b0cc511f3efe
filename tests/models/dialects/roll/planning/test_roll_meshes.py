"""Counts of what FSDP2 trains: whole meshes of fsdp_size, or no more ranks than one holds; as the reading of the file itself judges them."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.problem import Problem
from placewright.planner.capacity import free_capacity
from placewright.planner.profile import options
from placewright.planner.verify import verify

from .opened import Config, config, of, problem_of


def job(size: int | str, ulysses: int = 1, devices: int = 8, experts: int = 1, **blocks: object) -> Config:
    """A job whose training has meshes of a size, and expert groups of two times `experts` where these are several."""
    trains = {
        "model_args": {"ulysses_size": ulysses},
        "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1},
        "strategy_args": {"strategy_name": "fsdp2_train", "strategy_config": {"fsdp_size": size, **({"ep_size": experts, "efsdp_size": 2} if experts > 1 else {})}},
        "device_mapping": f"list(range(0,{devices}))",
    }  # fmt: skip
    its = config(actor_train=trains, rollout_batch_size=90, eight=8, placewright={"components": blocks})
    its["actor_infer"] = {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "list(range(0,16))"}
    return its


def taken(size: int | str, ulysses: int = 1, experts: int = 1) -> set[int]:
    """The counts that the reading of ranks finds no fault with."""
    return {count for count in range(1, 17) if not verify(of(job(size, ulysses, count, experts), "2x8", level="training")).errors}


def planned(problem: Problem) -> set[tuple[int, int]]:
    """(count, Ulysses degree) of every way in which training may be planned."""
    its = problem["actor_train"]
    return {(each.amount, each.parallel.cp) for each in options(problem, its, its.timed, free_capacity(problem, []), 1)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "ulysses", "experts"),
    [(2, 1, 1), (4, 1, 1), (6, 1, 1), (8, 1, 1), (12, 1, 1), (4, 2, 1), (6, 2, 1), (8, 2, 1), (9, 2, 1), (12, 2, 1), ("${eight}", 1, 1), (8, 1, 2), (12, 1, 3), (8, 2, 2)],
)  # fmt: skip
def test_every_count_that_the_file_may_have_may_be_planned(size: int | str, ulysses: int, experts: int) -> None:
    problem = problem_of(job(size, ulysses, experts=experts, actor_train={"seconds": {8: 80}}), "2x8")
    counts = {count for count, _ in planned(problem)}
    assert counts == taken(size, ulysses, experts)
    assert len(counts) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("size", "experts"), [(8, 1), (6, 1), (9, 1), ("${eight}", 1), (8, 2)])
def test_every_count_of_open_ulysses_degrees_may_be_planned(size: int | str, experts: int) -> None:
    timed = {"seconds": {8: 80}, "parallel": {"cp": [1, 2, 3]}}
    problem = problem_of(job(size, experts=experts, actor_train=timed), "2x8")
    assert planned(problem) == {(count, cp) for cp in (1, 2, 3) for count in taken(size, cp, experts)}


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 6, 8, 12])
def test_hints_without_times_are_impossible_only_where_no_count_is_taken(size: int) -> None:
    fit = taken(size)
    for rest in range(1, 16):
        infers = {"accelerators": rest, "disjoint_from": "actor_train"}
        for least in (1, 4, 9):
            its = job(size, actor_train={"accelerators": f"{least}-16"}, actor_infer=infers)
            answer = solve(of(without_devices(its), "2x8", level="training"), sandbox=False)
            can = any(least <= count <= 16 - rest for count in fit)
            assert (answer.plan is not None) == can, (rest, least)
            if answer.plan is not None:
                assert answer.plan.assignment.amount("actor_train") in fit


def without_devices(its: Config) -> Config:
    for role in ("actor_train", "actor_infer"):
        del its[role]["device_mapping"]
    return its


def test_a_part_of_a_mesh_is_planned_and_proved_where_it_is_best() -> None:
    """On four devices training takes 40 seconds, on a whole mesh of eight 200."""
    trains = {"seconds": {4: 40, 8: 200, 16: 200}, "scaling": "table"}
    reading = of(job(8, actor_train=trains, actor_infer={"seconds": {16: 39}}), "2x8")
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None
    assert answer.planned.proved
    assert answer.planned.best.nanoseconds == 79 * 10**9


def test_what_only_a_part_of_a_mesh_leaves_room_for_is_not_impossible() -> None:
    infers = {"accelerators": 12, "seconds": {12: 40}, "disjoint_from": "actor_train"}
    its = job(8, actor_train={"accelerators": "4-16", "seconds": {4: 40}}, actor_infer=infers)
    answer = solve(of(its, "2x8"), sandbox=False)
    assert answer.plan is not None
    assert answer.plan.assignment.amount("actor_train") == 4
