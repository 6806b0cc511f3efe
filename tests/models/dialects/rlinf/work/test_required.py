"""Keys that RLinf reads without a default, and words that its checks of backends refuse."""

from __future__ import annotations

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source

MATH = """\
runner: {task_type: reasoning, seq_length: 2048, logger: {log_path: logs}}
algorithm: {adv_type: grpo, group_size: 8, recompute_logprobs: true}
data: {rollout_batch_size: 64, max_prompt_length: 1024}
cluster: {num_nodes: 1, component_placement: {"actor,rollout,reward": 0-7}}
rollout: {group_name: r, return_logprobs: false, model: {model_type: qwen2.5, model_path: m}, tensor_parallel_size: 2, sglang: {}, vllm: {}}
actor: {group_name: a, training_backend: megatron, model: {precision: bf16, tensor_model_parallel_size: 2}, megatron: {use_hf_ckpt: true}}
"""
ROBOTS = """\
runner: {task_type: embodied, only_eval: false, val_check_interval: -1, max_epochs: 5, save_interval: 1, logger: {log_path: logs}}
algorithm: {adv_type: gae, loss_type: actor, group_size: 8}
cluster: {num_nodes: 1, component_placement: {"actor,rollout,env": 0-7}}
rollout: {group_name: r, pipeline_stage_num: 1}
env: {train: {env_type: maniskill, total_num_envs: 64, group_size: 1, max_steps_per_rollout_epoch: 8}}
critic: {use_critic_model: false}
weight_syncer: {type: bucket, bucket: {bucket_size: 1}}
actor:
  group_name: a
  training_backend: fsdp
  global_batch_size: 64
  micro_batch_size: 8
  model: {model_type: openvla, num_action_chunks: 8}
  fsdp_config: {mixed_precision: {param_dtype: bf16}}
"""


def errors(text: str, *changes: tuple[str, str], release: str = "") -> list[str]:
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    composer = Composer(frameworks=(f"rlinf=={release}",) if release else ())
    reading = read(Source("job.yaml", text), read_shorthand("1x8"), "rlinf", "training", composer)
    return [each.message for each in reading.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize("text", [MATH, ROBOTS])
def test_whole_jobs_are_accepted(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize(
    ("text", "removed", "key"),
    [
        (MATH, ", seq_length: 2048", "runner.seq_length"),
        (MATH, "rollout_batch_size: 64, ", "data.rollout_batch_size"),
        (MATH, "adv_type: grpo, ", "algorithm.adv_type"),
        (MATH, ", vllm: {}", "rollout.vllm"),
        (MATH, "precision: bf16, ", "actor.model.precision"),
        (ROBOTS, "pipeline_stage_num: 1", "rollout.pipeline_stage_num"),
        (ROBOTS, "total_num_envs: 64, ", "env.train.total_num_envs"),
        (ROBOTS, "  micro_batch_size: 8\n", "actor.micro_batch_size"),
        (ROBOTS, ", loss_type: actor", "algorithm.loss_type"),
        (ROBOTS, "mixed_precision: {param_dtype: bf16}", "actor.fsdp_config.mixed_precision"),
    ],
)
def test_a_key_without_a_default_is_missed(text: str, removed: str, key: str) -> None:
    assert errors(text, (removed, "")) == [f"there is no `{key}`: RLinf reads it without a default"]


def test_missing_keys_are_one_error_and_misspelt_ones_are_told_by_name() -> None:
    both = (", seq_length: 2048", ""), ("rollout_batch_size: 64, ", "")
    assert errors(MATH, *both) == ["there is no `data.rollout_batch_size`, `runner.seq_length`: RLinf reads them without a default"]
    (message,) = errors(MATH, ("rollout_batch_size: 64", "rollout_batch_sise: 64"))
    assert message == "no release of RLinf has `data.rollout_batch_sise`, and RLinf misses `data.rollout_batch_size`"


def test_parts_of_a_configuration_need_not_be_whole() -> None:
    assert errors(MATH, (", logger: {log_path: logs}", ""), (", seq_length: 2048", "")) == []


def test_keys_by_release() -> None:
    assert errors(ROBOTS, ("critic: {use_critic_model: false}\n", "")) == []
    assert errors(ROBOTS, ("critic: {use_critic_model: false}\n", ""), release="0.2") == [
        "there is no `critic`: RLinf reads it without a default"
    ]


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (MATH, "precision: bf16", "precision: bf32"),
        (MATH, "use_hf_ckpt: true", "use_hf_ckpt: false"),
        (MATH, "precision: bf16", "precision: bf16, moe_grouped_gemm: cutlass"),
        (MATH, "precision: bf16", "precision: bf16, megatron_checkpoint: here"),
        (ROBOTS, "fsdp_config: {", "fsdp_config: {backward_prefetch: none, "),
        (ROBOTS, "fsdp_config: {", "fsdp_config: {amp_autocast: {precision: fp8}, "),
        (ROBOTS, "model_type: openvla,", "model_type: molmoact2,"),
        (ROBOTS, "env_type: maniskill", "env_type: maniskil"),
        (ROBOTS, "loss_type: actor", "loss_type: actor_critic"),
        (ROBOTS, "val_check_interval: -1", "val_check_interval: 5"),
        (MATH, "sglang: {}", "sglang: null"),
        (MATH, "group_size: 8", "group_size: 8, n_minibatches: 1024"),
        (MATH, "group_size: 8", "group_size: 8, loss_agg_func: mean"),
        (MATH, "group_size: 8", "group_size: 8, kl_beta: 0.1, kl_penalty_type: k4"),
        (MATH, "group_name: a,", "group_name: a, lr_sched: {lr_decay_style: cosine},"),
        (MATH, "model_path: m", "model_path: m, precision: bfloat16"),
        (MATH, "group_size: 8", "group_size: 8, sampling_params: {do_sample: true, top_p: 0}"),
        (MATH, "group_name: r,", "group_name: r, rollout_backend: vllm, gpu_memory_utilization: 90,"),
        (ROBOTS, "param_dtype: bf16", "param_dtype: float16"),
        (
            ROBOTS,
            "fsdp_config: {mixed_precision: {param_dtype: bf16}",
            "fsdp_config: {strategy: fsdp2, mixed_precision: {reduce_dtype: fp8}",
        ),
        (ROBOTS, "fsdp_config: {", "fsdp_config: {strategy: ddp, "),
        (ROBOTS, "group_name: a\n", "group_name: a\n  optim: {lr_scheduler: linear}\n"),
        (ROBOTS, "num_action_chunks: 8", "num_action_chunks: 8, policy_setup: franka"),
        (ROBOTS, "type: bucket", "type: nccl"),
        (ROBOTS, "log_path: logs", "log_path: logs, logger_backends: [tensorboard, mlflow]"),
    ],
)
def test_words_of_the_backends(text: str, before: str, after: str) -> None:
    staged = [("pipeline_stage_num: 1", "pipeline_stage_num: 2")] if "molmoact2" in after else []
    assert len(errors(text, (before, after), *staged, release="a3816b59")) == 1


@pytest.mark.parametrize(
    ("text", "model", "release", "count"),
    [
        (ROBOTS, "flow_policy", "0.2", 0),
        (ROBOTS, "starvla", "0.2", 1),
        (ROBOTS, "starvla", "0.3", 0),
        (ROBOTS, "my_policy", "0.2", 1),
        (ROBOTS, "my_policy", "0.3", 0),
        (ROBOTS, "qwen3_vl", "0.3", 1),
        (MATH, "qwen3", "0.1", 1),
        (MATH, "qwen3", "0.2", 0),
    ],
)
def test_models_by_release_as_programs_may_register_their_own_since_0_3(text: str, model: str, release: str, count: int) -> None:
    before = "model_type: openvla" if text == ROBOTS else "model_type: qwen2.5"
    assert (
        len(errors(text + "critic: {use_critic_model: false}\n" * (text == MATH), (before, f"model_type: {model}"), release=release))
        == count
    )


@pytest.mark.parametrize(
    ("word", "release", "count"), [("genesis", "0.2", 1), ("genesis", "0.3", 0), ("gym", "0.3", 1), ("robocasa365", "", 0)]
)
def test_environments_by_release(word: str, release: str, count: int) -> None:
    assert len(errors(ROBOTS, ("env_type: maniskill", f"env_type: {word}"), release=release)) == count


def test_keys_of_runners_and_of_the_chat_template_are_missed_where_the_checks_miss_none() -> None:
    assert errors(ROBOTS, (", save_interval: 1", "")) == ["there is no `runner.save_interval`: RLinf reads it without a default"]
    whole = MATH.replace("logger:", "max_epochs: 1, save_interval: 1, val_check_interval: 1, resume_dir: null, logger:")
    whole = whole.replace(
        "group_size: 8,", "group_size: 8, kl_beta: 0, kl_penalty_type: k1, loss_agg_func: token-mean, calculate_entropy: false,"
    )
    whole = whole.replace("megatron: {", "optim: {lr: 1}, fsdp_config: {mixed_precision: {}}, megatron: {").replace(
        "backend: megatron", "backend: fsdp"
    )
    whole = whole.replace("algorithm: {", "algorithm: {entropy_bonus: 0, ").replace(
        "model: {precision", "model: {encoder_seq_length: 2048, precision"
    )
    data = "data: {type: math, shuffle: true, num_workers: 1, val_rollout_batch_size: null, prompt_key: p, answer_key: a, "
    whole = whole.replace("data: {", data)
    assert errors(whole) == ["there is no `data.apply_chat_template`: RLinf reads it without a default"]
    assert errors(whole, ("data: {", "data: {apply_chat_template: true, ")) == []


@pytest.mark.parametrize(("word", "count"), [("grpo", 0), ("grpoo", 1), ("my_own_estimator", 0)])
def test_misspelt_algorithms_are_warnings_as_programs_may_register_their_own(word: str, count: int) -> None:
    reading = read(Source("job.yaml", MATH.replace("grpo", word)), read_shorthand("1x8"), "rlinf", "training", Composer())
    assert len([each for each in reading.findings if each.severity is Severity.WARNING]) == count
    assert not any(each.severity is Severity.ERROR for each in reading.findings)


def test_packed_components_need_accelerators() -> None:
    reading = read(Source("job.yaml", MATH), read_shorthand("x0"), "rlinf", "training", Composer())
    assert [each.code for each in reading.findings if each.severity is Severity.ERROR] in (["PW114"], ["PW102"])


FSDP = ("backend: megatron", "backend: fsdp, fsdp_config: {mixed_precision: {}}")
SAMPLED = ("group_size: 8", "group_size: 8, sampling_params: {do_sample: true, top_p: 0, temperature: -1}")
CRITIC = "critic: {use_critic_model: true, training_backend: fsdp, fsdp_config: {mixed_precision: {}}}\n"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (MATH, [FSDP, ("precision: bf16", 'precision: "null"')]),
        (MATH, [("model_path: m", 'model_path: m, precision: "null"')]),
        (ROBOTS, [("param_dtype: bf16", 'param_dtype: "null"')]),
        (MATH, [SAMPLED, ("group_name: r,", "group_name: r, sampling_params: {do_sample: true, top_p: 0.9, temperature: 1},")]),
        (MATH, [("log_path: logs", 'log_path: logs, logger_backends: ["${oc.env:LOGGER}"]')]),
        (ROBOTS, [("env: {", "env: {eval: {env_type: maniskill}, "), ("env_type: maniskill,", "env_type: behavior, base_config_name: x,")]),
        (MATH + CRITIC, []),  # agents start no critic
    ],
)
def test_values_that_rlinf_takes_or_does_not_read_are_no_errors(text: str, changes: list[tuple[str, str]]) -> None:
    assert errors(text, *changes) == []
