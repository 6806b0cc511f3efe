"""A ROLL file with times: what is open when it is read anew, and how its iterations go on."""

from __future__ import annotations

from placewright.models.component import DISJOINT
from placewright.models.placements.assignment import seats
from placewright.models.planning.workload import STEADY
from placewright.models.problem import Problem

from .opened import config, of, problem_of


def test_the_file_itself_is_verified_as_it_stands_and_planned_anew() -> None:
    reading = of(config())
    assert reading.problem is not None
    assert not any(each.runs is None for each in reading.problem.components)
    planned = problem_of(config())
    assert {each.name for each in planned.components if each.runs is None} == {"actor_train", "actor_infer"}
    assert {name: len(list(seats(runs))) for name, runs in planned.job.planning.own.items()} == {"actor_train": 8, "actor_infer": 4}
    assert planned["rewards.math"].runs is not None


def test_generating_while_training_is_steady_and_apart() -> None:
    planned = problem_of(config(async_generation_ratio=1))
    assert planned.job.planning.workload is not None
    assert planned.job.planning.workload.model == STEADY
    assert any(each.kind == DISJOINT and set(each.components) == {"actor_infer", "actor_train"} for each in planned.job.relations)


def test_why_it_is_steady_is_said_unless_the_block_says_how_it_is_counted() -> None:
    workload = problem_of(config(async_generation_ratio=1)).job.planning.workload
    assert workload is not None
    (said,) = workload.assumed
    assert said.startswith("cost model steady: the job generates while it trains (`async_generation_ratio`)")
    synchronous = problem_of(config()).job.planning.workload
    assert synchronous is not None and synchronous.assumed == ()


def test_in_turn_each_stage_waits_for_all_of_the_one_before() -> None:
    workload = problem_of(config()).job.planning.workload
    assert workload is not None
    assert [(each.earlier, each.later, each.whole) for each in workload.after] == [("actor_infer", "actor_train", True)]


def test_where_defaults_are_missing_counts_are_those_of_rolls_own_and_that_is_said() -> None:
    its = config(actor_train={**config()["actor_train"], "strategy_args": {"strategy_name": "megatron_train", "strategy_config": {}}})
    whole, missing = of(its), of({"defaults": ["../shared/envs@_here_"], **its})
    planned, expected = missing.to_solve, whole.to_solve.problem
    assert planned.problem is not None
    assert expected is not None

    def shares(problem: Problem) -> list[int]:
        return [
            amount for amount in range(1, 33) if all(each.divides(amount) for each in problem.shares if each.component == "actor_train")
        ]

    assert shares(planned.problem) == shares(expected) == [1, 2, 4, 8, 16, 32]
    said = [each for each in planned.findings if any("own defaults" in note for note in each.notes)]
    assert [each.code for each in said] == ["PW122"]
    assert "`actor_train.strategy_args.strategy_config.tensor_model_parallel_size`" in said[0].notes[0]
    assert not any("own defaults" in note for each in whole.to_solve.findings for note in each.notes)
    verified = of({"defaults": ["../shared/envs@_here_"], **its}, level="training")
    assert ("PW401", "actor_train") in {(each.rule, each.subject) for each in verified.unchecked}
