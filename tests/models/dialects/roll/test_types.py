"""Values of the wrong type, and settings of a whole configuration that ROLL refuses when it loads it or starts."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.findings.finding import Severity

from .pipelines import AGENTIC, RLVR, Config, changed, of

ANSWERS: Config = {"actor_infer": {**RLVR["actor_infer"], "generating_args": {"temperature": 1.0}}}
WHOLE: Config = {**RLVR, **ANSWERS, "pretrain": "Qwen/Qwen2.5-7B", "exp_name": "math", "response_length": 1024, "max_steps": 10}
SGLANG: Config = {"strategy_args": {"strategy_name": "sglang", "strategy_config": {"mem_fraction_static": 0.7}}}
ROUTER: Config = {"router_args": {"router_name": "SglangRouter"}}


def errors(config: Config, release: str = "8eb27cc2") -> list[str]:
    return [each.message for each in of(config, "1x8", "training", release).findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_steps": "ten"}, "`max_steps` must be a whole number"),
        ({"exp_name": 7}, "`exp_name` must be a text, but it is a whole number"),
        ({"is_num_return_sequences_expand": "true"}, "`is_num_return_sequences_expand` must be true or false"),
        ({"loss_agg_mode": "mean"}, "`loss_agg_mode` is `mean`, which is unknown"),
        ({"tracker_kwargs": [1]}, "`tracker_kwargs` must be a map"),
        ({"actor_train": {"model_args": {"dtype": "fp8"}}}, "`actor_train.model_args.dtype` is `fp8`, which is unknown"),
        ({"actor_train": {"training_args": {"learning_rate": "fast"}}}, "`actor_train.training_args.learning_rate` must be a number"),
        ({"system_envs": {"NCCL_DEBUG": "INFO", "USE_MODELSCOPE": 1}}, "`system_envs.USE_MODELSCOPE` must be a text"),
        ({"rewards": {"math": {"world_size": 4, "tag_included": "a"}}}, "`rewards.math.tag_included` must be a list"),
        ({"rewards": {"math": {"world_size": 4, "tag_included": [1]}}}, "`rewards.math.tag_included.0` must be a text"),
        ({"rollout_batch_size": "???"}, "`rollout_batch_size` must be a whole number"),
        ({"actor_train": {"device_mapping": "???"}}, "`actor_train`: this is no Python expression"),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error(change: Config, message: str) -> None:
    found = errors(changed(WHOLE, **change))
    assert len(found) == 1 and found[0].startswith(message), found


@pytest.mark.parametrize(
    "change",
    [
        {"actor_train": {"training_args": {"learning_rate": 1}}},
        {"actor_train": {"model_args": {"dtype": None}}},
        {"reward_model": None, "norm_mean_type": None, "sequence_length": None},
        {"teacher": {"large": {"device_mapping": "list(range(0,8))"}}},
        {"of_another_program": {"max_steps": "ten"}},
    ],
)
def test_a_value_of_the_right_type_is_none(change: Config) -> None:
    assert errors(changed(WHOLE, **change)) == []


def test_numbers_are_read_as_hydra_reads_them() -> None:
    text = "pretrain: a\nactor_train:\n  training_args: {learning_rate: 1e-6}\n  device_mapping: list(range(0,8))\n"
    assert not any("learning_rate" in message for message in errors(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"response_length": None}, "there is neither `response_length` nor `sequence_length`"),
        ({"val_prompt_length": 8}, "`val_prompt_length` is set, and `val_sequence_length` is not"),
        ({"profiler_timeline": True, "profiler_memory": True}, "`profiler_timeline` and `profiler_memory` exclude each other"),
        ({"checkpoint_config": {"type": "file_system"}}, "`checkpoint_config` of type `file_system` has no `output_dir`"),
        ({"max_steps": 0}, "`max_steps` 0 must be at least 1"),
        ({"logging_steps": 0}, "`logging_steps` 0, and ROLL divides by it"),
        ({"is_use_additional_prompts": True, "max_additional_running_prompts": 0}, "`max_additional_running_prompts` 0 must be at least 1"),
        ({"actor_infer": {"strategy_args": "OUT"}}, "`actor_infer` has no `strategy_args`"),
        ({"actor_train": {"data_args": {"domain_interleave_probs": {"maths": 1.0}}}}, "`domain_interleave_probs` names `maths`"),
        ({"actor_train": {"data_args": {"prompt": "a", "messages": "b"}}}, "`actor_train.data_args.prompt` and"),
        ({"actor_infer": {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"max_modl_len": 8}}}}, "`strategy_config` of `actor_infer` has no key"),
        ({"actor_infer": {"strategy_args": {"strategy_name": "sglang"}}}, "ROLL reads `mem_fraction_static` of actor_infer"),
        ({**ROUTER}, "SGLang's router needs engines of SGLang"),
        ({**ROUTER, "actor_infer": SGLANG}, "SGLang's router needs `grpc_mode`"),
    ],
)  # fmt: skip
def test_what_the_whole_job_needs_is_an_error_where_it_is_missing(change: Config, message: str) -> None:
    found = errors(changed(WHOLE, **change))
    assert len(found) == 1 and found[0].startswith(message), found


@pytest.mark.parametrize(
    "change",
    [
        {"response_length": None, "sequence_length": 2048},
        {"val_prompt_length": 8, "val_sequence_length": 16},
        {"checkpoint_config": {"type": "file_system", "output_dir": "out"}},
        {"eval_steps": 0},
        {"actor_train": {"data_args": {"domain_interleave_probs": {"math": 1.0}}}},
        {"actor_infer": {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"an_argument_of_tomorrow": 8}}}},
    ],
)
def test_what_is_complete_is_none(change: Config) -> None:
    assert errors(changed(WHOLE, **change)) == []


def test_what_ray_or_the_process_gets_as_its_environment_is_text_where_workers_start() -> None:
    numbers = {"system_envs": {"NCCL_DEBUG_LEVEL": 1}}
    assert errors(changed(WHOLE, actor_infer=numbers)) == [
        "`actor_infer.system_envs.NCCL_DEBUG_LEVEL` must be a text, but it is a whole number"
    ]
    assert errors(changed(WHOLE, critic=numbers)) == []


def test_null_is_no_text() -> None:
    assert errors({**WHOLE, "exp_name": None}) == ["`exp_name` must be a text, but it is nothing"]


def test_parts_of_a_configuration_need_not_be_whole() -> None:
    assert errors(RLVR) == errors({**AGENTIC, "val_batch_size": -1}) == []


def test_grpc_mode_by_release() -> None:
    grpc: dict[str, Any] = {
        "strategy_args": {"strategy_name": "sglang", "strategy_config": {"mem_fraction_static": 0.7, "grpc_mode": False}}
    }
    job = changed(WHOLE, actor_infer=grpc)
    assert len(errors(job)) == len(errors(changed(job, actor_infer={**grpc, "worker_cls": "mine.Worker"}))) == 1
    assert errors(job, "0.2.0") == errors({**job, **ROUTER}) == []
    grpc["strategy_args"]["strategy_config"]["grpc_mode"] = True
    assert errors({**changed(WHOLE, actor_infer=grpc), **ROUTER}) == ["ROLL does not support `grpc_mode: true`"]


def test_agentic_pipelines_may_run_without_end() -> None:
    job = {**AGENTIC, **ANSWERS, "val_batch_size": -1, **{key: WHOLE[key] for key in ("pretrain", "exp_name", "response_length")}}
    assert errors({**job, "max_steps": -1, "logging_steps": 0}) == []
    assert errors({**job, "max_steps": 0}) == ["`max_steps` 0 must be at least 1"]


@pytest.mark.parametrize("cluster", ["x0", "1x0"])
def test_machines_without_accelerators_are_one_error(cluster: str) -> None:
    assert len([each for each in of(RLVR, cluster).findings if each.severity is Severity.ERROR]) == 1


@pytest.mark.parametrize("release", ["0.1.0", "0.3.0", ""])
def test_a_mark_that_no_option_can_replace_remains_a_text(release: str) -> None:
    config = changed({**WHOLE, "enable_reference": False, "reference": {"device_mapping": "list(range(0,8))"}}, exp_name="???")
    reading = of(config, "1x8", "training", release)
    assert not [item for item in reading.unchecked if "`???`" in item.why]
    before = errors(config, release)
    message = "`rollout_batch_size` must be a whole number, but it is text"
    assert sorted(errors({**config, "rollout_batch_size": "???"}, release)) == sorted([*before, message])
