"""Beside roles with times: those without, on devices, on CPUs, or where the plan puts them."""

from __future__ import annotations

import pytest
import yaml
from placewright.api import solve
from placewright.models.dialects import roll
from placewright.models.findings.span import apply_edits

from .opened import Config, config, of, problem_of


def test_a_role_on_cpus_keeps_its_workers_and_takes_its_time() -> None:
    blocks = config()["placewright"]["components"]
    its = config(placewright={"components": {**blocks, "rewards.math": {"seconds": {4: 20}}}})
    answer = solve(of(its), sandbox=False)
    assert answer.planned is not None
    design = answer.planned.best.design
    assert design.options["rewards.math"].amount == 4
    assert answer.planned.best.segments[design.segments[1]] == 20 * 10**9


def test_who_shares_devices_with_a_role_without_times_in_the_file_may_share_them_in_a_plan() -> None:
    judge = {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "[6, 7]"}
    infer = {**config()["actor_infer"], "device_mapping": "list(range(0,6))"}
    planned = problem_of(config(actor_infer=infer, reward_model=judge))
    assert planned["reward_model"].runs is not None
    assert planned.job.overlaps == {"reward_model": frozenset({"actor_train"})}
    assert planned.job.planning.workload is not None
    assert planned.job.planning.workload.nested
    answer = solve(of(config(actor_infer=infer, reward_model=judge), "1x8"), sandbox=False)
    assert answer.plan is not None
    assert answer.plan.assignment.count_held("actor_train") == 8
    assert not any(mask & 0b11000000 for mask in answer.plan.assignment.masks("actor_infer").values())


def test_what_the_block_says_of_nesting_holds() -> None:
    infer = {**config()["actor_infer"], "device_mapping": "list(range(0,6))"}
    block = {**config()["placewright"], "plan": {"nested": False}}
    workload = problem_of(config(actor_infer=infer, placewright=block)).job.planning.workload
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
    assert {name: answer.plan.assignment.count_held(name) for name in ("actor_train", "actor_infer", "reference")} == dict.fromkeys(
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
        assert problem.job.planning.workload is not None
        assert problem.job.planning.workload.nested
        assert set(problem.job.planning.own) == (set() if cluster == "1x8" else {"actor_train", "actor_infer"})


@pytest.mark.slow
@pytest.mark.parametrize("most", [8, 10, 12, 16])
def test_a_judge_without_times_counts_in_the_budget_where_nobody_lies_over_it(most: int) -> None:
    """The second solve of what is written has the judge on accelerators of its own, or shared: the budget holds both times."""
    its = config(actor_infer={"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "list(range(0,6))"})
    its["reward_model"] = {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "[6, 7]"}
    its["placewright"] = {
        "components": {"actor_train": {"seconds": {8: 80}}, "actor_infer": {"seconds": {8: 240}}},
        "plan": {"budget": {"accelerators": most}},
    }
    text = yaml.safe_dump(its, sort_keys=False)
    reading = of(text)
    answer = solve(reading, sandbox=False)
    assert answer.plan is not None and answer.planned is not None
    assert answer.planned.proved
    held = answer.plan.assignment
    assert len(frozenset[tuple[int, int]]().union(*map(held.accelerators, held.runs))) <= most
    after = apply_edits(text, roll.write(reading.to_solve, held, answer.plan.degrees))
    again = solve(of(after), sandbox=False)
    assert again.planned is not None and again.planned.is_own
    assert again.planned.best.nanoseconds == answer.planned.best.nanoseconds
