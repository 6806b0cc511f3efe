"""Names, pipelines, keys and defaults of ROLL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Mapping

from ...configuration.settings import Default
from ...roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER

# What ROLL's pipelines use their roles as, and what that is in other frameworks.

ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS = "actor_train", "actor_infer", "reference", "critic"
REWARDS, AGENTIC_REWARD, REWARD_MODEL = "rewards", "reward", "reward_model"
TRAIN_ENV, VAL_ENV = "train_env_manager", "val_env_manager"
STUDENTS, TEACHERS, SFT_TRAIN, VALIDATION = "student", "teacher", "sft_train", "validation"

ROLE_OF = {
    ACTOR_TRAIN: ACTOR, ACTOR_INFER: ROLLOUT, REFERENCES: REFERENCE, CRITICS: CRITIC, REWARDS: REWARD, AGENTIC_REWARD: REWARD,
    REWARD_MODEL: REWARD, TRAIN_ENV: ENVIRONMENT, VAL_ENV: ENVIRONMENT, STUDENTS: STUDENT, TEACHERS: TEACHER, SFT_TRAIN: ACTOR,
}  # fmt: skip
"""What each part does in the words of models/roles.py."""


# ROLL's pipelines: what starts each, and which of its roles it knows.

RLVR, AGENTIC, DISTILL, DPO, SFT = "RLVRConfig", "AgenticConfig", "DistillConfig", "DPOConfig", "SFTConfig"
"""The classes that configurations become."""


@dataclass(frozen=True)
class Pipeline:
    """One of ROLL's pipelines.

    Attributes
    ----------
    name : what it is called here.
    launcher : the program that starts it.
    config : the class that its configuration becomes.
    creates : the parts that it may start, in that order.
    pure_opd : whether the launcher makes it pure on-policy distillation: `student_train`, `student_infer` and `teacher`.
    checks_types : whether the types of all values are checked when the configuration is loaded.
    lora_reference : whether it starts a reference although the actor trains adapters alone.
    """

    name: str
    launcher: str
    config: str
    creates: tuple[str, ...]
    pure_opd: bool = False
    checks_types: bool = True
    lora_reference: bool = False

    @property
    def ppo(self) -> bool:
        """Has it actor, references and critic, as ROLL's PPOConfig describes them?"""
        return self.config in (RLVR, AGENTIC)

    @property
    def agentic(self) -> bool:
        """Does it roll out in environments?"""
        return self.config == AGENTIC

    @property
    def updates_models(self) -> bool:
        """Are the weights of `actor_train` given to `actor_infer`?"""
        return ACTOR_TRAIN in self.creates and ACTOR_INFER in self.creates


_ACTORS = (ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS)
_OF_RLVR, _OF_AGENTIC = (*_ACTORS, REWARDS, REWARD_MODEL), (*_ACTORS, AGENTIC_REWARD, TRAIN_ENV, VAL_ENV)

PIPELINES = (
    Pipeline("rlvr", "start_rlvr_pipeline.py", RLVR, _OF_RLVR),
    Pipeline("rlvr_vl", "start_rlvr_vl_pipeline.py", RLVR, (*_ACTORS, REWARDS), lora_reference=True),
    Pipeline("rlvr_rollout", "start_rlvr_rollout_pipeline.py", RLVR, (ACTOR_INFER, REWARDS)),
    Pipeline("agentic", "start_agentic_pipeline.py", AGENTIC, _OF_AGENTIC),
    Pipeline("agentic_rollout", "start_agentic_rollout_pipeline.py", AGENTIC, (ACTOR_INFER, TRAIN_ENV)),
    Pipeline("opd_rlvr", "start_onpolicy_distill_pipeline.py", RLVR, _OF_RLVR, pure_opd=True, checks_types=False),
    Pipeline("opd_agentic", "start_onpolicy_distill_pipeline.py", AGENTIC, _OF_AGENTIC, pure_opd=True, checks_types=False),
    Pipeline("distill", "start_distill_pipeline.py", DISTILL, (STUDENTS, TEACHERS)),
    Pipeline("distill_vl", "start_distill_vl_pipeline.py", DISTILL, (STUDENTS, TEACHERS)),
    Pipeline("dpo", "start_dpo_pipeline.py", DPO, (ACTOR_TRAIN, REFERENCES)),
    Pipeline("sft", "start_sft_pipeline.py", SFT, (SFT_TRAIN,)),
)
"""Source: ROLL, examples/start_*_pipeline.py, and the `__init__` of each class in roll/pipeline/."""

BY_NAME = {pipeline.name: pipeline for pipeline in PIPELINES}


# The keys that ROLL's configuration classes have; every other one is dropped without a word.
#
# Source: ROLL, roll/configs/worker_config.py, roll/pipeline/rlvr/rlvr_config.py, roll/pipeline/agentic/agentic_config.py.

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


# ROLL's own defaults, with their source, for what decides where things run.

_BASE, _WORKER = "ROLL, roll/configs/base_config.py", "ROLL, roll/configs/worker_config.py"
_ENVIRONMENTS = "ROLL, roll/pipeline/agentic/agentic_config.py, EnvManagerConfig"

GROUPS, SIZE, REDUNDANCY, MOST = "num_env_groups", "group_size", "group_size_redundancy", "max_env_num_per_worker"
"""The keys of environment managers that say how many environments there are, and how many of them a worker has."""

OF_THE_JOB = {
    "num_nodes": Default(1, _BASE),
    "num_gpus_per_node": Default(8, _BASE),
    "rollout_batch_size": Default(128, _BASE),
    "val_batch_size": Default(128, _BASE),
    "max_running_requests": Default(128, _BASE),
    "generate_opt_level": Default(1, _BASE),
    "adv_estimator": Default("gae", _BASE),
    "enable_reference": Default(False, _BASE),
    "use_kl_loss": Default(False, _BASE),
    "is_pure_opd": Default(False, _BASE),
    "use_opd": Default(False, _BASE),
    "pure_opd_pipeline_type": Default("rlvr", _BASE),
    "ppo_epochs": Default(1, _BASE),
    "partial_gpu_mode": Default(True, "ROLL, roll/pipeline/agentic/agentic_config.py"),
    "num_return_sequences_in_group": Default(1, "ROLL, roll/pipeline/rlvr/rlvr_config.py"),
}

OF_WORKERS = {
    "num_gpus_per_worker": Default(1, _WORKER),
    "infer_batch_size": Default(16, _WORKER),
    "max_concurrency": Default(1, _WORKER),
    GROUPS: Default(128, _ENVIRONMENTS),
    SIZE: Default(1, _ENVIRONMENTS),
    REDUNDANCY: Default(0, _ENVIRONMENTS),
    MOST: Default(0, _ENVIRONMENTS),
}


def default_of(path: str) -> Default | None:
    """The default of a path, in whatever block of workers it is; None if there is none here."""
    if path in OF_THE_JOB:
        return OF_THE_JOB[path]
    return next((default for inner, default in OF_WORKERS.items() if path.endswith(f".{inner}")), None)


class Defaults(Mapping[str, Default]):
    """The defaults of all paths, looked up when they are asked for."""

    def __getitem__(self, path: str) -> Default:
        found = default_of(path)
        if found is None:
            raise KeyError(path)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(OF_THE_JOB)

    def __len__(self) -> int:
        return len(OF_THE_JOB)


# The environment variables that an interpolation of a ROLL file may read.

ENVIRONMENT_VARIABLES = ("NUM_NODES", "NNODES", "WORLD_SIZE", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""They say the size of the job, nothing that is secret."""
