"""Single settings that a release of verl refuses, each beside the nearest that it takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects import verl
from placewright.models.dialects.load import read
from placewright.models.dialects.verl.programs import MOMENTS
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
ONE, STREAM = "recipe.one_step_off_policy.main_ppo", "verl.experimental.fully_async_policy.fully_async_main"
TORCHRUN = "torchrun --nnodes=1 --nproc_per_node=8"
OTHERS: dict[str, tuple[str, str, Changes]] = {
    "sft": (TORCHRUN, "verl.trainer.sft_trainer", {"model.path": "/m", "data.train_batch_size": 64}),
    "old sft": (TORCHRUN, "verl.trainer.fsdp_sft_trainer", {"model.partial_pretrain": "/m", "data.train_batch_size": 64, "data.micro_batch_size_per_gpu": 4}),
    "ray sft": ("python3", "verl.trainer.sft_trainer_ray", {"model.path": "/m", "data.train_batch_size": 64, "trainer.n_gpus_per_node": 8}),
    "server": ("python3", "verl.trainer.main_generation_server", {f"{R}.name": "vllm", f"{R}.tensor_model_parallel_size": 1, "trainer.n_gpus_per_node": 8}),
    "generation": ("python3", "verl.trainer.main_generation", {"data.path": "/d", "data.output_path": "/o", "rollout.tensor_model_parallel_size": 1}),
}  # fmt: skip
"""Programs without an actor: launcher, module, settings."""
APART: Changes = {"actor_rollout_ref.hybrid_engine": False, "rollout.nnodes": 1, "rollout.n_gpus_per_node": 4, "trainer.n_gpus_per_node": 4,
                  "data.train_batch_size": 0, "data.gen_batch_size": 1, f"{R}.calculate_log_probs": True, "data.return_raw_chat": True}  # fmt: skip
GAE: Changes = {"algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size_per_gpu": 2}
IN_REWARD: Changes = {"algorithm.use_kl_in_reward": True}
ADAPTIVE: Changes = {**IN_REWARD, "algorithm.kl_ctrl.type": "adaptive"}
COMPARED: Changes = {f"{A}.use_kl_loss": True}
SEPARATE: Changes = {"trainer.v1.trainer_mode": "separate_async", f"{R}.nnodes": 1, f"{R}.n_gpus_per_node": 4, "trainer.n_gpus_per_node": 4,
                     f"{R}.checkpoint_engine.backend": "nccl", "data.train_batch_size": 64, "trainer.v1.separate_async.parameter_sync_step": 1}  # fmt: skip
SWITCH = "trainer.v1.separate_async.hybrid_rollout"
LOSS, RC = f"{A}.policy_loss", "algorithm.rollout_correction"
LOGGED: Changes = {f"{R}.calculate_log_probs": True}
ASYNC: Changes = {f"{R}.mode": "async", "data.return_raw_chat": True}
TEACHER, INFERENCE, DISTILLED = "distillation.teacher_models.teacher_model", "inference", "distillation.distillation_loss"
TAUGHT: Changes = {"distillation.enabled": True, "distillation.nnodes": 1, "distillation.n_gpus_per_node": 4, f"{TEACHER}.model_path": "/t",
                   f"{TEACHER}.inference.tensor_model_parallel_size": 4, "trainer.n_gpus_per_node": 4}  # fmt: skip
LONG, BUFFER = "+reward.reward_kwargs.max_resp_len", "+reward.reward_kwargs.overlong_buffer_cfg"
OVERLONG: Changes = {"reward.reward_manager.name": "dapo", f"{BUFFER}.enable": True, f"{BUFFER}.len": 1024, LONG: 1024}
GROUPS: Changes = {"algorithm.filter_groups.enable": True, "algorithm.filter_groups.metric": "acc"}
PREFERRED: Changes = {**GAE, "algorithm.use_pf_ppo": True}
LOOP = f"{R}.agent.default_agent_loop"
SAMPLER = "trainer.v1.sampler.custom_sampler"
VAL_N, NSIGHT = f"{R}.val_kwargs.n", "global_profiler.global_tool_config.nsys.worker_nsight_options"
OLD_LONG, OLD_BUFFER = "+reward_model.reward_kwargs.max_resp_len", "+reward_model.reward_kwargs.overlong_buffer_cfg"
ON_POLICY: Changes = {
    "data.train_batch_size": 256,
    "data.gen_batch_size": None,
    "data.return_raw_chat": None,
    f"{R}.calculate_log_probs": None,
}
MUON: Changes = {f"{A}.optim.optimizer": "muon", f"{A}.optim.muon_match_adamw_update_rms": True}
DYNAMIC: Changes = {
    f"{A}.megatron.dynamic_context_parallel": True,
    f"{A}.megatron.max_seqlen_per_dp_cp_rank": 4096,
    "actor_rollout_ref.model.use_remove_padding": True,
}
PER_TOKEN: Changes = {
    f"+{A}.megatron.override_transformer_config.calculate_per_token_loss": True,
    "actor_rollout_ref.model.use_remove_padding": True,
}
SCORED: Changes = {
    "reward.reward_model.enable": True,
    "reward.reward_model.model_path": "/r",
    "reward.reward_model.rollout.name": "vllm",
    "reward.reward_model.rollout.tensor_model_parallel_size": 1,
}
PREFILLED: Changes = {f"{R}.name": "sglang", f"{R}.disaggregation.enabled": True}

CASES: list[tuple[str, str, Changes, str, object, object]] = [
    # releases, program, changes, key, refused value, nearest value that is taken (None: unset)
    ("0.6.1 0.9.0 1dda039b", "sft", {"engine": "megatron"}, "optim", None, "megatron"),
    ("0.7.1 0.9.0", "sft", {"engine": "veomni"}, "optim", None, "veomni"),
    ("0.8.0 1dda039b", "sft", {"engine": "torchtitan", "engine.data_parallel_shard_size": 8}, "optim", "veomni", "torchtitan"),
    ("0.6.1 0.9.0", "sft", {}, "optim", "megatron", "fsdp"),
    ("0.8.0", "ray sft", {"engine": "megatron"}, "optim", "fsdp", "megatron"),
    ("0.4.0 0.6.1 1dda039b", MAIN, IN_REWARD, "algorithm.kl_ctrl.type", "adaptiv", "adaptive"),
    ("0.5.0 1dda039b", MAIN, ADAPTIVE, "algorithm.kl_ctrl.horizon", 0, 0.5),
    ("0.5.0 0.9.0", MAIN, IN_REWARD, "algorithm.kl_penalty", "full", "k3"),
    ("0.4.0 0.7.1", MAIN, {f"{A}.use_kl_loss": True}, f"{A}.kl_loss_type", "k3+", "k3"),
    ("0.4.0 0.4.1 0.5.0", "generation", {}, "rollout.name", "sglang", "vllm"),
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
    ("0.5.0 0.7.1", MAIN, {"data.sampler.class_path": "/s.py", "data.sampler.class_name": "S"}, "data.dataloader_num_workers", 1, 0),
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
    ("0.6.0 1dda039b", "sft", {}, "trainer.resume_mode", "automatic", "disable"),
    ("0.7.0", "sft", {}, "data.truncation", "middle", "left"),
    ("0.6.0 1dda039b", "sft", {}, "optim.lr_scheduler_type", "wsd", "cosine"),
    ("0.5.0 0.7.0", "old sft", {}, "data.chat_template", "x", None),
    ("0.5.0 0.7.0", "old sft", {}, "model.strategy", "ddp", "fsdp2"),
    ("0.5.0 0.7.0", "old sft", {}, "optim.lr_scheduler", "linear", "wsd"),
    # validation
    ("0.3.0 0.5.0 0.6.1 0.8.0 0.9.0", MAIN, {}, VAL_N, 0, 1),
    ("0.8.0 1dda039b", MAIN, {"trainer.val_before_train": False, "trainer.test_freq": 5}, VAL_N, 0, 1),
    ("0.5.0 0.6.1", MAIN, ASYNC, f"{R}.val_kwargs.top_p", 0, 0.5),
    ("0.7.0 0.9.0", MAIN, {}, f"{R}.val_kwargs.top_p", 1.2, 1),
    ("0.8.0 1dda039b", MAIN, {}, f"{R}.val_kwargs.temperature", -0.5, 0),
    ("0.8.0 0.9.0", MAIN, {}, f"{R}.val_kwargs.top_k", -2, -1),
    # devices
    ("0.5.0 0.6.1", MAIN, {}, "trainer.device", "gpu", "npu"),
    ("0.7.0", "generation", {}, "trainer.device", "cpu", "cuda"),
    ("0.5.0", "old sft", {}, "trainer.device", "gpu", "cpu"),
    ("0.6.1", "sft", {}, "trainer.device", "gpu", "cuda:0"),
    # code of the user
    ("0.4.0 0.6.1", MAIN, {}, "custom_reward_function.path", "pkg://my.reward", "my/reward.py"),
    ("0.7.0", MAIN, {}, "custom_reward_function.path", "my.reward", "pkg://my.reward"),
    ("0.8.0 0.9.0", MAIN, {}, "reward.custom_reward_function.path", "my.reward", "pkg://my.reward"),
    ("0.6.1", MAIN, {"custom_reward_function.path": "/r.py"}, "custom_reward_function.name", "null", "score"),
    ("0.8.0", MAIN, {"reward.reward_manager.source": "importlib"}, "reward.reward_manager.module.path", "my.mod", "/m.py"),
    ("0.5.0 0.9.0", MAIN, {"data.custom_cls.path": "/d.py"}, "data.custom_cls.name", None, "D"),
    ("0.7.0 0.9.0", "sft", {"data.custom_cls.name": "D"}, "data.custom_cls.path", "my_data", "/my_data.py"),
    ("0.5.0", MAIN, {**ASYNC, f"{R}.agent.custom_async_server.name": "S"}, f"{R}.agent.custom_async_server.path", None, "/s.py"),
    ("0.5.0", MAIN, {**ASYNC, f"{R}.agent.custom_async_server.path": "/s.py"}, f"{R}.agent.custom_async_server.name", None, "S"),
    ("0.7.0 0.9.0", MAIN, {}, f"+{R}.agent.agent_loop_manager_class", "Manager", "my.Manager"),
    ("0.8.0", MAIN, {}, f"+{R}.checkpoint_manager_class", "Manager", "my.Manager"),
    ("0.9.0", MAIN, {f"{SAMPLER}.name": "S"}, f"{SAMPLER}.path", "my_sampler", "/s.py"),
    ("0.5.0 0.9.0", MAIN, {}, "actor_rollout_ref.model.external_lib", "/my/lib.py", "my.lib"),
    # fine-tuning
    ("0.6.0 0.6.1 0.8.0 0.9.0", "sft", {}, "data.pad_mode", "right", "no_padding"),
    ("0.3.0 0.7.0", "old sft", {}, "data.max_length", "null", 512),
    ("0.8.0 0.9.0", "sft", {}, "data.max_length", 0, 1),
    ("0.5.0 0.7.0", "old sft", {}, "data.max_length", 0, 1),
    ("0.4.0 0.7.0", "old sft", {}, "trainer.test_freq", 0, -1),
    ("0.6.1 0.9.0", "sft", {}, "trainer.save_freq", 0, "after_each_epoch"),
    ("0.7.1 0.9.0", "sft", {}, "data.num_workers", -1, 0),
    ("0.8.0", "sft", {}, "data.max_token_len_per_gpu", "null", 8192),
    ("0.8.0", "sft", {"data.use_dynamic_bsz": False}, "data.micro_batch_size_per_gpu", "null", 4),
    ("0.5.0", "old sft", {}, "data.micro_batch_size_per_gpu", "null", 4),
    ("0.8.0", "sft", {}, "engine.model_dtype", "fp8", "bf16"),
    # optimizers
    ("0.3.0 0.6.1 0.9.0", MAIN, {}, f"{A}.optim.lr", -1e-6, 1e-6),
    ("0.9.0", MAIN, GAE, "critic.optim.weight_decay", -0.1, 0),
    ("0.7.0", "old sft", {}, "optim.lr", -1e-6, 1e-6),
    ("0.5.0", MAIN, {f"{A}.optim.warmup_style": "cosine"}, f"{A}.optim.min_lr_ratio", 1.5, 1),
    ("0.6.1 0.9.0", MAIN, {f"{A}.optim.lr_scheduler_type": "cosine"}, f"{A}.optim.min_lr_ratio", -0.5, 0),
    ("0.5.0 0.9.0", MEGATRON, {}, f"{A}.optim.lr_decay_style", "inverse_square_root", "inverse-square-root"),
    ("0.6.1", MEGATRON, {}, f"{A}.optim.weight_decay_incr_style", "exp", "linear"),
    ("0.7.0", MEGATRON, {f"{A}.optim.lr_decay_style": "WSD"}, f"{A}.optim.lr_wsd_decay_steps", None, 10),
    ("0.6.1 0.8.0", MEGATRON, {"trainer.total_training_steps": 100}, f"{A}.optim.lr_warmup_steps", 101, -1),
    ("0.9.0", MEGATRON, {f"{A}.optim.lr_decay_steps": 50}, f"{A}.optim.lr_warmup_steps", 51, 49),
    ("0.9.0", MEGATRON, MUON, f"{A}.optim.muon_extra_scale_factor", 0.2, 1.0),
    # rewards
    ("0.4.0 0.7.0", MAIN, {"reward_model.reward_manager": "dapo", f"{OLD_BUFFER}.enable": False, f"{OLD_BUFFER}.len": 512}, OLD_LONG, None, 512),
    ("0.7.1 0.8.0", MAIN, {**OVERLONG, f"{BUFFER}.enable": False}, LONG, None, 1024),
    ("0.4.0 0.6.1 0.7.0", MAIN, {OLD_LONG: 1024}, "reward_model.reward_manager", "naive", "dapo"),
    ("0.5.0", ONE, {**APART, **ON_POLICY, OLD_LONG: 1024}, "reward_model.reward_manager", "prime", "batch"),
    ("0.8.0 0.9.0", MAIN, OVERLONG, f"{BUFFER}.len", 0, 1),
    ("0.9.0", MAIN, SCORED, "reward.reward_model.rollout.name", "trtllm", "sglang"),
    # engines
    ("0.7.0 0.9.0", "server", {}, f"{R}.gpu_memory_utilization", 1.5, 0.9),
    ("0.9.0", "server", {}, f"{R}.top_p", 0, 0.9),
    ("0.5.0 0.7.0", "generation", {}, "rollout.gpu_memory_utilization", 1.5, 0.9),
    ("0.6.1", "generation", {}, "rollout.temperature", -1, 0.5),
    ("0.6.1 0.8.0 0.9.0", MAIN, {}, f"{R}.top_k", -2, -1),
    ("0.7.1 0.9.0", MAIN, SCORED, "reward.reward_model.rollout.gpu_memory_utilization", 1.5, 0.5),
    ("0.8.0", MAIN, TAUGHT, f"{TEACHER}.inference.max_num_batched_tokens", 100, 8192),
    ("0.8.0", MAIN, {}, f"{R}.scheduling_policy", "lifo", "priority"),
    ("0.6.1", MAIN, {**ASYNC, f"{R}.name": "sglang"}, f"{R}.skip_tokenizer_init", False, True),
    ("0.9.0", MAIN, {f"{R}.name": "trtllm", f"{R}.quantization": "fp8"}, f"{R}.load_format", "auto", "dummy"),
    ("0.9.0", STREAM, {**APART, "trainer.use_v1": False}, f"{R}.checkpoint_engine.backend", "delta_sharded", "nccl"),
    # Megatron and FSDP
    ("0.9.0", MEGATRON, DYNAMIC, f"{A}.megatron.pad_to_length", True, False),
    ("0.9.0", MEGATRON, {**GAE, "critic.megatron.max_seqlen_per_dp_cp_rank": 4096}, "critic.megatron.dynamic_context_parallel", True, False),
    ("0.8.0", MEGATRON, {f"{A}.megatron.qat.enable": True}, f"{A}.megatron.vanilla_mbridge", True, False),
    ("0.9.0", MEGATRON, PER_TOKEN, f"{A}.loss_agg_mode", "seq-mean-token-mean", "seq-mean-token-sum"),
    ("0.6.1", MEGATRON, {**GAE, "critic.shuffle": True}, "critic.data_loader_seed", "null", 1),
    ("0.7.0 0.9.0", MAIN, {f"{A}.use_kl_loss": True}, f"{REF}.fsdp_config.model_dtype", "fp8", "bf16"),
    ("0.7.0", MAIN, {"actor_rollout_ref.model.tiled_mlp.enabled": True, "critic.strategy": "fsdp2"}, f"{A}.strategy", "fsdp", "fsdp2"),
    ("0.6.1 0.7.0", MAIN, {}, "actor_rollout_ref.model.target_modules", "[q_proj,k_proj]", "all-linear"),
    ("0.6.1 0.9.0", MAIN, {}, "actor_rollout_ref.model.exclude_modules", "[q_proj]", "q_proj"),
    # data, numbers that are divided by
    ("0.5.0 0.9.0", MAIN, {}, "data.dataloader_num_workers", -1, 0),
    ("0.6.1", MAIN, {"data.filter_overlong_prompts": True}, "data.filter_overlong_prompts_workers", -1, 0),
    ("0.5.0 0.8.0", MAIN, {}, "data.val_batch_size", 0, 1),
    ("0.5.0 0.7.0", MAIN, {f"{R}.log_prob_use_dynamic_bsz": True}, f"{R}.log_prob_max_token_len_per_gpu", 1023, 1024),
    ("0.8.0", MAIN, {f"{A}.use_dynamic_bsz": True, f"{R}.log_prob_use_dynamic_bsz": True}, f"{A}.ppo_max_token_len_per_gpu", 0, 16384),
    ("b178a3cd", STREAM, APART, "rollout.test_freq", 0, 1),
    ("0.8.0", STREAM, APART, "trainer.resume_mode", "automatic", "auto"),
    ("0.8.0 0.9.0", MAIN, {f"{RC}.rollout_is": "token", **LOGGED}, f"{RC}.rollout_is_threshold", "'2.0_0.5'", "'0.5_2.0'"),
    ("b178a3cd 0.9.0", MAIN, {f"{RC}.rollout_rs": "token_k1", **LOGGED}, f"{RC}.rollout_rs_threshold", 0, 2),
    ("0.6.1 0.7.0", MAIN, {f"{RC}.rollout_rs": "token", **LOGGED}, f"{RC}.rollout_rs_threshold", "0.5_2.0", 2),
    ("0.6.1 0.7.0", MAIN, {f"{RC}.rollout_is": "token", **LOGGED}, f"{RC}.rollout_is_threshold", "0.5_2.0", 2),
    ("b178a3cd 0.7.1", MAIN, {f"{RC}.rollout_is": "token", **LOGGED}, f"{RC}.rollout_is_threshold", "'2.0'", "2.0"),
    ("0.8.0 1dda039b", MAIN, {f"{RC}.rollout_is": "token", **LOGGED}, f"{RC}.rollout_is_threshold", "'0.5,2.0'", "0.5_2.0"),
    ("0.8.0 0.9.0", MAIN, {f"{RC}.rollout_rs": "seq_mean_k2", **LOGGED}, f"{RC}.rollout_rs_threshold", "0.5_2.0", "'2.0'"),
    ("0.8.0 0.9.0", MAIN, {f"{RC}.rollout_rs": "'token_k1,token_k1,token_k3'", **LOGGED}, f"{RC}.rollout_rs_threshold", "'0.5_2.0'", "'0.5_2.0,1'"),
    ("0.8.0 1dda039b", MAIN, {f"{RC}.rollout_rs": "'token_k1,token_k2,token_k3'", **LOGGED}, f"{RC}.rollout_rs_threshold", "'1,2'", "'1,2,3'"),
    ("0.9.0 1dda039b", MAIN, {f"{RC}.rollout_rs": "token_k1", **LOGGED}, f"{RC}.rollout_rs_threshold", "'2.0_0.5'", "0.5_2.0"),
    ("0.9.0 1dda039b", MAIN, {}, f"{A}.profiler.tool_config.torch.schedule.wait", -1, 0),
    ("0.8.0 1dda039b", MAIN, {}, f"{A}.optim.clip_grad", "null", 0.5),
    ("0.8.0 0.9.0", MAIN, GAE, "critic.optim.clip_grad", "null", None),
    ("0.6.1 1dda039b", "sft", {}, "optim.clip_grad", "null", 1),
    ("0.7.0 1dda039b", "sft", {"engine": "megatron", "optim": "megatron"}, "engine.use_mbridge", False, True),
    ("0.8.0 1dda039b", MAIN, COMPARED, f"{REF}.fsdp_config.fsdp_size", 3, 4),
    ("0.8.0 1dda039b", MAIN, {**COMPARED, "actor_rollout_ref.model.use_remove_padding": True}, f"{REF}.ulysses_sequence_parallel_size", 3, 4),
    ("0.9.0", MAIN, {**COMPARED, "actor_rollout_ref.model.use_remove_padding": True}, f"{REF}.fsdp_config.ulysses_sequence_parallel_size", 3, 2),
    ("1dda039b", MAIN, SEPARATE, f"{SWITCH}.switch_threshold_ratio", 1.5, 1),
    ("1dda039b", MAIN, SEPARATE, f"{SWITCH}.switch_cost_window_size", 0, 1),
    ("0.9.0", MAIN, GAE, "critic.profiler.tool_config.torch.schedule.active", -1, 2),
    ("0.6.1 0.8.0", MAIN, GAE, "critic.profiler.tool_config.npu.level", "level5", "level2"),
    ("0.7.0", MAIN, {"global_profiler.tool": "nsys", "global_profiler.steps": "[1]"}, NSIGHT, "null", None),
    ("0.8.0", MAIN, TAUGHT, f"{TEACHER}.model_path", "null", "/t"),
    ("0.9.0", MAIN, {**TAUGHT, f"{DISTILLED}.loss_mode": "forward_kl_topk", f"{DISTILLED}.topk": 64}, f"+{TEACHER}.inference.engine_kwargs.vllm.max_logprobs", 32, 64),
]  # fmt: skip


def judged(release: str, program: str, changes: Changes) -> Report:
    launcher, program, good = OTHERS.get(program, ("python3", program, GOOD))
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


TURNS, TITAN = f"{R}.multi_turn", {"model_engine": "torchtitan", f"{A}.torchtitan.data_parallel_shard_size": 8}
OF_TURNS: Changes = {f"{TURNS}.enable": True, f"{R}.name": "sglang", f"{R}.mode": "async"}
OLD: Changes = {"actor_rollout_ref.hybrid_engine": True}
MODES = (
    ("0.3.0 0.4.0 0.4.1", MAIN, {f"{R}.enforce_eager": False}, f"{R}.free_cache_engine", True, False),
    ("0.3.0 0.4.1", MAIN, {f"{R}.enforce_eager": False, f"{R}.name": "sglang"}, f"{R}.free_cache_engine", True, False),
    ("0.4.0 0.4.1", MAIN, OF_TURNS, f"{TURNS}.tool_config_path", None, "tools.yaml"),
    ("0.4.1", MAIN, OF_TURNS, f"{TURNS}.interaction_config_path", None, "talk.yaml"),
    ("0.4.0 0.4.1", MAIN, {**OF_TURNS, f"{TURNS}.tool_config_path": "tools.yaml"}, "algorithm.adv_estimator", "rloo", "grpo"),
    ("0.3.0", MAIN, OLD, f"{A}.strategy", "fsdp2", "fsdp"),
    ("0.9.0 1dda039b", MAIN, TITAN, f"{A}.torchtitan.attn_type", "sdpa", "varlen"),
    ("0.9.0 1dda039b", MAIN, TITAN, f"{A}.torchtitan.spmd_backend", "fast", "default"),
    ("0.9.0 1dda039b", MAIN, TITAN, f"{A}.torchtitan.activation_checkpoint", "some", "full"),
)  # fmt: skip
TEXTS = (
    ("0.3.0 0.6.1 0.9.0", {}, f"{R}.gpu_memory_utilization", "50%", 0.5),
    ("0.3.0 0.6.1 0.9.0", {}, f"{R}.gpu_memory_utilization", "1/2", 0.5),
    ("0.6.1 0.9.0 1dda039b", {}, f"{R}.max_model_len", "8k", 8192),
    ("0.6.1 0.9.0", {f"{A}.use_dynamic_bsz": True}, f"{A}.ppo_max_token_len_per_gpu", "16k", 16384),
    ("0.6.1 0.9.0", {}, VAL_N, "two", 2),
    *((("0.3.0 0.6.1 0.9.0 1dda039b"), {}, f"trainer.{key}", "one", 1) for key in ("total_epochs", "save_freq", "test_freq", "critic_warmup")),
    *((("0.3.0 0.6.1 0.9.0"), {}, f"{A}.{key}", "low", 1) for key in ("ppo_epochs", "entropy_coeff")),
    ("0.3.0 0.9.0", COMPARED, f"{A}.kl_loss_coef", "low", 0.001),
    ("0.6.1 0.9.0", {}, f"{A}.clip_ratio_high", "high", 0.28),
    ("0.3.0 0.6.1 0.9.0", {}, f"{A}.optim.lr", "small", "1e-6"),
    ("0.6.1 0.9.0", {}, f"{R}.temperature", "hot", 1.0),
    ("0.6.1 0.9.0", {}, "data.train_max_samples", "all", -1),
    ("0.3.0 0.9.0", GAE, "algorithm.gamma", "one", 1.0),
    ("0.3.0 0.9.0", GAE, "critic.cliprange_value", "half", 0.5),
    ("0.4.0 0.9.0", IN_REWARD, "algorithm.kl_ctrl.kl_coef", "low", 0.001),
    ("0.4.0 0.6.1 1dda039b", {f"{R}.load_format": "safetensors"}, "actor_rollout_ref.model.lora_rank", "many", 32),
    ("0.3.0 0.4.1 0.6.1", {}, f"{A}.grad_clip", "many", 1.0),
    ("0.3.0 0.6.1 1dda039b", {}, "trainer.total_training_steps", "many", 100),
    ("0.4.0 0.6.1 0.9.0", {"actor_rollout_ref.model.lora_rank": 32, f"{R}.load_format": "safetensors"}, "actor_rollout_ref.model.lora_alpha", "x2", 64),
    ("0.3.0 0.5.0 0.6.1", {f"{R}.val_kwargs.do_sample": True}, f"{R}.val_kwargs.temperature", "hot", 0.6),
    ("0.5.0 0.9.0 1dda039b", {}, "data.val_batch_size", "all", 64),
    ("0.8.0 0.9.0 1dda039b", {}, f"{A}.optim.clip_grad", "many", 1.0),
    ("0.3.0 0.6.1 1dda039b", {}, f"{A}.optim.lr_warmup_steps", "many", 10),
    ("0.3.0 0.6.1 1dda039b", {}, f"{A}.optim.lr_warmup_steps_ratio", "many", 0.1),
)  # fmt: skip
"""Releases, settings beside, a number as text, and as a number."""


@pytest.mark.parametrize(
    ("release", "program", "changes", "key", "refused", "taken"),
    [(release, *rest) for releases, *rest in MODES for release in releases.split()],
)
def test_a_mode_of_some_releases_is_refused(release: str, program: str, changes: Changes, key: str, refused: object, taken: object) -> None:
    for value, count in ((refused, 1), (taken, 0)):
        report = judged(release, program, {**changes, key: value})
        found = [finding.message for finding in report.findings if finding.severity is Severity.ERROR]
        assert len(found) == count, (value, found)


@pytest.mark.parametrize(
    ("release", "changes", "tokens"),
    [("0.3.0", {}, 1024), ("0.4.1", {f"{R}.max_model_len": 1024}, 1024), ("0.6.1", {}, 1024), ("0.6.1", {f"{R}.max_model_len": 512}, 0),
     ("0.5.0", ASYNC, 0), ("0.6.1", ASYNC, 0), ("0.9.0", {f"{R}.max_model_len": 1024}, 0), ("1dda039b", {f"{R}.max_model_len": 1024}, 0)],
)  # fmt: skip
def test_vllm_without_chunked_prefill_takes_whole_samples(release: str, changes: Changes, tokens: int) -> None:
    """A server never gets the flag until 1dda039b; the V1 engine of vLLM 0.8 to 0.11 chunks in any case."""
    report = judged(
        release, MAIN, {f"{R}.enable_chunked_prefill": False, f"{R}.max_num_batched_tokens": 512, f"{R}.max_num_seqs": 64, **changes}
    )
    warnings = [finding.message for finding in report.findings if "max_num_batched_tokens` 512 is less than" in finding.message]
    assert report.verdict == "ok" and [str(tokens) in message for message in warnings] == ([True] if tokens else []), warnings


@pytest.mark.parametrize(("release", "errors"), [("0.6.1", 0), ("0.8.0", 1), ("1dda039b", 1)])
def test_a_strategy_of_the_reference_without_workers(release: str, errors: int) -> None:
    strategy = {**COMPARED, "actor_rollout_ref.ref.strategy": "fsdp3"}
    assert len(judged(release, MAIN, strategy).errors) == errors
    assert not judged(release, MAIN, {**strategy, "actor_rollout_ref.ref.strategy": "fsdp"}).errors


@pytest.mark.parametrize("strategy", ["sglang", "hf"])
def test_megatron_of_0_3_0_generates_with_vllm_alone(strategy: str) -> None:
    report = judged("0.3.0", MEGATRON, {f"{R}.name": strategy})
    assert any("the workers of Megatron generate with vLLM alone" in finding.message for finding in report.findings)
    assert not any("the workers of Megatron" in finding.message for finding in judged("0.5.0", MEGATRON, {f"{R}.name": "sglang"}).findings)


@pytest.mark.parametrize(
    ("release", "changes", "key", "text", "number"), [(release, *rest) for releases, *rest in TEXTS for release in releases.split()]
)
def test_a_text_is_no_number(release: str, changes: Changes, key: str, text: str, number: object) -> None:
    errors = [finding for finding in judged(release, MAIN, {**changes, key: text}).findings if finding.severity is Severity.ERROR]
    assert [(finding.code, f"`{key}`" in finding.message) for finding in errors] == [("PW105", True)]
    assert judged(release, MAIN, {**changes, key: number}).verdict == "ok"


@pytest.mark.parametrize(("release", "engine"), [("0.8.0", "sglang"), ("0.9.0", "sglang"), ("0.9.0", "vllm")])
def test_prefill_and_decode_of_a_replica_share_a_node(release: str, engine: str) -> None:
    changes: Changes = {**PREFILLED, f"{R}.name": engine, f"{R}.tensor_model_parallel_size": 4, f"{R}.disaggregation.decode_replicas": 2}
    errors = [finding for finding in judged(release, MAIN, changes).findings if finding.severity is Severity.ERROR]
    assert [finding.help for finding in errors] == [f"set `{R}.disaggregation.decode_replicas=1`"]
    assert judged(release, MAIN, {**changes, f"{R}.disaggregation.decode_replicas": 1}).verdict == "ok"
    uneven = {f"{R}.disaggregation.decode_replicas": 1, f"{R}.disaggregation.decode_tensor_model_parallel_size": 2}
    assert judged(release, MAIN, {**changes, **uneven}).verdict == "incomplete"  # two of eight are left over


@pytest.mark.parametrize(
    ("release", "changes", "key", "refused", "taken"),
    [
        ("0.8.0", PREFILLED, "transfer_backend", "tcp", "mooncake"),
        ("0.9.0", {**PREFILLED, f"{R}.name": "vllm"}, "transfer_backend", "mori", "nixl"),
        ("0.9.0", PREFILLED, "prefill_replicas", 2, 1),
        ("0.8.0", PREFILLED, "decode_replicas", 0, 1),
        ("1dda039b", PREFILLED, "bootstrap_port", 70000, 8000),
    ],
)
def test_what_prefill_and_decode_apart_refuse(release: str, changes: Changes, key: str, refused: object, taken: object) -> None:
    for value, verdict in ((refused, "faulty"), (taken, "ok")):
        assert judged(release, MAIN, {**changes, f"{R}.disaggregation.{key}": value}).verdict == verdict, value


def test_the_tps_of_prefill_and_decode_divide_the_heads() -> None:
    tps: Changes = {
        f"{R}.name": "vllm",
        f"{R}.disaggregation.decode_tensor_model_parallel_size": 3,
        "actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B",
    }
    found = [finding.message for finding in judged("0.9.0", MAIN, {**PREFILLED, **tps}).findings if finding.severity is Severity.ERROR]
    assert found == ["the 28 attention heads of `Qwen/Qwen2.5-7B` do not divide among tp 3 of rollout"]


@pytest.mark.parametrize(
    ("release", "program", "changes"),
    [
        ("0.6.1", MAIN, {"trainer.val_before_train": False, VAL_N: 0}),
        ("0.9.0", MAIN, {"trainer.device": "gpu"}),
        ("0.9.0", MAIN, {**OVERLONG, f"{BUFFER}.enable": False, LONG: None}),
        ("0.9.0", MAIN, {"data.val_batch_size": 0}),
        ("0.9.0", MAIN, {f"{A}.optim.min_lr_ratio": 1.5}),
        ("0.6.1", MAIN, {f"{R}.log_prob_use_dynamic_bsz": True, f"{R}.log_prob_max_token_len_per_gpu": 100, f"{RC}.bypass_mode": True, **LOGGED}),
        ("0.7.1", MAIN, {"actor_rollout_ref.model.target_modules": "[q_proj,k_proj]"}),
        ("0.5.0", MAIN, {"trainer.test_freq": 0, "trainer.save_freq": 0}),
        ("0.6.1", MAIN, {f"{R}.val_kwargs.do_sample": True, f"{R}.val_kwargs.top_p": 0, f"{R}.val_kwargs.top_k": -2}),
        ("0.6.1", MAIN, {**ASYNC, f"{R}.top_k": -2}),
        ("0.7.0", MAIN, {f"{R}.top_k": -2, f"{R}.val_kwargs.top_k": -2}),
        ("0.7.0", "sft", {"data.max_length": 0}),
        ("0.9.0", "sft", {"data.custom_cls.path": "", "data.custom_cls.name": None}),
        ("0.8.0", MAIN, {"reward.custom_reward_function.path": "", "reward.custom_reward_function.name": "null"}),
        ("0.9.0", MAIN, {f"{SAMPLER}.path": "my_sampler"}),
        ("0.8.0", STREAM, {**APART, f"+{R}.checkpoint_manager_class": "Manager"}),
        ("0.8.0", STREAM, {**APART, f"{R}.log_prob_use_dynamic_bsz": True, f"{A}.use_dynamic_bsz": True, f"{RC}.bypass_mode": True,
                           f"{R}.log_prob_max_token_len_per_gpu": 0}),
        ("0.9.0", MAIN, {**SCORED, "reward.reward_model.rollout.name": "trtllm", "reward.custom_reward_function.path": "/r.py"}),
        ("0.9.0", MAIN, {f"{R}.checkpoint_engine.backend": "delta_sharded"}),
        ("0.8.0", MAIN, {f"{RC}.rollout_rs": "token_k1", **LOGGED, f"{RC}.rollout_rs_threshold": "'2_0.5'"}),
        ("0.6.1", MAIN, {f"{RC}.bypass_mode": True, f"{RC}.rollout_rs": "mine", **LOGGED}),
        ("0.9.0", MAIN, {f"{RC}.bypass_mode": True, f"{RC}.rollout_is": "token", f"{RC}.rollout_is_threshold": "'2.0_0.5'", **LOGGED}),
        ("0.6.1", MAIN, {f"{R}.expert_parallel_size": 0}),
        ("0.7.0", MAIN, {**COMPARED, f"{REF}.fsdp_config.fsdp_size": 3}),
        ("0.9.0", MAIN, {f"{REF}.fsdp_config.fsdp_size": 3}),
        ("0.9.0", MAIN, {**COMPARED, "actor_rollout_ref.model.use_remove_padding": True, f"{A}.ulysses_sequence_parallel_size": 4, f"{REF}.fsdp_config.ulysses_sequence_parallel_size": 3}),
        ("1dda039b", MAIN, {f"{R}.expert_parallel_size": -1, f"+{R}.moe_tensor_parallel_size": 0}),
        ("0.5.0", "recipe.prime.main_prime", {"trainer.device": "gpu"}),
        ("0.8.0", STREAM, {**APART, LOOP: "mine"}),
    ],
)  # fmt: skip
def test_what_a_release_takes_has_no_finding(release: str, program: str, changes: Changes) -> None:
    report = judged(release, program, changes)
    assert report.verdict == "ok" and not report.findings


@pytest.mark.parametrize(("release", "program"), [("0.6.1", MAIN), ("0.9.0", MAIN), ("0.8.0", ONE.replace("recipe", "verl.experimental"))])
def test_a_loop_that_data_may_replace_is_a_warning(release: str, program: str) -> None:
    apart: Changes = {**APART, **ON_POLICY, f"{R}.checkpoint_engine.backend": "nccl"} if program != MAIN else {**ASYNC}
    report = judged(release, program, {**apart, LOOP: "mine"})
    assert report.verdict == "ok" and any("a loop that verl does not have" in finding.message for finding in report.findings)


@pytest.mark.parametrize(("release", "program"), [("0.7.0", MAIN), ("0.8.0", "ray sft"), ("0.7.0", "old sft"), ("0.9.0", "sft")])
def test_a_device_that_verl_replaces_on_ascend_is_a_warning(release: str, program: str) -> None:
    report = judged(release, program, {"trainer.device": "gpu"})
    assert report.verdict == "ok" and [finding.message for finding in report.findings if "on Ascend verl sets `npu`" in finding.message]


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


@pytest.mark.parametrize(("release", "key"), [("0.6.1", f"{R}.name"), ("0.9.0", f"{R}.name"), ("0.8.0", f"{A}.strategy")])
def test_code_of_the_job_may_register_engines(release: str, key: str) -> None:
    library: Changes = {"actor_rollout_ref.model.external_lib": "mine"}
    messages = [finding.message for finding in judged(release, MAIN, {key: "mine", **library}).findings if "is `mine`" in finding.message]
    assert len(messages) == 1 and judged(release, MAIN, {key: "mine"}).verdict == "faulty"
    assert judged(release, MAIN, {key: "mine", **library}).verdict == "ok"


def test_every_demand_names_known_moments_tables_and_releases() -> None:
    demands, tables = json.loads((FACTS / "demands.json").read_text()), json.loads((FACTS / "settings.json").read_text())
    names = {"", *(each["name"] for each in json.loads((FACTS / "releases.json").read_text())["releases"])}
    for demand in demands:
        assert demand["when"] in MOMENTS and {demand.get("since", ""), demand.get("until", "")} <= names
        assert not isinstance(demand.get("values"), str) or "values" in tables[demand["values"]]


def test_code_names_known_moments_alone() -> None:
    """A name without a sentence would be shown as it is."""
    texts = [path.read_text() for path in (FACTS.parent / "work").glob("*.py")]
    assert {name for text in texts for name in re.findall(r'"((?!VERL_)[A-Z]+_[A-Z_]+|NEVER|HANGS)"', text)} <= MOMENTS.keys()
