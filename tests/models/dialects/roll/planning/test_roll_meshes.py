"""Counts of what FSDP2 trains: whole meshes of fsdp_size, or no more ranks than one holds; as the reading of the file itself judges them."""

from __future__ import annotations

import pytest
from placewright.solver.verify import verify
from placewright.solving import solve

from .opened import Config, config, of, problem_of


def job(size: int, ulysses: int = 1, devices: int = 8, **blocks: object) -> Config:
    """A job whose training has meshes of a size."""
    trains = {
        "model_args": {"ulysses_size": ulysses},
        "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1},
        "strategy_args": {"strategy_name": "fsdp2_train", "strategy_config": {"fsdp_size": size}},
        "device_mapping": f"list(range(0,{devices}))",
    }
    its = config(actor_train=trains, rollout_batch_size=90, placewright={"components": blocks})
    its["actor_infer"] = {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "list(range(0,16))"}
    return its


@pytest.mark.parametrize(("size", "ulysses"), [(2, 1), (4, 1), (6, 1), (8, 1), (12, 1), (4, 2), (6, 2), (8, 2), (9, 2), (12, 2)])
def test_every_count_that_the_file_may_have_may_be_planned(size: int, ulysses: int) -> None:
    timed = {"actor_train": {"seconds": {8: 80}}}
    accepted = {count for count, _ in problem_of(job(size, ulysses, **timed), "2x8").job.accepted["actor_train"]}
    taken = {count for count in range(1, 17) if not verify(of(job(size, ulysses, count), "2x8", level="training")).errors}
    assert accepted == taken
    assert len(accepted) > 1


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
