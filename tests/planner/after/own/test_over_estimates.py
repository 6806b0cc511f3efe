"""A file's own ranks that do not fit by an estimate alone: one rule for every dialect (docs/memory.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.account import Account
from placewright.models.placements.run import Run
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.report.planning.own import own_placement
from placewright.report.planning.text import render

NATIVE = """
cluster: 1x8xA100
components:
  rollout: {accelerators: 8, seconds: {8: 210}, placement: 0-7}
  actor: {accelerators: COUNTS, seconds: {2: 110, 8: 100}, estimate: {model: Qwen/Qwen2.5-14B-Instruct, sharding: fsdp, sequence: 8192}, within: rollout, placement: 0-1}
plan: {workflow: rollout => actor}
"""
RLINF = """
cluster: {num_nodes: 1, component_placement: {rollout: 0-6, "actor,reward": 7}}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 1, recompute_logprobs: false}
data: {rollout_batch_size: 64}
rollout: {tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: true}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 1}}
profile_data: {rollout_cost: 100, actor_cost: 20}
placewright: {components: {actor: {estimate: {model: MODEL, sequence: 2048, sharding: distributed}}}}
"""
ROLL = """
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: grpo
init_kl_coef: 0
prompt_length: 1024
response_length: 1024
actor_train:
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 16}
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 1}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm}
  device_mapping: list(range(0,8))
rewards:
  math: {world_size: 4, tag_included: [math]}
placewright:
  components:
    actor_train:
      parallel: {tp: DEGREES}
      estimate: {model: Qwen/Qwen2.5-7B-Instruct, sequence: 8192}
      seconds:
      - {accelerators: 8, tp: 1, seconds: 50}
      - {accelerators: 8, tp: 4, seconds: 61}
    actor_infer: {seconds: {8: 210}}
"""
VERL = """
data: {train_batch_size: 256, max_prompt_length: 1024, max_response_length: 1024}
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  model: {path: Qwen/Qwen2.5-7B-Instruct}
  actor:
    strategy: megatron
    ppo_mini_batch_size: 64
    ppo_micro_batch_size_per_gpu: 4
    megatron: {tensor_model_parallel_size: 1}
  rollout: {name: vllm, tensor_model_parallel_size: 2, n: 8, log_prob_micro_batch_size_per_gpu: 8}
trainer: {nnodes: 1, n_gpus_per_node: 8}
placewright:
  components:
    actor:
      parallel: {tp: DEGREES}
      estimate: {}
      seconds:
      - {accelerators: 8, tp: 1, seconds: 90}
      - {accelerators: 8, tp: 2, seconds: 100}
    rollout: {seconds: {8: 210}}
"""
SOME_FIT = {
    "native": NATIVE.replace("COUNTS", "1-8"),
    "rlinf": RLINF.replace("MODEL", "Qwen/Qwen2.5-7B-Instruct"),
    "roll": ROLL.replace("DEGREES", "[1, 4]"),
    "verl": VERL.replace("DEGREES", "[1, 2]"),
}
NONE_FITS = {
    "native": NATIVE.replace("COUNTS", "1-3"),
    "rlinf": RLINF.replace("MODEL", "Qwen/Qwen2.5-32B-Instruct"),
    "roll": ROLL.replace("DEGREES", "[1]"),
    "verl": VERL.replace("DEGREES", "[1]"),
}
TOLD = "by estimates it does not fit: "


def accounted(tmp_path: Path, dialect: str, text: str) -> Account:
    file = tmp_path / "train.yaml"
    file.write_text(text)
    return pw.account(file, None if dialect == "native" else "1x8xA100", dialect, sandbox=False)


@pytest.mark.parametrize("dialect", SOME_FIT)
def test_where_a_plan_fits_ranks_that_do_not_are_compared_with_it_told_so_and_not_kept(dialect: str, tmp_path: Path) -> None:
    found = accounted(tmp_path, dialect, SOME_FIT[dialect])
    assert found.own is not None and found.own.priced is not None and not found.own.forbidden
    assert found.planned.question.heeds_estimates and not found.keeps and found.planned.is_own is False
    said = own_placement(found)
    assert TOLD in said and "it may not be proposed" not in said
    if not found.given:
        assert said.startswith("yours: ") and not any(bill.tight for bill in found.bills)


@pytest.mark.parametrize("dialect", NONE_FITS)
def test_where_no_plan_fits_either_they_are_kept_if_they_are_as_good(dialect: str, tmp_path: Path) -> None:
    found = accounted(tmp_path, dialect, NONE_FITS[dialect])
    assert found.keeps and not found.planned.question.heeds_estimates
    text = "\n".join(render(found))
    assert "keep it" in text and TOLD in text and "it may not be proposed" not in text


@pytest.mark.parametrize(("declared", "told"), [(30, True), (50, False)])
def test_what_is_declared_refuses_ranks_by_itself_and_no_estimate_is_told_beside_it(declared: int, told: bool, tmp_path: Path) -> None:
    """40 GiB and 30 GiB leave some of 80 GiB, 40 GiB and 50 GiB none."""
    file = tmp_path / "train.yaml"
    file.write_text(
        "cluster: 1x8xA100\ncomponents:\n"
        f"  a: {{accelerators: 1-8, seconds: {{4: 60}}, memory: 40GiB}}\n  b: {{accelerators: 1-8, seconds: {{4: 60}}, memory: {declared}GiB}}\n"
        "  c: {accelerators: 1-8, seconds: {4: 60}, estimate: {model: Qwen/Qwen2.5-7B-Instruct, sequence: 8192}}\n"
    )
    problem = pw.load(file).problem
    assert problem is not None and problem.job.planning.workload is not None
    problem = replace(
        problem, job=replace(problem.job, planning=replace(problem.job.planning, own={name: (Run(range(4), 0),) for name in "abc"}))
    )
    workload = problem.job.planning.workload
    assert workload is not None
    own = baseline_of(problem, planning_problem(problem), cost_model(workload.model))
    assert own.priced is not None and (bool(own.over_estimates), not own.forbidden) == (told, told)
