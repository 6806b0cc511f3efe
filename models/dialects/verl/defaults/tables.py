"""Which defaults go with which configuration: by the name that the program, `--config-name` or `defaults:` says.

Source: verl, verl/trainer/config/, verl/experimental/*/config/, examples/*/config/; verl-recipe, */config/.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ....configuration.settings import Default
from .ppo import DEGREES, MEGATRON, MEGATRON_SAME, NOT_SAID, PPO, PPO_SAME, SHARED


@dataclass(frozen=True)
class Table:
    """Defaults by key, and keys that take what another one says.

    `name` is the configuration; `defaults` its values by their dotted path; `same` a key -> the key whose value it takes.
    """

    name: str
    defaults: Mapping[str, Default] = field(repr=False)
    same: Mapping[str, str] = field(default_factory=dict, repr=False)


_SEPARATE = "verl, verl/experimental/one_step_off_policy/config/one_step_off_ppo_trainer.yaml"
_ASYNC = "verl, verl/experimental/fully_async_policy/config/fully_async_ppo_trainer.yaml"
_ROBOTS = "verl, verl/experimental/vla/config/rob_ppo_trainer.yaml"
_GENERATION = "verl, verl/trainer/config/generation.yaml"
_SFT = "verl, verl/trainer/config/sft_trainer.yaml"
_ENGINE = "verl, verl/trainer/config/sft_trainer_engine.yaml"
_GKD = "verl-recipe, gkd/config/on_policy_distill_trainer.yaml"


def _pool(source: str) -> dict[str, Default]:
    return {"rollout.nnodes": Default(1, source), "rollout.n_gpus_per_node": Default(8, source)}


def _stream(source: str) -> dict[str, Default]:
    said = {"staleness_threshold": None, "trigger_parameter_sync_step": 4, "require_batches": 1, "use_trainer_do_validate": False}
    return {
        **_pool(source),
        **{f"async_training.{name}": Default(value, source) for name, value in said.items()},
        "data.gen_batch_size": Default(1, source),
    }


_LOGGED = {"actor_rollout_ref.rollout.calculate_log_probs": Default(True, _SEPARATE)}
_VLA = {
    "env.disagg_sim.enable": Default(False, _ROBOTS),
    "env.disagg_sim.nnodes": Default(1, _ROBOTS),
    "env.rollout.pipeline_stage_num": Default(2, _ROBOTS),
    "env.train.num_envs": Default(16, _ROBOTS),
    "actor_rollout_ref.rollout.mode": Default("async_envloop", _ROBOTS),
}
_SPLIT_FILE = "verl, examples/split_placement/config/ppo_trainer_split.yaml"
_SPLIT = {
    "actor_rollout_ref.rollout.name": Default("vllm", _SPLIT_FILE),
    "actor_rollout_ref.model.use_remove_padding": Default(False, _SPLIT_FILE),
    "critic.ppo_micro_batch_size_per_gpu": Default(None, _SPLIT_FILE),
}
_PRIME_FILE = "verl-recipe, prime/config/prime_trainer.yaml"
_PRIME = {
    "algorithm.adv_estimator": Default("rloo", _PRIME_FILE), "actor_rollout_ref.rollout.n": Default(4, _PRIME_FILE),
    "reward_model.enable": Default(True, _PRIME_FILE), "trainer.balance_batch": Default(False, _PRIME_FILE),
}  # fmt: skip
_FAPO = {"reward_model.n_gpus_per_node": Default(0, "verl-recipe, fapo/config/rm_config.yaml")}
_DRAWN = {"data.gen_batch_size": "data.train_batch_size"}
"""What the recipes that draw until there is enough say of their batches."""


def _without_estimator(name: str) -> dict[str, Default]:
    source = f"verl-recipe, {name}/config/{name}_trainer.yaml"
    return {"algorithm.adv_estimator": Default(None, source), "actor_rollout_ref.rollout.name": Default("sglang", source)}


_DISTILL: dict[str, Default] = {
    **{key: Default(None if key.endswith(NOT_SAID) else 1, _GKD) for key in (f"actor_rollout_ref.actor.megatron.{name}" for name in DEGREES)},
    **{key: Default(SHARED[key].value, _GKD) for key in (
        "trainer.device", "trainer.balance_batch", "data.train_batch_size", "actor_rollout_ref.actor.use_dynamic_bsz",
        "actor_rollout_ref.rollout.data_parallel_size", "actor_rollout_ref.rollout.pipeline_model_parallel_size",
        "actor_rollout_ref.rollout.expert_parallel_size", "actor_rollout_ref.rollout.agent.num_workers",
    )},
    "trainer.nnodes": Default(1, _GKD), "trainer.n_gpus_per_node": Default(4, _GKD), "rollout.nnodes": Default(1, _GKD),
    "rollout.n_gpus_per_node": Default(4, _GKD), "actor_rollout_ref.rollout.tensor_model_parallel_size": Default(1, _GKD),
    "actor_rollout_ref.rollout.name": Default("vllm", _GKD), "actor_rollout_ref.rollout.mode": Default("sync", _GKD),
    "actor_rollout_ref.actor.strategy": Default("megatron", _GKD), "actor_rollout_ref.hybrid_engine": Default(False, _GKD),
    "actor_rollout_ref.model.path": Default("/path/to/MODEL", _GKD),
}  # fmt: skip
"""The one configuration that stands on no other."""

_TURNS = (
    "gsm8k_multiturn_grpo", "gsm8k_multiturn_grpo_server", "gsm8k_multiturn_grpo_w_interaction", "geo3k_multiturn_grpo", "retool_multiturn_grpo",
    "search_multiturn_grpo", "search_multiturn_grpo_one_step_off", "deepeyes_multiturn_grpo",
)  # fmt: skip
_MEGATRON_TURNS = ("gsm8k_multiturn_megatron_grpo", "geo3k_multiturn_megatron_grpo")


def _turns(name: str) -> dict[str, Default]:
    folder = "verl-recipe, deepeyes/configs" if name.startswith("deepeyes") else "verl, examples/sglang_multiturn/config"
    source = f"{folder}/{name}.yaml"
    return {"data.train_batch_size": Default(256, source), "actor_rollout_ref.rollout.name": Default("sglang", source)}


_TABLES = (
    Table("ppo_trainer", PPO, PPO_SAME),
    Table("ppo_megatron_trainer", MEGATRON, MEGATRON_SAME),
    Table("one_step_off_ppo_trainer", {**PPO, **_pool(_SEPARATE), **_LOGGED}, PPO_SAME),
    Table("one_step_off_ppo_megatron_trainer", {**MEGATRON, **_pool(_SEPARATE), **_LOGGED}, MEGATRON_SAME),
    Table("fully_async_ppo_trainer", {**PPO, **_stream(_ASYNC)}, PPO_SAME),
    Table("fully_async_ppo_megatron_trainer", {**MEGATRON, **_stream(_ASYNC)}, MEGATRON_SAME),
    Table("transfer_queue_ppo_trainer", PPO, PPO_SAME),
    Table("transfer_queue_ppo_megatron_trainer", MEGATRON, MEGATRON_SAME),
    Table("ppo_trainer_split", {**PPO, **_SPLIT}, {key: other for key, other in PPO_SAME.items() if key not in _SPLIT}),
    Table("rob_ppo_trainer", {**PPO, **_VLA}, PPO_SAME),
    Table(
        "generation",
        {
            "trainer.nnodes": Default(1, _GENERATION),
            "trainer.n_gpus_per_node": Default(8, _GENERATION),
            "rollout.name": Default("vllm", _GENERATION),
            "rollout.mode": Default("async", _GENERATION),
            "rollout.tensor_model_parallel_size": Default(1, _GENERATION),
            "rollout.data_parallel_size": Default(1, _GENERATION),
            "rollout.n": Default(1, _GENERATION),
            "actor.strategy": Default("fsdp", _GENERATION),
            "actor.ulysses_sequence_parallel_size": Default(1, _GENERATION),
        },
    ),
    Table(
        "sft_trainer",
        {
            "trainer.nnodes": Default(1, _SFT),
            "trainer.n_gpus_per_node": Default(8, _SFT),
            "data.train_batch_size": Default(256, _SFT),
            "data.micro_batch_size": Default(None, _SFT),
            "data.micro_batch_size_per_gpu": Default(4, _SFT),
            "model.strategy": Default("fsdp2", _SFT),
            "ulysses_sequence_parallel_size": Default(1, _SFT),
        },
    ),
    Table(
        "sft_trainer_engine",
        {
            "trainer.nnodes": Default(1, _ENGINE),
            "trainer.n_gpus_per_node": Default(1, _ENGINE),
            "data.train_batch_size": Default(256, _ENGINE),
            "data.micro_batch_size_per_gpu": Default(4, _ENGINE),
            "engine.strategy": Default("fsdp", "verl, verl/trainer/config/engine/fsdp.yaml"),
            "engine.fsdp_size": Default(-1, "verl, verl/trainer/config/engine/fsdp.yaml"),
            "engine.ulysses_sequence_parallel_size": Default(1, "verl, verl/trainer/config/engine/fsdp.yaml"),
        },
    ),
    *(Table(name, PPO, {**PPO_SAME, **_DRAWN}) for name in ("dapo_trainer", "entropy_trainer", "flowrl_trainer")),
    *(Table(name, PPO, PPO_SAME) for name in ("spo_trainer", "specRL_trainer")),
    Table("rm_config", {**PPO, **_FAPO}, PPO_SAME),
    Table("dapo_megatron_trainer", MEGATRON, {**MEGATRON_SAME, **_DRAWN}),
    Table("prime_trainer", {**PPO, **_PRIME}, PPO_SAME),
    *(Table(f"{name}_trainer", {**PPO, **_without_estimator(name)}, PPO_SAME) for name in ("spin", "sppo")),
    *(Table(name, {**PPO, **_turns(name)}, PPO_SAME) for name in _TURNS),
    *(Table(name, {**MEGATRON, **_turns(name)}, MEGATRON_SAME) for name in _MEGATRON_TURNS),
    Table("on_policy_distill_trainer", _DISTILL),
)
KNOWN: Mapping[str, Table] = {table.name: table for table in _TABLES}
"""Every configuration whose defaults are known, by its name."""


def table_of(name: str) -> Table | None:
    """The table of a configuration by its name, with or without its ending; None for one that is not known."""
    return KNOWN.get(name.rpartition("/")[2].removesuffix(".yaml"))
