"""Names of ROLL: parts, strategies, keys, moments of notice; and signs of a ROLL configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Mapping

from ...roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Value
from ..signs import Signs

NAME, HINTS = "roll", "placewright"
FACTS = Path(__file__).parent / "facts"
RELEASES = FACTS / "releases.json"

ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS = "actor_train", "actor_infer", "reference", "critic"
REWARDS, AGENTIC_REWARD, REWARD_MODEL = "rewards", "reward", "reward_model"
TRAIN_ENV, VAL_ENV = "train_env_manager", "val_env_manager"
STUDENTS, TEACHERS, SFT_TRAIN, VALIDATION = "student", "teacher", "sft_train", "validation"
STUDENT_TRAIN, STUDENT_INFER = "student_train", "student_infer"

ROLE_OF = {
    ACTOR_TRAIN: ACTOR, ACTOR_INFER: ROLLOUT, REFERENCES: REFERENCE, CRITICS: CRITIC, REWARDS: REWARD, AGENTIC_REWARD: REWARD,
    REWARD_MODEL: REWARD, TRAIN_ENV: ENVIRONMENT, VAL_ENV: ENVIRONMENT, STUDENTS: STUDENT, TEACHERS: TEACHER, SFT_TRAIN: ACTOR,
}  # fmt: skip
"""Part -> role of models/roles.py."""

ALL_BLOCKS = (
    ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS, AGENTIC_REWARD, TEACHERS, STUDENT_TRAIN, STUDENT_INFER, VALIDATION,
    REWARD_MODEL, REWARDS, TRAIN_ENV, VAL_ENV, STUDENTS, SFT_TRAIN,
)  # fmt: skip
"""Worker blocks of all releases, in the order used by messages."""

RLVR, AGENTIC, DPO = "rlvr.RLVRConfig", "agentic.AgenticConfig", "dpo.DPOConfig"
"""Configuration classes of ROLL."""

VLLM, SGLANG, HF_INFER = "vllm", "sglang", "hf_infer"
INFERENCE = (HF_INFER, VLLM, SGLANG)
"""Strategies whose workers may have several devices."""
MEGATRON, FSDP2 = ("megatron_train", "megatron_infer"), ("fsdp2_train", "fsdp2_infer")
DEEPSPEED = ("deepspeed_train", "deepspeed_infer")
BY_ULYSSES = (*FSDP2, *DEEPSPEED)
"""Strategies whose ranks split a sequence by `ulysses_size` alone."""

DEVICES, WORLD_SIZE, PER_WORKER, STRATEGY = "device_mapping", "world_size", "num_gpus_per_worker", "strategy_args"
CONFIG = f"{STRATEGY}.strategy_config."
"""Path prefix of the strategy's settings, below the role."""
_ENGINE = {"tp": f"{CONFIG}tensor_parallel_size", "pp": f"{CONFIG}pipeline_parallel_size"}
_OF_MEGATRON = {"tp": "tensor_model", "pp": "pipeline_model", "cp": "context", "ep": "expert_model"}
_MEGATRON = {degree: f"{CONFIG}{name}_parallel_size" for degree, name in _OF_MEGATRON.items()}
_ULYSSES = {"cp": "model_args.ulysses_size"}
DEGREE_KEYS: Mapping[str, Mapping[str, str]] = {
    VLLM: _ENGINE, SGLANG: _ENGINE, **dict.fromkeys(MEGATRON, _MEGATRON), **dict.fromkeys(BY_ULYSSES, _ULYSSES),
}  # fmt: skip
"""Strategy -> degree -> key below the role."""
ENVIRONMENT_KEYS = ("num_env_groups", "group_size", "group_size_redundancy", "max_env_num_per_worker")
"""Keys of environment managers that decide the number of environments per worker."""
SIZE_KEYS = (DEVICES, WORLD_SIZE, PER_WORKER, *ENVIRONMENT_KEYS)
"""Keys of a role that decide how many workers it has."""

ENVIRONMENT_VARIABLES = ("NUM_NODES", "NNODES", "WORLD_SIZE", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""Environment variables that interpolations may read: sizes of the job, no secrets."""

# Moments when ROLL notices an error, as notes of findings.

AT_LOAD = "ROLL notices this as it reads the configuration"
AT_CREATION = "ROLL notices this only when it creates the workers, after Ray is up and the nodes are reserved"
AT_RESERVING = "ROLL notices this as it counts the nodes of Ray, before it reserves any or starts a worker"
IN_WORKERS = "ROLL notices this only when the workers set up their groups, once all roles have their workers"
WITH_MODEL = "ROLL notices this only when the workers build their model, once all roles have their workers"
IN_ENGINE = "ROLL notices this only when the workers start their engine, after the models that are trained were loaded"
AFTER_MODELS = "ROLL notices this only after all models are loaded"
AT_UPDATE = "ROLL does not check this; the first update of the weights fails, after all models are loaded"
AT_TRAINING = "ROLL notices this only at the first training step"
AFTER_ROLLOUT = f"{AT_TRAINING}, after a whole rollout"
NEVER, IGNORED = "ROLL never notices this", "ROLL ignores it silently"

# Signs of a ROLL configuration: its worker blocks, misspelt ones included.

_SIGNS = (DEVICES, PER_WORKER, STRATEGY)
_OF_JOBS = (
    REWARDS, REWARD_MODEL, CRITICS, STUDENTS, STUDENT_TRAIN, SFT_TRAIN, TRAIN_ENV, VAL_ENV, HINTS,
    "adv_estimator", "init_kl_coef", "use_kl_loss", "enable_reference", "num_return_sequences_in_group", "train_batch_size",
    "chosen_key", "rejected_key", "ipo", "beta", "custom_envs", "env_manager_cls", "is_pure_opd",
)  # fmt: skip
"""Keys of the pipelines' configurations; ROLL's tests of single strategies have roles alone."""


def signs(root: MapNode) -> Signs:
    """Return the worker blocks with `device_mapping`, misspelt ones included.

    If there are none, blocks that ROLL knows count, for sure where the file has hints or dotted keys:
    with a map of strategy settings (verl's `strategy` is a word). Beside a model, roles without a key
    of any pipeline are weak: only tests/distributed/strategy of ROLL read such files.
    """
    blocks = [entry.key.text for entry in root if is_worker(entry.value, DEVICES)]
    for group in (REWARDS, TEACHERS):
        inner = root.get(group)
        blocks += [f"{group}.{entry.key.text}" for entry in inner if is_worker(entry.value, DEVICES)] if isinstance(inner, MapNode) else []
    if not blocks and (root.get(HINTS) is not None or dotted_keys(root)):
        candidates = {entry.key.text: entry.value for entry in root if entry.key.text in ALL_BLOCKS and isinstance(entry.value, MapNode)}
        strategies = {name: [entry.value for entry in block if nearest(entry.key.text, (STRATEGY,))] for name, block in candidates.items()}
        blocks = [name for name in candidates if any(isinstance(value, MapNode) for value in strategies[name])]
    if not blocks:
        roles = ((entry.key.text, entry.value) for entry in root if isinstance(entry.value, MapNode))
        return Signs(weak=tuple(name for name, role in roles if name in ALL_BLOCKS and isinstance(role.get(STRATEGY), MapNode)))
    if root.get("pretrain") is not None and not any(root.get(key) is not None for key in _OF_JOBS):
        return Signs(weak=tuple(blocks))
    return Signs(tuple(blocks))


def is_worker(value: Value | None, *signs: str) -> bool:
    """Return True if a block has any of the given keys. The default keys are of workers alone."""
    keys = signs or _SIGNS
    if not isinstance(value, MapNode):
        return False
    return any(entry.key.text in keys or nearest(entry.key.text, keys) for entry in value)


def has_worker_blocks(value: Value) -> bool:
    """Return True if a value maps names to blocks of workers, as `rewards` does."""
    return isinstance(value, MapNode) and any(is_worker(entry.value, DEVICES, WORLD_SIZE) for entry in value)


def dotted_keys(root: MapNode) -> list[Entry]:
    """Return top-level keys such as `actor_train.device_mapping`. ROLL drops them."""
    return [entry for entry in root if entry.key.text.rpartition(".")[1:] in ((".", DEVICES), (".", WORLD_SIZE), (".", PER_WORKER))]
