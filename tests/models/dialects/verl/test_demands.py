"""Single settings that a release of verl refuses, each beside the nearest that it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects import verl
from placewright.models.dialects.load import read
from placewright.models.dialects.verl import moments
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.report import Report
from placewright.models.text.source import Source
from placewright.planner.verify import verify

FACTS = Path(verl.__file__).parent / "facts"
Changes = dict[str, object]
A, R, REF = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref"
GOOD: Changes = {
    "algorithm.adv_estimator": "grpo", "data.train_batch_size": 256, f"{A}.ppo_mini_batch_size": 64, f"{A}.ppo_micro_batch_size_per_gpu": 2,
    f"{R}.name": "vllm", f"{R}.tensor_model_parallel_size": 1, f"{R}.log_prob_micro_batch_size_per_gpu": 2,
    f"{REF}.log_prob_micro_batch_size_per_gpu": 2, "trainer.nnodes": 1, "trainer.n_gpus_per_node": 8,
}  # fmt: skip
MAIN, MEGATRON = "verl.trainer.main_ppo", "verl.trainer.main_ppo --config-name=ppo_megatron_trainer"
STREAMS = "recipe.fully_async_policy.fully_async_main --config-name=fully_async_ppo_trainer"
TUNED: dict[str, tuple[str, Changes]] = {
    "sft": ("verl.trainer.sft_trainer", {"model.path": "/m", "data.train_batch_size": 64}),
    "old sft": ("verl.trainer.fsdp_sft_trainer", {"model.partial_pretrain": "/m", "data.train_batch_size": 64, "data.micro_batch_size_per_gpu": 4}),
}  # fmt: skip
APART: Changes = {"actor_rollout_ref.hybrid_engine": False, "rollout.nnodes": 1, "rollout.n_gpus_per_node": 4, "trainer.n_gpus_per_node": 4,
                  "data.train_batch_size": 0, "data.gen_batch_size": 1, f"{R}.calculate_log_probs": True, "data.return_raw_chat": True}  # fmt: skip
GAE: Changes = {"algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size_per_gpu": 2}
IN_REWARD: Changes = {"algorithm.use_kl_in_reward": True}
ADAPTIVE: Changes = {**IN_REWARD, "algorithm.kl_ctrl.type": "adaptive"}
LOSS, RC, LOGGED = f"{A}.policy_loss", "algorithm.rollout_correction", {f"{R}.calculate_log_probs": True}
ASYNC: Changes = {f"{R}.mode": "async", "data.return_raw_chat": True}
TEACHER, INFERENCE, DISTILLED = "distillation.teacher_models.teacher_model", "inference", "distillation.distillation_loss"
TAUGHT: Changes = {"distillation.enabled": True, "distillation.nnodes": 1, "distillation.n_gpus_per_node": 4, f"{TEACHER}.model_path": "/t",
                   f"{TEACHER}.inference.tensor_model_parallel_size": 4, "trainer.n_gpus_per_node": 4}  # fmt: skip
LONG, BUFFER = "+reward.reward_kwargs.max_resp_len", "+reward.reward_kwargs.overlong_buffer_cfg"
OVERLONG: Changes = {"reward.reward_manager.name": "dapo", f"{BUFFER}.enable": True, f"{BUFFER}.len": 1024, LONG: 1024}
GROUPS: Changes = {"algorithm.filter_groups.enable": True, "algorithm.filter_groups.metric": "acc"}
PREFERRED: Changes = {**GAE, "algorithm.use_pf_ppo": True}
LOOP = f"{R}.agent.default_agent_loop"

CASES: list[tuple[str, str, Changes, str, object, object]] = [
    # releases, program, changes, key, refused value, nearest value that is taken (None: unset)
    ("0.4.0 0.6.1 1dda039b", MAIN, IN_REWARD, "algorithm.kl_ctrl.type", "adaptiv", "adaptive"),
    ("0.5.0 1dda039b", MAIN, ADAPTIVE, "algorithm.kl_ctrl.horizon", 0, 0.5),
    ("0.5.0 0.9.0", MAIN, IN_REWARD, "algorithm.kl_penalty", "full", "k3"),
    ("0.4.0 0.7.1", MAIN, {f"{A}.use_kl_loss": True}, f"{A}.kl_loss_type", "k3+", "k3"),
    ("0.8.0 1dda039b", MAIN, {f"{A}.use_kl_loss": True}, f"{A}.kl_loss_type", "k4+", "k3+"),
    ("0.4.1 0.5.0", MAIN, {}, f"{LOSS}.loss_mode", "gspo", "vanilla"),
    ("0.6.0 0.6.1", MAIN, {}, f"{LOSS}.loss_mode", "cispo", "gspo"),
    ("0.4.0 0.5.0 1dda039b", MAIN, {}, f"{A}.clip_ratio_c", 1.0, 1.01),
    ("0.4.1 1dda039b", MAIN, {f"{LOSS}.loss_mode": "clip_cov"}, f"{LOSS}.clip_cov_ratio", 0, 0.0002),
    ("0.6.1 1dda039b", MAIN, {f"{LOSS}.loss_mode": "kl_cov"}, f"{LOSS}.kl_cov_ratio", 0, 0.0002),
    ("0.9.0", MAIN, {f"{LOSS}.loss_mode": "dro"}, f"{LOSS}.dro_beta", 0, 0.1),
    ("0.4.0 0.9.0", MAIN, PREFERRED, "algorithm.pf_ppo.reweight_method", "min", "max_min"),
    ("0.4.0 1dda039b", MAIN, {"algorithm.adv_estimator": "grpo_passk"}, f"{R}.n", 1, 2),
    ("0.7.1 0.9.0", MAIN, {"algorithm.adv_estimator": "gdpo"}, "+algorithm.gdpo_reward_keys", None, "[acc]"),
    ("b178a3cd 0.9.0", MAIN, {"algorithm.adv_estimator": "optimal_token_baseline"}, f"{A}.calculate_sum_pi_squared", None, True),
    ("0.8.0", MAIN, {f"{A}.calculate_sum_pi_squared": True}, "actor_rollout_ref.model.use_fused_kernels", True, False),
    ("0.6.0 0.9.0", MAIN, {}, "algorithm.adv_estimator", "gpro", "rloo"),
    ("0.4.0 0.5.0 0.6.1", MAIN, {}, f"{A}.optim.warmup_style", "linear", "cosine"),
    ("0.8.0 0.9.0 1dda039b", MAIN, {}, "reward.num_workers", 0, 1),
    ("0.6.0 1dda039b", MAIN, {}, f"{A}.optim.lr_scheduler_type", "linear", "cosine"),
    ("0.6.0 1dda039b", MAIN, GAE, "critic.optim.lr_scheduler_type", "linear", "cosine"),
    ("0.5.0 0.7.0", MAIN, GAE, "critic.loss_agg_mode", "mean", "seq-mean-token-sum"),
    ("0.7.0 1dda039b", MAIN, {}, f"{A}.fsdp_config.model_dtype", "fp8", "bf16"),
    ("0.5.0 0.6.1", MEGATRON, {f"{A}.shuffle": True}, f"{A}.data_loader_seed", None, 1),
    ("0.8.0 1dda039b", MEGATRON, {}, f"{A}.megatron.use_mbridge", False, True),
    ("0.7.0 1dda039b", MAIN, {}, f"{A}.router_replay.mode", "R4", "R3"),
    ("0.6.1 0.8.0", MAIN, {f"{RC}.bypass_mode": True}, f"{R}.calculate_log_probs", None, True),
    ("0.7.0 1dda039b", MAIN, {f"{RC}.bypass_mode": True, **LOGGED}, f"{RC}.loss_type", "ppo", "reinforce"),
    ("0.6.1 1dda039b", MAIN, LOGGED, f"{RC}.rollout_is", "tokens", "token"),
    ("0.6.1 1dda039b", MAIN, {f"{RC}.rollout_is": "token", **LOGGED}, f"{RC}.rollout_is_threshold", 0, 0.5),
    ("0.6.1 0.7.0", MAIN, {f"{RC}.rollout_rs_threshold": 2, **LOGGED}, f"{RC}.rollout_rs", "token_k1", "geometric"),
    ("b178a3cd 0.9.0", MAIN, {f"{RC}.rollout_rs_threshold": 2, **LOGGED}, f"{RC}.rollout_rs", "'token_k1,seq_mean'", "'token_k1,seq_mean_k3'"),
    ("0.8.0", MAIN, {f"{RC}.rollout_rs": "token_k1", **LOGGED}, f"{RC}.rollout_rs_threshold", None, 2),
    ("0.6.0 0.6.1 0.7.0 1dda039b", MAIN, {"data.return_raw_chat": True}, f"{R}.mode", "asinc", "async"),
    ("0.6.1", STREAMS, APART, f"{R}.mode", "sync", "async"),
    ("0.5.0 0.6.1", MAIN, {f"{R}.mode": "async"}, "data.return_raw_chat", None, True),
    ("0.6.1", MAIN, {f"{R}.name": "sglang", f"{R}.multi_turn.enable": True}, "data.return_raw_chat", None, True),
    ("0.6.1 0.7.1", MAIN, {**ASYNC, LOOP: "tool_agent"}, f"{R}.multi_turn.format", "glm", "gpt-oss"),
    ("0.7.0", MAIN, {}, f"{R}.trace.max_samples_per_step_per_worker", -1, 0),
    ("b178a3cd", MAIN, {}, f"{R}.checkpoint_engine.backend", "mooncake", "hccl"),
    ("0.7.1 1dda039b", MAIN, {}, f"{R}.checkpoint_engine.backend", "hccl", "mooncake"),
    ("0.4.0 0.6.1", MAIN, {}, "data.truncation", "none", "middle"),
    ("0.5.0 0.7.1", MAIN, {"data.sampler.class_path": "/s.py"}, "data.dataloader_num_workers", 1, 0),
    ("0.3.0", MAIN, {}, "reward_model.reward_manager", "dapo", "prime"),
    ("0.6.1 0.7.0", MAIN, {}, "reward_model.reward_manager", "niave", "dapo"),
    ("0.7.1 1dda039b", MAIN, {}, "reward.reward_manager.name", "batch", "dapo"),
    ("0.7.1", MAIN, {}, "reward.reward_manager.source", "import", "register"),
    ("0.8.0", MAIN, {"reward.reward_manager.source": "importlib"}, "reward.reward_manager.module.path", None, "/m.py"),
    ("0.7.1 0.9.0", MAIN, {**OVERLONG, LONG: None}, LONG, None, 1024),
    ("0.7.1 0.9.0", MAIN, OVERLONG, LONG, 1023, 1024),
    ("0.3.0 0.5.0 0.8.0", MAIN, {}, "trainer.logger", "[console,wandbb]", "[console,wandb]"),
    ("0.5.0", MAIN, {}, "trainer.logger", "file", "clearml"),
    ("0.3.0 0.8.0", MAIN, {"trainer.default_hdfs_dir": "hdfs://a/b"}, "trainer.resume_mode", "auto", "disable"),
    ("0.9.0", MAIN, {}, "trainer.resume_mode", "automatic", "auto"),
    ("0.3.0 1dda039b", MAIN, {"trainer.resume_mode": "resume_path"}, "trainer.resume_from_path", "/c/step_5", "/c/global_step_5"),
    ("0.5.0 0.9.0", MAIN, {"trainer.resume_mode": "resume_path"}, "trainer.resume_from_path", None, "/c/global_step_5"),
    ("0.9.0", MAIN, GROUPS, "algorithm.filter_groups.max_inflight_gen_batches", 0, 1),
    ("0.8.0 1dda039b", MAIN, TAUGHT, f"{DISTILLED}.loss_mode", "k5", "k3"),
    ("0.8.0 1dda039b", MAIN, TAUGHT, f"{DISTILLED}.policy_loss_mode", "gspo", "vanilla"),
    ("0.9.0", MAIN, {**TAUGHT, f"{DISTILLED}.loss_mode": "k1"}, f"{DISTILLED}.use_policy_gradient", False, True),
    ("0.9.0", MAIN, {**TAUGHT, f"{DISTILLED}.loss_mode": "forward_kl_topk"}, f"{DISTILLED}.topk", "null", 8),
    ("0.8.0 1dda039b", MAIN, TAUGHT, f"{TEACHER}.inference.max_model_len", 1024, 1025),
    ("0.3.0 0.6.1", MAIN, {"data.max_response_length": 7681}, f"{R}.max_num_batched_tokens", None, 8193),
    ("0.5.0 0.6.1", MAIN, {"data.max_response_length": 8192}, f"{R}.max_model_len", 8193, 8192),
    ("0.4.0 0.6.1", MAIN, {f"{R}.name": "sglang"}, f"{R}.max_model_len", 1023, 1024),
    ("0.3.0 0.5.0", MAIN, {f"{REF}.ulysses_sequence_parallel_size": 2}, "actor_rollout_ref.model.use_remove_padding", False, True),
    ("0.8.0", MAIN, {f"{A}.fsdp_config.ulysses_sequence_parallel_size": 2}, "actor_rollout_ref.model.use_remove_padding", False, True),
    ("0.8.0", "sft", {"engine.ulysses_sequence_parallel_size": 2}, "model.use_remove_padding", False, True),
    ("0.7.0 1dda039b", "sft", {}, "trainer.profile_interval", "[1]", "[1,2]"),
    ("0.7.0 1dda039b", "sft", {}, "trainer.profile_interval", "[-1,2]", "[-1,-1]"),
    ("0.6.0 1dda039b", "sft", {}, "trainer.resume_mode", "automatic", "disable"),
    ("0.7.0", "sft", {}, "data.truncation", "middle", "left"),
    ("0.6.0 1dda039b", "sft", {}, "optim.lr_scheduler_type", "wsd", "cosine"),
    ("0.5.0 0.7.0", "old sft", {}, "data.chat_template", "x", None),
    ("0.5.0 0.7.0", "old sft", {}, "model.strategy", "ddp", "fsdp2"),
    ("0.5.0 0.7.0", "old sft", {}, "optim.lr_scheduler", "linear", "wsd"),
]  # fmt: skip


def judged(release: str, program: str, changes: Changes) -> Report:
    launcher, good = "python3", GOOD
    if program in TUNED:
        launcher, (program, good) = "torchrun --nnodes=1 --nproc_per_node=8", TUNED[program]
    settings = {key: value for key, value in {**good, **changes}.items() if value is not None}
    text = " \\\n  ".join([f"{launcher} -m {program}", *(f'"{key}={value}"' for key, value in settings.items())])
    composer = Composer(frameworks=(f"verl=={release}",))
    return verify(read(Source("run.sh", f"{text}\n"), read_shorthand("x8"), level="training", composer=composer))


@pytest.mark.parametrize(
    ("release", "program", "changes", "key", "refused", "taken"),
    [pytest.param(release, *rest, id=f"{rest[2]}-{release}-{rest[3]}") for releases, *rest in CASES for release in releases.split()],
)
def test_a_release_refuses_a_value_and_takes_its_neighbour(
    release: str, program: str, changes: Changes, key: str, refused: object, taken: object
) -> None:
    for value, count in ((refused, 1), (taken, 0)):
        report = judged(release, program, {**changes, key: value})
        found = [finding.message for finding in report.findings if finding.severity is Severity.ERROR]
        assert len(found) == count and report.verdict == ("faulty" if count else "ok"), (value, report.verdict, found, report.missing)


def test_a_default_that_the_command_line_may_replace_is_no_error() -> None:
    text = "trainer: {nnodes: 1, n_gpus_per_node: 8}\nactor_rollout_ref: {rollout: {name: vllm, mode: async}}\n"
    report = verify(read(Source("run.yaml", text), read_shorthand("x8"), composer=Composer(frameworks=("verl==0.6.1",))))
    assert not [finding for finding in report.findings if "return_raw_chat" in finding.message]


def test_a_key_that_a_release_does_not_have_is_one_finding() -> None:
    report = judged("0.3.0", MAIN, {f"{A}.fsdp_config.model_dtype": "fp8"})
    assert len([finding for finding in report.findings if finding.severity is Severity.ERROR]) == 1


def test_code_of_the_job_may_register_what_verl_does_not_have() -> None:
    loss: Changes = {f"{LOSS}.loss_mode": "mine"}
    assert judged("0.9.0", MAIN, loss).verdict == "faulty"
    report = judged("0.9.0", MAIN, {**loss, "actor_rollout_ref.model.external_lib": "mine"})
    assert report.verdict == "ok" and any("is `mine`, a loss" in finding.message for finding in report.findings)


def test_every_demand_names_known_moments_tables_and_releases() -> None:
    demands, tables = json.loads((FACTS / "demands.json").read_text()), json.loads((FACTS / "settings.json").read_text())
    names = {"", *(each["name"] for each in json.loads((FACTS / "releases.json").read_text())["releases"])}
    for demand in demands:
        assert hasattr(moments, demand["when"]) and {demand.get("since", ""), demand.get("until", "")} <= names
        assert not isinstance(demand.get("values"), str) or "values" in tables[demand["values"]]
