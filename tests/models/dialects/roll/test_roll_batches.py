"""The batch chain of ROLL's pipelines, and when it is judged."""

from __future__ import annotations

import pytest
from placewright.models.dialects import roll
from placewright.models.findings.finding import Finding
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify

from .pipelines import AGENTIC, of

RLVR = """
rollout_batch_size: PROMPTS
num_return_sequences_in_group: 8
adv_estimator: grpo
init_kl_coef: 0
actor_train:
  MORE
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 16}
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 2}}
  device_mapping: list(range(0,8))
actor_infer: {strategy_args: {strategy_name: vllm}, device_mapping: "list(range(8,16))"}
rewards: {math: {world_size: 1, tag_included: [m]}}
"""


def read(text: str, level: str = "placement") -> Reading:
    return roll.read(Document.of(Source("train.yaml", text)), read_shorthand("2x8"), level)


def rlvr(prompts: int, level: str, more: str = "worker_cls: x") -> tuple[Finding, ...]:
    return tuple(each for each in read(RLVR.replace("PROMPTS", str(prompts)).replace("MORE", more), level).findings if each.code > "PW400")


def numbers(reading: Reading, component: str) -> dict[str, int | str]:
    return {each.name: each.value for each in reading.derivations if each.component == component}


def test_prompts_become_samples_of_a_rank_and_updates() -> None:
    found = numbers(read(RLVR.replace("PROMPTS", "64").replace("MORE", "worker_cls: x")), "actor_train")
    assert found["data parallel size"] == 4
    assert (found["samples per step"], found["samples per rank"]) == (512, 128)
    assert (found["samples per rank and update"], found["updates per step"]) == (16, 8)
    assert found["micro batches of log probabilities"] == 8


@pytest.mark.parametrize(("prompts", "level", "codes"), [(62, "placement", ["PW401"]), (60, "placement", []), (60, "training", ["PW403"])])
def test_shares_decide_the_start_and_updates_the_first_training_step(prompts: int, level: str, codes: list[str]) -> None:
    assert [finding.code for finding in rlvr(prompts, level)] == codes


def test_the_nearest_batches_suit_the_shares_and_the_updates() -> None:
    (share,) = rlvr(62, "training")
    assert share.help == "set `rollout_batch_size: 56` or `64`"
    assert share.edit and share.edit.text == "64"


def test_batches_that_are_cut_by_tokens_are_no_whole_updates() -> None:
    assert rlvr(60, "training", "use_dynamic_batching_in_train: true") == ()


def test_dpo_counts_pairs_and_trains_on_two_answers_of_each() -> None:
    text = """
chosen_key: chosen
actor_train:
  training_args: {per_device_train_batch_size: 4, gradient_accumulation_steps: 2}
  strategy_args: {strategy_name: megatron_train, strategy_config: {}}
  device_mapping: list(range(0,4))
reference: {infer_batch_size: 8, strategy_args: {strategy_name: megatron_infer, strategy_config: {}}, device_mapping: "list(range(4,8))"}
"""
    found = numbers(read(text), "actor_train")
    assert (found["pairs per step"], found["sequences per micro batch"]) == (32, 8)
    assert not [each for each in read(text).findings if each.code == "PW403"]
    assert [each.code for each in read(text.replace("infer_batch_size: 8", "infer_batch_size: 9")).findings if each.code == "PW403"]


@pytest.mark.parametrize(
    ("environments", "words"),
    [
        ({"a": {}, "b": {}}, []),
        ({"a": {}, "bb": {}}, ["`train_env_manager.tags` names `b`", "`val_env_manager.tags` names `b`"]),
        ("${custom_env}", []),
        (None, []),
    ],
)
def test_an_environment_that_gets_groups_is_configured(environments: object, words: list[str]) -> None:
    reading = of({**AGENTIC, **({"custom_envs": environments} if environments else {})}, "1x8", "training")
    found = [finding.message for finding in verify(reading).findings if finding.code == "PW123" and "custom_envs" in finding.message]
    assert len(found) == len(words) and all(start in message for start, message in zip(words, found))


@pytest.mark.parametrize(
    ("old", "key"),
    [
        ("rollout_batch_size: PROMPTS", "rollout_batch_size"),
        ("num_return_sequences_in_group: 8", "num_return_sequences_in_group"),
        ("gradient_accumulation_steps: 16", "actor_train.training_args.gradient_accumulation_steps"),
    ],
)
def test_an_unknown_batch_leaves_training_open_and_placement_not(old: str, key: str) -> None:
    value = f'{key.rpartition(".")[2]}: "${{oc.env:SIZE}}"'
    text = RLVR.replace(old, value).replace("PROMPTS", "64").replace("MORE", "worker_cls: x")
    training, placement = (verify(read(text, level)) for level in ("training", "placement"))
    assert training.verdict == "incomplete" and [f"`{key}`" in missing.fact for missing in training.missing] == [True]
    assert placement.verdict == "ok"


def test_an_unknown_number_of_a_warning_decides_nothing() -> None:
    text = RLVR.replace("PROMPTS", "64").replace("MORE", "worker_cls: x") + 'ppo_epochs: "${oc.env:EPOCHS}"\n'
    assert verify(read(text, "training")).verdict == "ok"


def test_an_unknown_batch_of_probabilities_decides_nothing() -> None:
    text = RLVR.replace("PROMPTS", "64").replace("MORE", 'infer_batch_size: "${oc.env:SIZE}"')
    assert verify(read(text, "training")).verdict == "ok"
