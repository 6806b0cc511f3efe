"""What releases of verl do differently: each case is accepted by some and refused by others, or takes other accelerators."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects import verl
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.report import Report
from placewright.models.text.document import ShellMachine
from placewright.models.text.source import Source
from placewright.planner.verify import verify

GOOD = {
    "algorithm.adv_estimator": "grpo",
    "data.train_batch_size": 64,
    "actor_rollout_ref.model.path": "/models/policy",
    "actor_rollout_ref.actor.ppo_mini_batch_size": 64,
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 1,
    "actor_rollout_ref.rollout.name": "vllm",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 2,
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": 1,
    "trainer.nnodes": 1,
    "trainer.n_gpus_per_node": 8,
}
A, R = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
MAIN = "verl.trainer.main_ppo"
ON_MEGATRON = f"{MAIN} --config-name=ppo_megatron_trainer"
ONE_STEP = "verl.experimental.one_step_off_policy.main_ppo"
APART = {"actor_rollout_ref.hybrid_engine": False}
NEWEST = "1dda039b"


def reading(release: str, changes: dict[str, object], program: str = MAIN, machines: str = "2x8") -> Reading:
    """The good configuration after these changes; None removes a key."""
    settings = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    text = " \\\n  ".join([f"python3 -m {program}", *(f"{key}={value}" for key, value in settings.items())])
    composer = Composer(frameworks=(f"verl=={release}",))
    return read(Source("run.sh", f"{text}\n"), read_shorthand(machines), level="training", composer=composer)


def judged(release: str, changes: dict[str, object], program: str = MAIN, machines: str = "2x8") -> Report:
    return verify(reading(release, changes, program, machines))


def said(report: Report, severity: Severity = Severity.ERROR) -> list[str]:
    return [finding.message for finding in report.findings if finding.severity is severity]


DP = {f"{R}.data_parallel_size": 2}
SGLANG_DP = {**DP, f"{R}.name": "sglang"}
QUEUE = "transfer_queue.backend"
TEACHER = {"distillation.enabled": True, "distillation.nnodes": 1, "distillation.n_gpus_per_node": 4,
           "distillation.teacher_models.teacher_model.model_path": "/models/teacher"}  # fmt: skip
TAUGHT = {**TEACHER, "distillation.teacher_models.teacher_model.inference.tensor_model_parallel_size": 4}


def several(*sizes: int) -> dict[str, object]:
    """Teachers of one replica each, on 2 nodes of 4 beside a trainer on 2."""
    found: dict[str, object] = {"trainer.nnodes": 2, "trainer.n_gpus_per_node": 4, "distillation.enabled": True, "distillation.nnodes": 2,
                                "distillation.n_gpus_per_node": 4}  # fmt: skip
    for number, size in enumerate(sizes):
        values = {
            "key": f"t{number}",
            "model_path": "/m",
            "num_replicas": 1,
            "inference.name": "vllm",
            "inference.tensor_model_parallel_size": size,
        }
        found |= {f"+distillation.teacher_models.t{number}.{key}": value for key, value in values.items()}
    return found


REWARD = {"reward.reward_model.enable": True, "reward.reward_model.enable_resource_pool": True, "reward.reward_model.nnodes": 1,
          "reward.reward_model.n_gpus_per_node": 8, "reward.reward_model.rollout.name": "vllm"}  # fmt: skip
OLD_REWARD = {key.removeprefix("reward."): value for key, value in REWARD.items()}
V1_APART = {"trainer.v1.trainer_mode": "separate_async", f"{R}.nnodes": 1, f"{R}.n_gpus_per_node": 4, "data.train_batch_size": 256,
            f"{R}.checkpoint_engine.backend": "nccl"}  # fmt: skip
OWN_POOL = {**APART, "trainer.n_gpus_per_node": 4, "rollout.nnodes": 1, "data.train_batch_size": 48, f"{A}.ppo_mini_batch_size": 48}
DYNAMIC = {f"{A}.use_dynamic_bsz": True, f"{A}.ppo_micro_batch_size_per_gpu": None}
SYNC = {f"{R}.mode": "sync"}
TRTLLM = {f"{R}.name": "trtllm"}
FOUR = {"data.train_batch_size": 4, f"{A}.ppo_mini_batch_size": 4, f"{R}.tensor_model_parallel_size": 1, **SYNC,
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": 1}  # fmt: skip
TWO = {f"{A}.megatron.tensor_model_parallel_size": 2}
LAYERS = f"+{A}.megatron.override_transformer_config"
BIG = {"actor_rollout_ref.model.path": "Qwen/Qwen3-235B-A22B", f"{A}.megatron.pipeline_model_parallel_size": 8, "trainer.nnodes": 8,
       f"{R}.tensor_model_parallel_size": 8}  # fmt: skip
SMALL = {"actor_rollout_ref.model.path": "Qwen/Qwen2.5-1.5B-Instruct", f"{A}.megatron.tensor_model_parallel_size": 4}
DENSE = {"actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B-Instruct", f"{A}.megatron.expert_model_parallel_size": 2}
IN_TURN = {"actor_rollout_ref.model.path": "Qwen/Qwen3-30B-A3B", f"{A}.megatron.tensor_model_parallel_size": 4,
           f"{A}.megatron.sequence_parallel": False}  # fmt: skip
ENDS = {f"{LAYERS}.num_layers_in_first_pipeline_stage": 11, f"{LAYERS}.num_layers_in_last_pipeline_stage": 12}

REFUSED = {  # name -> (releases, program, changes, words of the error, machines)
    "K6 key-value heads without copies": (
        "0.3.0 0.4.0 0.5.0 0.6.1 0.7.0", ON_MEGATRON, SMALL, "the 2 key-value heads of `Qwen/Qwen2.5-1.5B-Instruct` do not divide among tp 4", "1x8",
    ),
    "K6 experts of a model without any": (f"0.4.0 0.7.0 0.9.0 {NEWEST}", ON_MEGATRON, DENSE, "has no experts to divide among ep 2 of actor", "1x8"),
    "K6 experts without sequence parallel activations": (
        f"0.9.0 {NEWEST}", ON_MEGATRON, IN_TURN, "Megatron trains no experts of `Qwen/Qwen3-30B-A3B` on tp 4", "1x8",
    ),
    "K6 experts of vLLM for a model without any": (
        f"0.9.0 {NEWEST}", MAIN, {"actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B-Instruct", f"{R}.expert_parallel_size": 2},
        "has no experts to divide among ep 2 of rollout", "1x8",
    ),
    "K6 experts by Megatron-Bridge": (
        "0.8.0", ON_MEGATRON, {**IN_TURN, f"{A}.megatron.vanilla_mbridge": False}, "without sequence parallel activations", "1x8",
    ),
    "K1 data parallel ranks without experts": ("0.6.1 0.7.0 b178a3cd 0.7.1", MAIN, {**DP, f"{R}.mode": "async"}, "vLLM gets", "1x8"),
    "K2 a teacher's pool beside the trainer": (f"0.8.0 0.9.0 {NEWEST}", MAIN, TAUGHT, "need 12 accelerators, the cluster has 8", "1x8"),
    "K2 a teacher that does not divide its pool": (f"0.8.0 {NEWEST}", MAIN, {**TAUGHT, "distillation.n_gpus_per_node": 6}, "must divide", "2x8"),
    "K2 a teacher's pool without nodes": ("0.9.0", MAIN, {**TAUGHT, "distillation.nnodes": None}, "`distillation.nnodes` is 0 (its default)", "2x8"),
    "K2 teachers that do not fill their pool": (
        "0.8.0 0.9.0", MAIN, {**TEACHER, "+distillation.teacher_models.a.key": "a", "+distillation.teacher_models.a.model_path": "/m",
                              "+distillation.teacher_models.a.inference.name": "vllm",
                              "+distillation.teacher_models.a.num_replicas": 1}, "the teachers need 2 accelerators", "2x8",
    ),
    "K2 a torn replica of a teacher": (f"0.8.0 {NEWEST}", MAIN, several(2, 4, 2), "has ranks 2-5 of the pool, on 2 nodes instead of 1", "4x4"),
    "K2 a teacher over nodes in part": ("0.9.0", MAIN, several(3, 5), "has 5 accelerators, no multiple of the 4 of a node", "4x4"),
    "K2 teachers of one key": ("0.8.0", MAIN, {**several(4, 4), "+distillation.teacher_models.t1.key": "t0"}, "have the same key `t0`", "4x4"),
    "K2 a teacher without an engine": (
        "0.9.0", MAIN, {**several(4, 4), "+distillation.teacher_models.t1.inference.name": None}, "has no `inference.name`", "4x4",
    ),
    "K2 the reward model's pool": (f"0.7.1 0.8.0 0.9.0 {NEWEST}", MAIN, REWARD, "need 16 accelerators,", "1x8"),
    "K2 the reward model's replicas": (
        f"0.7.1 0.8.0 0.9.0 {NEWEST}", MAIN, {**REWARD, "reward.reward_model.rollout.tensor_model_parallel_size": 3},
        "of reward_model cannot be divided", "2x8",
    ),
    "K2 the reward model under its old name": ("0.7.1 0.8.0", MAIN, OLD_REWARD, "need 16 accelerators,", "1x8"),
    "K2 an empty reward pool": ("0.7.0 b178a3cd", MAIN, OLD_REWARD, "`reward_pool` gets no worker", "2x8"),
    "K2 servers apart": (f"0.9.0 {NEWEST}", MAIN, V1_APART, "need 12 accelerators,", "1x8"),
    "K2 servers apart without nodes": ("0.9.0", MAIN, {**V1_APART, f"{R}.nnodes": None}, "`actor_rollout_ref.rollout.nnodes` is 0", "2x8"),
    "K2 servers apart: batches": ("0.9.0", MAIN, {**V1_APART, "data.train_batch_size": 64}, "must be `parameter_sync_step` x", "2x8"),
    "K2 servers apart: weights": ("0.9.0", MAIN, {**V1_APART, f"{R}.checkpoint_engine.backend": None}, "cannot send weights", "2x8"),
    "K2 an unknown trainer": (f"0.9.0 {NEWEST}", MAIN, {"trainer.v1.trainer_mode": "async"}, "no trainer is registered", "1x8"),
    "K6 stages that do not add up": (f"b178a3cd {NEWEST}", ON_MEGATRON, {**BIG, **ENDS}, "less 23 = 71 layers do not divide among 6", "8x8"),
    "K6 an embedding that counts": (
        NEWEST, ON_MEGATRON, {**BIG, f"{LAYERS}.account_for_embedding_in_pipeline_split": True, f"{LAYERS}.account_for_loss_in_pipeline_split": True,
                              f"{A}.megatron.pipeline_model_parallel_size": 64, f"{R}.tensor_model_parallel_size": 1}, "and 2 more = 96", "8x8",
    ),
    "K6 two ways at once": (
        NEWEST, ON_MEGATRON, {**BIG, **ENDS, f"{LAYERS}.account_for_loss_in_pipeline_split": True}, "exclude each other", "8x8",
    ),
    "K6 a layout of too few stages": (
        NEWEST, ON_MEGATRON, {**BIG, f"{LAYERS}.pipeline_model_parallel_layout": "\"'Et*47|t*47L'\""}, "the 2 stages of", "8x8",
    ),
    "K6 a layout of too many layers": (
        NEWEST, ON_MEGATRON, {**BIG, f"{LAYERS}.pipeline_model_parallel_layout": "\"'Et*12|(t*12|)*6t*12L'\""}, "has 94 layers", "8x8",
    ),
    "K6 virtual stages of a first stage": (
        NEWEST, ON_MEGATRON, {**BIG, **ENDS, f"{A}.megatron.virtual_pipeline_model_parallel_size": 2}, "is not a multiple of", "8x8",
    ),
    "K7 CPUs of ray.init": (f"0.9.0 {NEWEST}", MAIN, {"ray_kwargs.ray_init.num_cpus": 8}, "fewer than the CPUs that verl reserves", "1x8"),
    "K7 CPUs of the pool alone": (f"0.9.0 {NEWEST}", MAIN, {"ray_kwargs.ray_init.num_cpus": 32}, "24 for 8 accelerators and 9 for", "1x8"),
    "K7 CPUs of fewer storage units": (
        f"0.9.0 {NEWEST}", MAIN, {"ray_kwargs.ray_init.num_cpus": 26, f"{QUEUE}.SimpleStorage.num_data_storage_units": 2}, "and 3 for its", "1x8",
    ),
    "K7 CPUs of another storage": (
        f"0.9.0 {NEWEST}", MAIN, {"ray_kwargs.ray_init.num_cpus": 24, f"{QUEUE}.storage_backend": "MooncakeStore"}, "and 1 for its", "1x8",
    ),
    "K11 an interpolation that nothing here reads": (
        f"0.4.0 0.7.0 0.9.0 {NEWEST}", MAIN, {"trainer.default_local_dir": "'${nothing_here}/x'"}, "there is no `nothing_here`", "1x8",
    ),
    "K11 an interpolation of an added key": (f"0.5.0 {NEWEST}", MAIN, {"+note": "'${trainer.nam}'"}, "there is no `trainer.nam`", "1x8"),
    "K1 SGLang without data parallel attention": (f"0.7.0 b178a3cd 0.7.1 0.8.0 0.9.0 {NEWEST}", MAIN, SGLANG_DP, "SGLang takes new weights only", "1x8"),
    "K1 SGLang with that attention off": (
        f"0.7.0 {NEWEST}", MAIN, {**SGLANG_DP, f"+{R}.engine_kwargs.sglang.enable_dp_attention": False}, "SGLang takes new weights only", "1x8",
    ),
    "K1 SGLang's servers of 0.6": ("0.6.0 0.6.1", MAIN, {**SGLANG_DP, f"{R}.mode": "async"}, "SGLang takes new weights only", "1x8"),
    "K7 accelerators of ray.init": (f"0.6.0 0.9.0 {NEWEST}", MAIN, {"+ray_kwargs.ray_init.num_gpus": 4}, "gives Ray 4 accelerators, but", "1x8"),
    "K7 accelerators of ray.init as a map": (NEWEST, MAIN, {"+ray_kwargs.ray_init": "{num_gpus:4}"}, "gives Ray 4 accelerators, but", "1x8"),
    "K5 a float of ranks": (f"0.6.1 {NEWEST}", MAIN, {f"{R}.tensor_model_parallel_size": "2.0"}, "must be a whole number", "1x8"),
    "K5 a float of samples": (f"0.5.0 {NEWEST}", MAIN, {"data.train_batch_size": "1e3"}, "must be a whole number", "1x8"),
    "K8 TensorRT-LLM over nodes": (
        "b178a3cd 0.7.1", MAIN, {**TRTLLM, f"{R}.tensor_model_parallel_size": 4, "trainer.nnodes": 2, "trainer.n_gpus_per_node": 2},
        "on one node alone", "2x2",
    ),
    "K8 experts of TensorRT-LLM": (
        f"0.7.1 {NEWEST}", MAIN, {**TRTLLM, f"{R}.expert_parallel_size": 2, f"+{R}.moe_tensor_parallel_size": 2}, "tensor parallel experts = 2 x 2", "1x8",
    ),
    "K8 experts of another engine": (f"0.7.1 {NEWEST}", MAIN, {f"+{R}.moe_tensor_parallel_size": 2}, "is for TensorRT-LLM alone", "1x8"),
    "K8 an engine that is gone": (f"0.7.0 {NEWEST}", MAIN, {f"{R}.name": "hf"}, "an engine that this release of verl does not have", "1x8"),
    "K8 stages of an engine": (f"0.6.0 0.9.0 {NEWEST}", MAIN, {f"{R}.pipeline_model_parallel_size": 2}, "no pipeline stages", "1x8"),
    "K13 agent loops": ("0.7.0 b178a3cd 0.8.0", MAIN, {"data.train_batch_size": 60, **DYNAMIC, "trainer.n_gpus_per_node": 2}, "8 agent loop workers", "1x8"),
    "K13 mode=sync": (f"0.7.0 0.9.0 {NEWEST}", MAIN, SYNC, "which verl has removed", "1x8"),
    "K13 the deprecated size": (
        "0.6.0 0.6.1 b178a3cd", MAIN, {f"{A}.ppo_micro_batch_size": 16, f"{A}.ppo_micro_batch_size_per_gpu": None, **SYNC}, "workers refuse", "1x8",
    ),
    "K13 batches of dynamic size": ("0.3.0 0.5.0", MAIN, {**DYNAMIC, "data.train_batch_size": 20, **SYNC}, "8 accelerators of the trainer", "1x8"),
    "K13 padding by default": ("0.5.0 0.6.1", MAIN, {f"{A}.ulysses_sequence_parallel_size": 2, **SYNC}, "needs inputs without padding", "1x8"),
    "K13 strategies of two pools": ("0.7.0 b178a3cd", ONE_STEP, {**OWN_POOL, "critic.strategy": "fsdp2"}, "they must be the same", "2x8"),
    "K13 one strategy in one pool": ("0.5.0", MAIN, {"critic.strategy": "megatron", **SYNC}, "they must be the same", "2x8"),
    "K13 veomni": ("0.7.0 b178a3cd", MAIN, {f"{A}.strategy": "veomni"}, "has no workers", "1x8"),
    "K13 mindspeed": (f"0.7.1 {NEWEST}", MAIN, {"algorithm.adv_estimator": "gae", f"{A}.strategy": "mindspeed"}, "has no workers", "1x8"),
    "K13 mini batches of the new workers": (
        f"0.8.0 0.9.0 {NEWEST}", MAIN, {f"{A}.ppo_mini_batch_size": 12, **DYNAMIC}, "12 samples of a mini batch", "1x8",
    ),
    "K13 the old workers": ("0.7.1", ONE_STEP, {**OWN_POOL, "trainer.use_legacy_worker_impl": "auto"}, "the new workers alone", "2x8"),
    "drift 07": ("b178a3cd", ONE_STEP, {**OWN_POOL, "rollout.n_gpus_per_node": 12}, "needs 12 accelerators of one node", "2x8"),
    "prompts dealt once": ("0.3.0 0.4.0 0.4.1", MAIN, {**FOUR, f"{R}.n": 2}, "4 samples before they are repeated do not divide among the 8 ranks", "1x8"),
    "samples of Megatron": ("0.5.0 0.6.1", ON_MEGATRON, {**FOUR, **TWO}, "4 samples do not divide among the 8 ranks that generate", "1x8"),
    "reference always there": ("0.3.0", MAIN, SYNC, "`actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu` is not set", "1x8"),
}  # fmt: skip
ACCEPTED = {  # name -> (releases, program, changes, machines)
    "K6 copies of key-value heads": (f"0.9.0 {NEWEST}", ON_MEGATRON, SMALL, "1x8"),
    "K6 one expert parallel rank": ("0.4.0 0.9.0", ON_MEGATRON, {**DENSE, f"{A}.megatron.expert_model_parallel_size": 1}, "1x8"),
    "K6 experts by mbridge": (
        f"0.7.0 0.8.0 {NEWEST}", ON_MEGATRON,
        {**IN_TURN, f"{A}.megatron.vanilla_mbridge": True, f"{A}.megatron.use_mbridge": True}, "1x8",
    ),
    "K6 uneven experts of vLLM": (
        NEWEST, MAIN, {"actor_rollout_ref.model.path": "Qwen/Qwen3-30B-A3B", f"{R}.tensor_model_parallel_size": 4, f"{R}.data_parallel_size": 3,
                       f"{R}.expert_parallel_size": 12, "trainer.n_gpus_per_node": 12, "data.train_batch_size": 48,
                       f"{A}.ppo_mini_batch_size": 48}, "1x12",
    ),
    "K6 experts without tp": (NEWEST, ON_MEGATRON, {**IN_TURN, f"{A}.megatron.tensor_model_parallel_size": 1}, "1x8"),
    "K1 mended": (f"0.8.0 0.9.0 {NEWEST}", MAIN, DP, "1x8"),
    "K11 a default of verl": (
        f"0.4.0 0.7.0 {NEWEST}", MAIN, {"data.max_response_length": "'${data.max_prompt_length}'", "trainer.default_local_dir": "'${hydra:run.dir}/x'"}, "1x8",
    ),
    "K1 SGLang with data parallel attention": (
        f"0.7.0 {NEWEST}", MAIN, {**SGLANG_DP, f"+{R}.engine_kwargs.sglang.enable_dp_attention": True}, "1x8",
    ),
    "K1 SGLang in the workers": ("0.6.0 0.6.1", MAIN, {**SGLANG_DP, **SYNC}, "1x8"),
    "K7 CPUs with TransferQueue": (f"0.9.0 {NEWEST}", MAIN, {"ray_kwargs.ray_init.num_cpus": 33}, "1x8"),
    "K7 CPUs of the old trainer": (f"0.9.0 {NEWEST}", MAIN, {"ray_kwargs.ray_init.num_cpus": 24, "trainer.use_v1": False}, "1x8"),
    "K1 with experts": ("b178a3cd", MAIN, {**DP, f"{R}.expert_parallel_size": 4}, "1x8"),
    "K2 teacher": (f"0.8.0 0.9.0 {NEWEST}", MAIN, TAUGHT, "1x12"),
    "K2 reward pool": (f"0.7.1 0.9.0 {NEWEST}", MAIN, REWARD, "2x8"),
    "K2 reward workers": ("0.6.1", MAIN, {**OLD_REWARD, "reward_model.rollout.name": None, "reward_model.micro_batch_size_per_gpu": 1, **SYNC}, "2x8"),
    "K2 servers apart": (f"0.9.0 {NEWEST}", MAIN, V1_APART, "1x12"),
    "K6 stages that add up": (f"b178a3cd {NEWEST}", ON_MEGATRON, {**BIG, **ENDS, f"{LAYERS}.num_layers_in_last_pipeline_stage": 11}, "8x8"),
    "K6 a layout": (
        NEWEST, ON_MEGATRON, {**BIG, f"{LAYERS}.pipeline_model_parallel_layout": "\"'Et*11|(t*12|)*6t*11L'\""}, "8x8",
    ),
    "K8 TensorRT-LLM over nodes": (
        f"0.8.0 {NEWEST}", MAIN, {**TRTLLM, f"{R}.tensor_model_parallel_size": 4, "trainer.nnodes": 2, "trainer.n_gpus_per_node": 2}, "2x2",
    ),
    "K13 agent loops": (f"0.9.0 {NEWEST}", MAIN, {"data.train_batch_size": 60, f"{A}.ppo_mini_batch_size": 60, "trainer.n_gpus_per_node": 2}, "1x8"),
    "K13 mode=sync": ("0.4.0 0.5.0 0.6.1", MAIN, SYNC, "1x8"),
    "K13 310 samples on one": (
        "0.5.0 0.6.1", MAIN, {"data.train_batch_size": 62, f"{A}.ppo_mini_batch_size": 62, f"{R}.n": 5, "trainer.n_gpus_per_node": 1,
                              f"{R}.tensor_model_parallel_size": 1}, "1x8",
    ),
    "K13 the deprecated size": (
        "0.4.0 0.5.0", MAIN, {f"{A}.ppo_micro_batch_size": 16, f"{A}.ppo_micro_batch_size_per_gpu": None}, "1x8",
    ),
    "K13 padding by default": (f"0.7.0 0.9.0 {NEWEST}", MAIN, {f"{A}.ulysses_sequence_parallel_size": 2}, "1x8"),
    "K13 strategies": (f"0.7.1 0.9.0 {NEWEST}", ONE_STEP, {**OWN_POOL, "critic.strategy": "fsdp2", "rollout.n_gpus_per_node": 4}, "2x8"),
    "K13 fsdp_turbo": (NEWEST, MAIN, {f"{A}.strategy": "fsdp_turbo"}, "1x8"),
    "V1 pads": (f"0.9.0 {NEWEST}", MAIN, {"data.train_batch_size": 12, f"{A}.ppo_mini_batch_size": 8, f"{A}.use_dynamic_bsz": True,
                                          f"{R}.log_prob_use_dynamic_bsz": True}, "1x8"),
    "samples repeated": ("0.5.0 0.6.1", MAIN, {**FOUR, f"{R}.n": 2}, "1x8"),
    "samples of Megatron repeated": ("0.5.0 0.6.1", ON_MEGATRON, {**FOUR, **TWO, f"{R}.n": 2}, "1x8"),
    "samples of Megatron per replica": ("0.6.0 0.6.1", ON_MEGATRON, {**FOUR, **TWO, f"{R}.tensor_model_parallel_size": 2}, "1x8"),
    "drift 07": (f"0.7.1 0.8.0 0.9.0 {NEWEST}", ONE_STEP, {**OWN_POOL, "rollout.n_gpus_per_node": 12}, "2x8"),
}  # fmt: skip


def each(table: dict[str, tuple[object, ...]]) -> list[object]:
    return [pytest.param(name, release, id=f"{name}-{release}") for name, case in table.items() for release in str(case[0]).split()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "release"), each(REFUSED))
def test_a_release_refuses(name: str, release: str) -> None:
    _, program, changes, words, machines = REFUSED[name]
    messages = said(judged(release, changes, program, machines))
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize(("name", "release"), each(ACCEPTED))
def test_a_release_accepts(name: str, release: str) -> None:
    _, program, changes, machines = ACCEPTED[name]
    assert said(judged(release, changes, program, machines)) == []


@pytest.mark.parametrize("release", ["0.7.1", "0.8.0"])
def test_key_value_heads_that_some_images_refuse_are_a_warning(release: str) -> None:
    """Source: Megatron-LM, transformer_config.py:758 (core_v0.15.3) and :940 (core_v0.16.0); docker/ of both releases installs both."""
    (found,) = [each for each in judged(release, SMALL, ON_MEGATRON, "1x8").findings if each.code == "PW404"]
    assert found.severity is Severity.WARNING and any("core_v0.16.0" in note for note in found.notes)


def test_what_only_another_release_refuses_is_a_warning_that_names_it() -> None:
    trtllm = {**TRTLLM, f"{R}.tensor_model_parallel_size": 4, "trainer.nnodes": 2, "trainer.n_gpus_per_node": 2}
    settings = " ".join(f"{key}={value}" for key, value in {**GOOD, **trtllm}.items())
    report = verify(read(Source("run.sh", f"python3 -m {MAIN} {settings}\n"), read_shorthand("2x2"), level="training"))
    (found,) = [each for each in report.findings if "on one node alone" in each.message]
    assert found.severity is Severity.WARNING and any("b178a3cd and 0.7.1" in note or "b178a3cd to 0.7.1" in note for note in found.notes)


UNKNOWN = [  # releases, key, value, variable that is the only cause
    ("0.5.0 0.9.0", "data.train_batch_size", "$(cat x)", ""),
    ("0.9.0", "data.train_batch_size", "$BATCH", "BATCH"),
    ("0.6.1", f"{A}.ppo_mini_batch_size", "${MINI}", "MINI"),
    ("0.4.0 1dda039b", f"{A}.ppo_micro_batch_size_per_gpu", "$(nproc)", ""),
    ("0.7.0 0.9.0", f"{R}.n", "$(cat x)", ""),
    ("0.8.0", f"{A}.use_dynamic_bsz", "$(cat x)", ""),
    ("0.9.0", "data.train_batch_size", "'${oc.env:BATCH}'", "BATCH"),
]


@pytest.mark.parametrize(
    ("release", "key", "value", "variable"), [(release, *rest) for releases, *rest in UNKNOWN for release in releases.split()]
)
def test_an_unknown_number_of_the_arithmetic_leaves_training_open(release: str, key: str, value: str, variable: str) -> None:
    changes: dict[str, object] = {key: value}
    report = judged(release, changes, machines="1x8")
    (added,) = {missing.add for missing in report.missing}
    assert report.verdict == "incomplete" and (f"--set {key}=VALUE" in added or (variable and f"--allow-env {variable}" in added))
    text = reading(release, changes, machines="1x8").source
    placed = verify(read(text, read_shorthand("1x8"), level="placement", composer=Composer(frameworks=(f"verl=={release}",))))
    assert placed.verdict == "ok" and not placed.missing


@pytest.mark.parametrize("key", [f"{R}.gpu_memory_utilization", f"{R}.val_kwargs.n", "data.dataloader_num_workers"])
def test_an_unknown_number_outside_the_arithmetic_leaves_nothing_open(key: str) -> None:
    assert judged("0.9.0", {key: "$(cat x)"}, machines="1x8").verdict == "ok"


def test_an_evaluation_of_a_recipe_beside_a_program_leaves_nothing_open() -> None:
    text = f"{reading('0.6.1', {}, machines='1x8').source.text}python3 -m recipe.r1.main_eval data.path=answers.parquet\n"
    composer = Composer(frameworks=("verl==0.6.1",))
    assert verify(read(Source("run.sh", text), read_shorthand("1x8"), level="training", composer=composer)).verdict == "ok"


@pytest.mark.parametrize("group", ["model_engine", "actor@actor_rollout_ref.actor"])
@pytest.mark.parametrize("level", ["training", "placement"])
def test_an_unknown_engine_leaves_the_placement_open(group: str, level: str) -> None:
    text = reading("0.9.0", {group: "$(cat x)", f"{A}.megatron.tensor_model_parallel_size": 3}, machines="1x8").source
    report = verify(read(text, read_shorthand("1x8"), level=level, composer=Composer(frameworks=("verl==0.9.0",))))
    assert report.verdict == "incomplete" and {missing.add for missing in report.missing} == {f"Pass `--set {group}=VALUE`"}


@pytest.mark.parametrize(("release", "program"), [("0.5.0", "fsdp_sft_trainer"), ("0.9.0", "sft_trainer")])
def test_processes_without_a_launcher_are_a_warning(release: str, program: str) -> None:
    for start, count in (("python3 -m", 1), ("torchrun --nproc_per_node=8 -m", 0), ("RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 python3 -m", 0)):
        source = Source("run.sh", f"{start} verl.trainer.{program} data.train_batch_size=8\n")
        report = verify(read(source, read_shorthand("1x8"), composer=Composer(frameworks=(f"verl=={release}",))))
        assert [finding.help for finding in report.findings if finding.code == "PW123"] == count * [
            f"start it with `torchrun --nproc_per_node=N -m verl.trainer.{program}`"
        ]


HELPS = [  # release, changes, machines, help
    ("0.9.0", {**TAUGHT, "distillation.n_gpus_per_node": 0}, "1x8", "set `distillation.n_gpus_per_node=1` or more"),
    ("0.9.0", {f"{A}.strategy": "megatron"}, "1x8", f"start with `model_engine=megatron`, or set `{A}.strategy=fsdp`"),
    ("0.6.1", {f"{A}.strategy": "megatron"}, "1x8", f"start with a configuration for megatron, or set `{A}.strategy=fsdp`"),
    ("0.7.0", {**DP, f"{R}.mode": "async"}, "1x8", f"set `{R}.data_parallel_size=1`, or `{R}.expert_parallel_size=4` for a model with experts"),
    ("0.9.0", {f"{R}.tensor_model_parallel_size": 4, "trainer.nnodes": 2, "trainer.n_gpus_per_node": 6, "data.train_batch_size": 60,
               f"{A}.ppo_mini_batch_size": 60}, "2x6", f"set `{R}.tensor_model_parallel_size=2`"),
    ("0.9.0", {**TRTLLM, f"{R}.tensor_model_parallel_size": 4, f"{R}.expert_parallel_size": 4, f"+{R}.moe_tensor_parallel_size": 2}, "1x8",
     f"make it this product, or lower `{R}.expert_parallel_size` or `{R}.moe_tensor_parallel_size`"),
]  # fmt: skip


@pytest.mark.parametrize(("release", "changes", "machines", "help_"), HELPS)
def test_the_help_names_keys_and_values(release: str, changes: dict[str, object], machines: str, help_: str) -> None:
    assert help_ in [finding.help for finding in judged(release, changes, machines=machines).errors]


def test_a_section_that_names_accelerators_and_is_not_read_is_never_ok() -> None:
    for release, key in ((NEWEST, "+my_pool.n_gpus_per_node"), ("b178a3cd", "distillation.n_gpus_per_node"), (NEWEST, "+judge.engine.tensor_parallel_size"),
                         (NEWEST, f"+{R}.engine_kwargs.vllm.tensor_parallel_size"), (NEWEST, "+rollout.nnodes"), (NEWEST, "+pools.0.num_gpus"),
                         *((name, f"+{R}.engine_kwargs.sglang.{key}_size") for name in ("0.6.1", NEWEST) for key in ("tp", "dp", "pp"))):  # fmt: skip
        report = judged(release, {key: 4}, machines="1x8")
        refused = any(finding.code == "PW012" for finding in report.errors)
        assert any(each.decides and each.rule == "PW122" for each in report.unchecked) != refused, key


@pytest.mark.parametrize("release", ["0.8.0", "0.9.0", NEWEST])
@pytest.mark.parametrize(("decode", "verdict"), [(1, "ok"), (2, "incomplete")])
def test_prefill_and_decode_apart_are_counted_where_replicas_fill_the_nodes(release: str, decode: int, verdict: str) -> None:
    parts = {f"{R}.disaggregation.enabled": True, f"{R}.disaggregation.decode_replicas": decode, f"{R}.tensor_model_parallel_size": 1}
    report = judged(release, {**parts, f"{R}.name": "sglang"}, machines="1x8")
    assert not said(report) and report.verdict == verdict
    assert [each.why for each in report.unchecked if "prefill" in each.why] == [
        "prefill and decode are apart: the accelerators of a replica are not checked"
    ] * (verdict == "incomplete")


def test_teachers_that_fit_are_right() -> None:
    assert said(judged("0.9.0", several(4, 2, 2), machines="4x4")) == []
    mixed = {**several(4, 4), "distillation.teacher_models.teacher_model.key": "x"}
    assert any("verl drops `teacher_model`" in each for each in said(judged("0.9.0", mixed, machines="4x4"), Severity.WARNING))


def test_a_reward_model_under_its_old_name_is_read_by_nobody_since_0_9_0() -> None:
    report = judged("0.9.0", OLD_REWARD, machines="1x8")
    assert not said(report) and any("nothing reads `reward_model.enable`" in message for message in said(report, Severity.WARNING))


def test_a_script_that_shows_ray_fewer_accelerators_is_refused() -> None:
    document = reading(NEWEST, {"trainer.n_gpus_per_node": 4}, machines="1x8").document
    assert document.program is not None
    for machine, words in (
        (ShellMachine(accelerators=2), "shows Ray 2 accelerators of this node"),
        (ShellMachine(cpus=11), "`--num-cpus` 11 is fewer"),
    ):
        shown = replace(document, program=replace(document.program, machine=machine))
        messages = said(verify(verl.read(shown, read_shorthand("1x8"))))
        assert any(words in message for message in messages), messages


@pytest.mark.parametrize(("release", "cpus"), [("0.5.0", 1), ("0.6.1", 1), ("0.7.0", 3), (NEWEST, 3)])
def test_each_release_reserves_its_cpus(release: str, cpus: int) -> None:
    problem = read(
        Source("run.sh", f"python3 -m {MAIN} trainer.n_gpus_per_node=8\n"), composer=Composer(frameworks=(f"verl=={release}",))
    ).problem
    assert problem is not None and [pool.cpus for pool in problem.job.pools] == [cpus]


@pytest.mark.parametrize(("release", "cpus"), [("0.7.1", 3), ("0.8.0", 2), (NEWEST, 2)])
def test_servers_of_their_own_reserve_fewer(release: str, cpus: int) -> None:
    text = f"python3 -m {ONE_STEP} {R}.name=vllm rollout.n_gpus_per_node=4\n"
    problem = read(Source("run.sh", text), composer=Composer(frameworks=(f"verl=={release}",))).problem
    assert problem is not None and [pool.cpus for pool in problem.job.pools] == [3, cpus]


def test_several_teachers_have_ranks_of_their_own() -> None:
    several: dict[str, object] = {"distillation.enabled": True, "distillation.nnodes": 1, "distillation.n_gpus_per_node": 8}
    for name, replicas in (("a", 2), ("b", 1)):
        path = f"+distillation.teacher_models.{name}"
        several |= {f"{path}.key": name, f"{path}.model_path": "/m", f"{path}.inference.name": "vllm", f"{path}.num_replicas": replicas,
                    f"{path}.inference.tensor_model_parallel_size": 2 if name == "a" else 4}  # fmt: skip
    found = reading(NEWEST, several, machines="2x8")
    assert not said(verify(found)) and found.problem is not None
    assert {name: found.problem.build_given().world_size(name) for name in ("teacher_a", "teacher_b")} == {"teacher_a": 4, "teacher_b": 4}


def test_two_stages_that_do_not_hold_all_layers_are_a_warning() -> None:
    ends = {f"{LAYERS}.num_layers_in_first_pipeline_stage": 10, f"{LAYERS}.num_layers_in_last_pipeline_stage": 10}
    changes = {"actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B-Instruct", f"{A}.megatron.pipeline_model_parallel_size": 2, **ends}
    (found,) = [each for each in judged(NEWEST, changes, ON_MEGATRON, "1x8").findings if each.code == "PW404"]
    assert found.severity is Severity.WARNING and found.message.endswith("but the first and the last stage of actor hold 20")
    assert found.help == f"make `{LAYERS[1:]}.num_layers_in_last_pipeline_stage` fit 28 layers"


@pytest.mark.parametrize("release", ["0.7.1", "0.8.0", "0.9.0"])
def test_the_old_key_of_sequence_parallelism_wins_above_1(release: str) -> None:
    """Source: verl 0.8.0, verl/workers/config/actor.py:320 (FSDPActorConfig.__post_init__)."""
    sizes = {"trainer.n_gpus_per_node": 2, f"{A}.ulysses_sequence_parallel_size": 4, f"{A}.fsdp_config.ulysses_sequence_parallel_size": 1}
    assert "the 2 ranks of actor cannot be divided into 4 sequence parallel ranks" in said(judged(release, sizes))
    sizes |= {f"{A}.ulysses_sequence_parallel_size": 1, f"{A}.fsdp_config.ulysses_sequence_parallel_size": 4}
    found = "the 2 ranks of actor cannot be divided into 4 sequence parallel ranks" in said(judged(release, sizes))
    assert found is (release != "0.7.1")


def test_recipes_have_the_keys_of_their_commit() -> None:
    """verl b178a3cd has recipe at verl-recipe 21892b92, where `dapo_trainer` still has `reward_model.overlong_buffer`."""
    lines = {"reward_model.overlong_buffer.enable": True}
    for release, refused in (("0.7.0", False), ("b178a3cd", False), ("0.8.0", True)):
        assert any("overlong_buffer" in message for message in said(judged(release, lines, "recipe.dapo.main_dapo"))) is refused


@pytest.mark.parametrize(("defaults", "verdict"), [("ppo_trainer, _self_", "ok"), ("ppo_trainer, mine, _self_", "incomplete")])
@pytest.mark.parametrize("release", ["0.4.0", "0.5.0", "0.7.0", NEWEST])
def test_known_defaults_have_no_keys_that_the_release_lacks(release: str, defaults: str, verdict: str) -> None:
    text = f"""hydra: {{searchpath: [file://verl/trainer/config]}}
defaults: [{defaults}]
data: {{train_batch_size: 64}}
algorithm: {{adv_estimator: grpo}}
actor_rollout_ref:
  model: {{path: /m}}
  actor: {{ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 1}}
  rollout: {{name: vllm, tensor_model_parallel_size: 2, log_prob_micro_batch_size_per_gpu: 1}}
trainer: {{nnodes: 1, n_gpus_per_node: 8}}
"""
    composer = Composer(frameworks=(f"verl=={release}",))
    assert verify(read(Source("mine.yaml", text), read_shorthand("1x8"), level="training", composer=composer)).verdict == verdict


def test_an_unknown_model_of_a_teacher_leaves_nothing_open() -> None:
    paths: dict[str, object] = {f"+distillation.teacher_models.t{number}.model_path": "$TEACHER" for number in range(2)}
    report = judged("0.9.0", {**several(4, 4), **paths}, machines="4x4")
    assert report.verdict == "ok" and not report.missing
