"""The keys that ROLL's configuration classes have; every other one is dropped without a word.

Source: ROLL, roll/configs/worker_config.py, roll/pipeline/rlvr/rlvr_config.py, roll/pipeline/agentic/agentic_config.py.
"""

from __future__ import annotations

from .parts import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    CRITICS,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    SFT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
    VALIDATION,
)  # fmt: skip
from .pipelines import AGENTIC, DISTILL, DPO, RLVR, SFT

DEVICES, WORLD_SIZE, PER_WORKER, STRATEGY = "device_mapping", "world_size", "num_gpus_per_worker", "strategy_args"

WORKER_KEYS = frozenset(
    [
        "name",
        "worker_cls",
        "pg_variant",
        "model_args",
        "training_args",
        "data_args",
        "generating_args",
        "strategy_args",
        "world_size",
        "device_mapping",
        "num_gpus_per_worker",
        "model_update_frequency",
        "infer_batch_size",
        "backend_timeout",
        "system_envs",
        "topr_positive_weight",
        "topr_negative_weight",
        "max_concurrency",
        "use_dynamic_batching_in_train",
        "max_tokens_per_microbatch_in_train",
        "sequence_length_round_in_train",
        "use_dynamic_batching_in_infer",
        "max_tokens_per_microbatch_in_infer",
        "sequence_length_round_in_infer",
        "offload_nccl",
        "use_sequence_packing",
        "sequence_packing_args",
        "logits_in_fp32",
        "router_replay",
        "apply_loss_scale",
        "mtp_training_mode",
        "opd_kl_coef",
        "tag_included",
    ]
)
_REWARD_KEYS = frozenset(
    [
        "code_url",
        "use_local",
        "judge_prompt",
        "judge_model_type",
        "judge_model_name",
        "judge_api_url",
        "judge_api_key",
        "format_pattern",
        "reward_type",
        "response_length_penalty_coef",
        "query_filter_config",
        "response_filter_config",
        "reward_manager_config",
    ]
)
_ENVIRONMENT_KEYS = frozenset(
    [
        "llm_proxy",
        "num_env_groups",
        "group_size",
        "group_size_redundancy",
        "tags",
        "num_groups_partition",
        "max_traj_per_env",
        "format_penalty",
        "max_env_num_per_worker",
        "group_filter_cls",
    ]
)
_MORE = {REWARDS: _REWARD_KEYS, AGENTIC_REWARD: frozenset({"llm_proxy"}), TRAIN_ENV: _ENVIRONMENT_KEYS, VAL_ENV: _ENVIRONMENT_KEYS}

STUDENT_TRAIN, STUDENT_INFER = "student_train", "student_infer"
_PPO = (ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS, AGENTIC_REWARD, TEACHERS, STUDENT_TRAIN, STUDENT_INFER)
BLOCKS = {
    RLVR: (*_PPO, VALIDATION, REWARD_MODEL, REWARDS),
    AGENTIC: (*_PPO, TRAIN_ENV, VAL_ENV),
    DISTILL: (STUDENTS, TEACHERS, VALIDATION),
    DPO: (ACTOR_TRAIN, REFERENCES, VALIDATION),
    SFT: (SFT_TRAIN, VALIDATION),
}
"""The blocks of workers that each class knows."""

ALL_BLOCKS = tuple(dict.fromkeys(name for names in BLOCKS.values() for name in names))

JOB_KEYS = (
    "num_nodes", "num_gpus_per_node", "rollout_batch_size", "val_batch_size", "adv_estimator", "enable_reference", "use_kl_loss",
    "init_kl_coef", "async_generation_ratio", "partial_gpu_mode", "generate_opt_level", "is_pure_opd", "use_opd", "pure_opd_pipeline_type",
)  # fmt: skip
"""Keys of the job as a whole that decide where things run."""


def keys_of(part: str) -> frozenset[str]:
    """The keys that a block of workers of this part may have."""
    return WORKER_KEYS | _MORE.get(part, frozenset())
