"""A ROLL file with times: what is open when it is read anew, what its degrees make of it, and what is written."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from placewright.models.component import DISJOINT
from placewright.models.dialects import roll
from placewright.models.dialects.load import read
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment, compress, seats
from placewright.models.planning.workload import STEADY
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.solver.verify import verify
from placewright.solving import solve

Config = dict[str, Any]


def config(**changes: Any) -> Config:
    found: Config = {
        "rollout_batch_size": 64, "num_return_sequences_in_group": 8, "adv_estimator": "grpo", "init_kl_coef": 0,
        "actor_train": {
            "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16},
            "strategy_args": {"strategy_name": "megatron_train", "strategy_config": {"tensor_model_parallel_size": 2}},
            "device_mapping": "list(range(0,8))",
        },
        "actor_infer": {
            "strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2}}, "device_mapping": "list(range(8,16))",
        },
        "rewards": {"math": {"world_size": 4, "tag_included": ["math"]}},
        "placewright": {"components": {
            "actor_train": {"seconds": {8: 80}}, "actor_infer": {"seconds": {8: 240}, "parallel": {"tp": [1, 2, 4]}},
        }},
    }  # fmt: skip
    return {**found, **changes}


def of(its: Config | str, cluster: str = "4x8", level: str = "placement") -> Reading:
    text = its if isinstance(its, str) else yaml.safe_dump(its, sort_keys=False)
    return read(Source("train.yaml", text), read_shorthand(cluster) if cluster else None, "roll", level)


def problem_of(its: Config, cluster: str = "4x8") -> Problem:
    problem = of(its, cluster).to_solve.problem
    assert problem is not None
    return problem


def test_the_file_itself_is_verified_as_it_stands_and_planned_anew() -> None:
    reading = of(config())
    assert reading.problem is not None
    assert not any(each.runs is None for each in reading.problem.components)
    planned = problem_of(config())
    assert {each.name for each in planned.components if each.runs is None} == {"actor_train", "actor_infer"}
    assert {name: len(list(seats(runs))) for name, runs in planned.job.own.items()} == {"actor_train": 8, "actor_infer": 4}
    assert planned["rewards.math"].runs is not None


def test_each_choice_of_degrees_has_the_workers_that_roll_makes_of_it() -> None:
    planned = problem_of(config())
    shapes = planned.job.shapes["actor_infer"]
    assert {parallel.tp: shape.per_process for parallel, shape in shapes.items()} == {1: 1, 2: 2, 4: 4}
    assert planned.job.choices["actor_infer"] == (Parallel(1), Parallel(2), Parallel(4))


def test_degrees_that_do_not_divide_the_samples_are_not_accepted_at_that_count() -> None:
    blocks = config()["placewright"]["components"]
    its = config(placewright={"components": {**blocks, "actor_train": {"seconds": {8: 80}, "parallel": {"tp": [1, 2]}}}})
    accepted = problem_of(its).job.accepted["actor_train"]
    assert {amount for amount, parallel in accepted if parallel == Parallel(2)} == {2, 4, 8, 16, 32}
    assert {amount for amount, parallel in accepted if parallel == Parallel(1)} == {1, 2, 4, 8, 16, 32}
    assert not any(share.component == "actor_train" for share in problem_of(its).job.shares)


def test_what_the_strategy_has_no_key_for_is_an_error() -> None:
    blocks = config()["placewright"]["components"]
    its = config(placewright={"components": {**blocks, "actor_infer": {"seconds": {8: 240}, "parallel": {"cp": [2, 4]}}}})
    findings = of(its).to_solve.findings
    assert [finding.code for finding in findings] == ["PW121"]
    assert "cp 2 or cp 4" in findings[0].message


def test_generating_while_training_is_steady_and_apart() -> None:
    planned = problem_of(config(async_generation_ratio=1))
    assert planned.job.workload is not None
    assert planned.job.workload.model == STEADY
    assert any(each.kind == DISJOINT and set(each.components) == {"actor_infer", "actor_train"} for each in planned.job.relations)


def test_why_it_is_steady_is_said_unless_the_block_says_how_it_is_counted() -> None:
    workload = problem_of(config(async_generation_ratio=1)).job.workload
    assert workload is not None
    (said,) = workload.assumed
    assert said.startswith("cost model steady: the job generates while it trains (`async_generation_ratio`)")
    synchronous = problem_of(config()).job.workload
    assert synchronous is not None and synchronous.assumed == ()


def test_in_turn_each_stage_waits_for_all_of_the_one_before() -> None:
    workload = problem_of(config()).job.workload
    assert workload is not None
    assert [(each.earlier, each.later, each.whole) for each in workload.after] == [("actor_infer", "actor_train", True)]


@pytest.mark.parametrize("ratio", [0, 1])
@pytest.mark.parametrize(
    "infer",
    [
        {"strategy_args": {"strategy_name": "vllm"}},
        {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2}}},
        {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"gpu_memory_utilization": 0.8}}, "num_gpus_per_worker": 1},
        {"strategy_args": {"strategy_name": "sglang", "strategy_config": {"tensor_parallel_size": 2}}, "num_gpus_per_worker": 2},
    ],
)
def test_the_answer_is_written_over_devices_and_degrees_and_verify_finds_nothing(infer: Config, ratio: int) -> None:
    rows = [{"accelerators": 8, "tp": tp, "seconds": seconds} for tp, seconds in ((1, 300), (2, 240), (4, 150))]
    blocks = {"actor_train": {"seconds": {8: 80}}, "actor_infer": {"seconds": rows, "parallel": {"tp": [1, 2, 4]}}}
    its = config(
        actor_infer={**infer, "device_mapping": "list(range(8,16))"}, async_generation_ratio=ratio, placewright={"components": blocks}
    )
    text = yaml.safe_dump(its, sort_keys=False)
    reading = of(text)
    answer = solve(reading, sandbox=False)
    assert answer.plan is not None
    assert answer.plan.degrees["actor_infer"] == Parallel(4)
    after = apply_edits(text, roll.write(reading.to_solve, answer.plan.assignment, answer.plan.degrees))
    for level in ("placement", "training"):
        assert verify(of(after, level=level)).errors == ()
    again = of(after)
    assert again.problem is not None
    assert again.problem["actor_infer"].per_process == 4
    for name in ("actor_train", "actor_infer"):
        assert list(seats(again.problem[name].runs or ())) == list(seats(answer.plan.assignment.of(name)))
    others = {key: value for key, value in yaml.safe_load(after).items() if key not in ("actor_train", "actor_infer")}
    assert others == {key: value for key, value in its.items() if key not in ("actor_train", "actor_infer")}


def test_a_role_on_cpus_keeps_its_workers_and_takes_its_time() -> None:
    blocks = config()["placewright"]["components"]
    its = config(placewright={"components": {**blocks, "rewards.math": {"seconds": {4: 20}}}})
    answer = solve(of(its), sandbox=False)
    assert answer.planned is not None
    design = answer.planned.best.design
    assert design.options["rewards.math"].amount == 4
    assert answer.planned.best.segments[design.segments[1]] == 20 * 10**9


def test_devices_that_stay_keep_their_words() -> None:
    its = config()
    its["actor_train"]["device_mapping"] = "list(range(0,4)) + list(range(4,8))"
    its["actor_infer"]["device_mapping"] = "[8, 9, 10, 11, 12, 13, 14, 15]"
    reading = of(its).to_solve
    assert reading.problem is not None
    runs = {**reading.problem.given().runs, **reading.problem.job.own}
    assert roll.write(reading, Assignment(runs), {}) == []
    there = compress((rank, [(1, rank)]) for rank in range(8))
    moved = Assignment({**runs, "actor_train": there})
    edits = roll.write(reading, moved, {})
    assert [edit.text for edit in edits] == ["list(range(8,16))"]


def test_where_defaults_are_missing_counts_are_those_of_rolls_own_and_that_is_said() -> None:
    its = config(actor_train={**config()["actor_train"], "strategy_args": {"strategy_name": "megatron_train", "strategy_config": {}}})
    whole, missing = of(its), of({"defaults": ["../config/envs@_here_"], **its})
    planned, expected = missing.to_solve, whole.to_solve.problem
    assert planned.problem is not None
    assert expected is not None

    def shares(problem: Problem) -> list[int]:
        return [
            amount for amount in range(1, 33) if all(each.divides(amount) for each in problem.shares if each.component == "actor_train")
        ]

    assert shares(planned.problem) == shares(expected) == [1, 2, 4, 8, 16, 32]
    said = [each for each in planned.findings if "own defaults" in each.message]
    assert [each.code for each in said] == ["PW122"]
    assert "`actor_train.strategy_args.strategy_config.tensor_model_parallel_size`" in said[0].message
    assert not any("own defaults" in each.message for each in whole.to_solve.findings)
    verified = of({"defaults": ["../config/envs@_here_"], **its}, level="training")
    assert ("PW401", "actor_train") in {(each.rule, each.subject) for each in verified.unchecked}


def test_who_shares_devices_with_a_role_without_times_in_the_file_may_share_them_in_a_plan() -> None:
    judge = {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "[6, 7]"}
    infer = {**config()["actor_infer"], "device_mapping": "list(range(0,6))"}
    planned = problem_of(config(actor_infer=infer, reward_model=judge))
    assert planned["reward_model"].runs is not None
    assert planned.job.overlaps == {"reward_model": frozenset({"actor_train"})}
    assert planned.job.workload is not None
    assert planned.job.workload.nested
    answer = solve(of(config(actor_infer=infer, reward_model=judge), "1x8"), sandbox=False)
    assert answer.plan is not None
    assert answer.plan.assignment.held("actor_train") == 8
    assert not any(mask & 0b11000000 for mask in answer.plan.assignment.masks("actor_infer").values())


def test_what_the_block_says_of_nesting_holds() -> None:
    infer = {**config()["actor_infer"], "device_mapping": "list(range(0,6))"}
    block = {**config()["placewright"], "plan": {"nested": False}}
    workload = problem_of(config(actor_infer=infer, placewright=block)).job.workload
    assert workload is not None
    assert not workload.nested
    assert problem_of(config(actor_infer=infer)).job.overlaps == {}


AGENTIC: Config = {
    "rollout_batch_size": 64, "val_batch_size": 64, "adv_estimator": "grpo", "use_kl_loss": True,
    "train_env_manager": {"num_env_groups": 8, "group_size": 8, "tags": ["a"], "num_groups_partition": [8]},
    "val_env_manager": {"num_env_groups": 64, "group_size": 1, "tags": ["a"], "num_groups_partition": [64]},
    "actor_train": {"strategy_args": {"strategy_name": "megatron_train"}, "device_mapping": "list(range(0,8))"},
    "actor_infer": {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "list(range(0,8))"},
    "reference": {"strategy_args": {"strategy_name": "megatron_infer"}, "device_mapping": "list(range(0,8))"},
}  # fmt: skip


@pytest.mark.parametrize("names", [("actor_train", "actor_infer"), ("actor_train",)])
def test_a_reference_without_times_stays_with_what_trains_and_lets_others_share(names: tuple[str, ...]) -> None:
    its = {**AGENTIC, "placewright": {"components": {name: {"seconds": {8: 120, 16: 65}} for name in names}}}
    answer = solve(of(its, "1x8"), sandbox=False)
    assert answer.plan is not None
    assert {name: answer.plan.assignment.held(name) for name in ("actor_train", "actor_infer", "reference")} == dict.fromkeys(
        ("actor_train", "actor_infer", "reference"), 8
    )


@pytest.mark.parametrize(("most", "nodes"), [(32, {0: 1, 1: 1, 2: 1, 3: 1}), (16, {0: 2, 1: 2}), (8, {0: 4})])
def test_workers_without_devices_are_dealt_out_to_the_nodes_that_the_plan_uses(most: int, nodes: dict[int, int]) -> None:
    its = config()
    its["placewright"]["plan"] = {"budget": {"accelerators": most}}
    answer = solve(problem_of(its))
    assert answer.plan is not None
    assert answer.plan.assignment.processes_on("rewards.math") == nodes
    assert {node for name in ("actor_train", "actor_infer") for node, _ in answer.plan.assignment.masks(name)} == set(nodes)


def test_what_may_be_shared_and_nested_is_read_from_the_file_whatever_machines_there_are() -> None:
    its = config()
    its["actor_train"]["device_mapping"] = "list(range(0,16))"
    for cluster in ("1x8", "2x8", "4x8"):
        problem = problem_of(its, cluster)
        assert problem.job.workload is not None
        assert problem.job.workload.nested
        assert set(problem.job.own) == (set() if cluster == "1x8" else {"actor_train", "actor_infer"})


def test_degrees_are_written_into_a_strategy_that_says_nothing_yet() -> None:
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"] = {}
    its["placewright"]["components"]["actor_infer"]["parallel"] = {"tp": [2]}
    reading = of(its).to_solve
    assert reading.problem is not None
    answer = solve(reading.problem)
    assert answer.plan is not None
    text = apply_edits(reading.source.text, roll.write(reading, answer.plan.assignment, answer.plan.degrees))
    assert "strategy_config: {tensor_parallel_size: 2}" in text
    assert not verify(of(text)).errors


@pytest.mark.parametrize("degrees", [[1], [2], [4], [1, 2, 4], [4, 2, 1]])
def test_data_parallel_ranks_of_vllm_are_its_workers_with_any_degrees(degrees: list[int]) -> None:
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"]["data_parallel_size"] = 2
    its["placewright"]["components"]["actor_infer"]["parallel"] = {"tp": degrees}
    answer = solve(problem_of(its))
    assert answer.plan is not None
    assert answer.plan.assignment.world_size("actor_infer") == 2
    assert answer.plan.assignment.amount("actor_infer") == 2 * max(degrees)  # it takes the less time on the more devices


@pytest.mark.parametrize("own", [1, 2, 4])
@pytest.mark.parametrize("listed", [[1, 2, 4], [4, 2, 1], [2, 4]])
def test_degrees_that_make_no_difference_stay_those_of_the_file_or_are_the_first_that_are_listed(own: int, listed: list[int]) -> None:
    """Workers of other sizes are kept for what they may be in step with; that is no reason to take them."""
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"]["tensor_parallel_size"] = own
    its["placewright"]["components"]["actor_infer"]["parallel"]["tp"] = listed
    answer = solve(of(its, "1x8").to_solve)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.design.options["actor_infer"].parallel.tp == (own if own in listed else listed[0])


def test_training_within_inference_may_have_any_count_where_the_degrees_of_inference_are_open() -> None:
    """How large a worker of inference is in the file says nothing of one with other degrees."""
    its = config()
    its["actor_train"] |= {
        "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1},
        "strategy_args": {"strategy_name": "megatron_train"},
    }
    its["placewright"] = {
        "components": {
            "actor_train": {"seconds": {1: 90, 4: 30}, "accelerators": "1-3", "parallel": {"tp": [1, 2]}, "within": "actor_infer"},
            "actor_infer": {"seconds": {1: 90, 4: 30}, "accelerators": "1-3", "parallel": {"tp": [1, 2]}},
        }
    }
    its["rollout_batch_size"] = 24
    its["actor_train"]["device_mapping"], its["actor_infer"]["device_mapping"] = "[0,1]", "[0,1]"
    planned = problem_of(its, "1x4")
    assert {count for count, _ in planned.job.accepted["actor_train"]} == {1, 2, 3}
    answer = solve(planned, sandbox=False)
    assert answer.plan is not None
    assert answer.planned is not None
    assert answer.planned.proved
    assert [answer.plan.assignment.amount(name) for name in ("actor_train", "actor_infer")] == [3, 3]
