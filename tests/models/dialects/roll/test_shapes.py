"""What the modes make of components: degrees, solid ranges, relations, amounts."""

from __future__ import annotations

import pytest
from placewright.models.component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Parallel
from placewright.models.dialects import roll
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.models.text.document import Document
from placewright.models.text.source import Source

RLVR = """
rollout_batch_size: 64
adv_estimator: grpo
init_kl_coef: 0
actor_train: {strategy_args: {strategy_name: NAME, strategy_config: {CONFIG}}, model_args: {MODEL}, device_mapping: "list(range(0,8))"}
actor_infer: {strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}, device_mapping: "list(range(8,16))"}
rewards: {math: {world_size: 1, tag_included: [m]}}
"""
AGENTIC = """
rollout_batch_size: 64
val_batch_size: 64
adv_estimator: ESTIMATOR
init_kl_coef: KL
async_generation_ratio: RATIO
actor_train: {strategy_args: {strategy_name: megatron_train, strategy_config: {}}}
actor_infer: {strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}}
reference: {strategy_args: {strategy_name: megatron_infer, strategy_config: {}}}
critic: {strategy_args: {strategy_name: fsdp2_train, strategy_config: {}}}
train_env_manager: {num_env_groups: 8, tags: [s], num_groups_partition: [8]}
val_env_manager: {num_env_groups: 8, tags: [s], num_groups_partition: [8]}
custom_envs: {s: {env_type: s}}
placewright: {components: {HINTS}}
"""


def problem_of(text: str) -> Problem:
    reading = roll.read(Document.of(Source("train.yaml", text)), read_shorthand("2x8"), "placement")
    assert not reading.failed, reading.findings
    assert reading.problem is not None
    return reading.problem


def agentic(hints: str, ratio: str = "0", estimator: str = "grpo", kl: str = "0") -> Problem:
    return problem_of(AGENTIC.replace("HINTS", hints).replace("RATIO", ratio).replace("ESTIMATOR", estimator).replace("KL", kl))


def relations(problem: Problem) -> set[tuple[str, ...]]:
    return {(relation.kind, *relation.components) for relation in problem.job.relations if relation.reason}


@pytest.mark.parametrize(
    ("name", "config", "model", "parallel"),
    [
        ("megatron_train", "tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2", "", Parallel(2, 2)),
        ("megatron_train", "context_parallel_size: 4, expert_model_parallel_size: 2", "", Parallel(1, 1, 4, 2)),
        ("fsdp2_train", "fsdp_size: 4", "ulysses_size: 2", Parallel(1, 1, 2)),
        ("fsdp2_train", "", "", Parallel()),
    ],
)
def test_the_strategy_gives_the_degrees(name: str, config: str, model: str, parallel: Parallel) -> None:
    problem = problem_of(RLVR.replace("NAME", name).replace("CONFIG", config).replace("MODEL", model))
    assert problem["actor_train"].parallel == parallel
    assert problem["actor_infer"].parallel == Parallel(2)


def test_what_hands_weights_over_and_what_gets_them_are_solid_in_any_order() -> None:
    problem = problem_of(RLVR.replace("NAME", "megatron_train").replace("CONFIG", "").replace("MODEL", ""))
    assert [component.name for component in problem.components if component.contiguous and component.any_order] == [
        "actor_train",
        "actor_infer",
    ]


def test_the_reference_of_an_agentic_pipeline_is_where_training_is() -> None:
    problem = agentic("actor_train: {accelerators: 4}, actor_infer: {accelerators: 8}, reference: {accelerators: 4}", kl="0.1")
    assert (COLOCATED, "reference", "actor_train") in relations(problem)


@pytest.mark.parametrize(("ratio", "kind"), [("0", COLOCATED_OR_DISJOINT), ("1", DISJOINT)])
def test_training_shares_all_or_nothing_and_nothing_while_inference_goes_on(ratio: str, kind: str) -> None:
    problem = agentic("actor_train: {accelerators: 4}, actor_infer: {accelerators: 8}", ratio)
    assert relations(problem) == {(kind, "actor_train", "actor_infer")}


def test_training_within_inference_leaves_a_worker_beside_the_critic() -> None:
    hints = "actor_train: {accelerators: 2-16, within: actor_infer}, actor_infer: {accelerators: 2-12}, critic: {accelerators: 2}"
    problem = agentic(hints, "1", "gae")
    assert relations(problem) == {(SUBSET, "critic", "actor_infer"), (DISJOINT, "critic", "actor_train")}
    assert (problem["actor_train"].least, problem["actor_train"].most) == (2, 8)
    assert problem.job.in_step == {("actor_train", "actor_infer")}  # whole groups of ranks for workers of 2
    assert problem["actor_infer"].least == 6
