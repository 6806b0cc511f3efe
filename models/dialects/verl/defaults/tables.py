"""Which defaults go with which configuration: by the name that the program, `--config-name` or `defaults:` says.

Source: verl, verl/trainer/config/, verl/experimental/*/config/, examples/*/config/; verl-recipe, */config/.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ....configuration.settings import Default
from .ppo import MEGATRON, MEGATRON_SAME, PPO, PPO_SAME


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


_VLA = {
    "env.disagg_sim.enable": Default(False, _ROBOTS),
    "env.disagg_sim.nnodes": Default(1, _ROBOTS),
    "env.rollout.pipeline_stage_num": Default(2, _ROBOTS),
    "env.train.num_envs": Default(16, _ROBOTS),
    "actor_rollout_ref.rollout.mode": Default("async_envloop", _ROBOTS),
}
_SPLIT = {"actor_rollout_ref.rollout.name": Default("vllm", "verl, examples/split_placement/config/ppo_trainer_split.yaml")}
_PRIME = {"algorithm.adv_estimator": Default("rloo", "verl-recipe, prime/config/prime_trainer.yaml")}
_SPIN = {"algorithm.adv_estimator": Default(None, "verl-recipe, spin/config/spin_trainer.yaml")}
_SPPO = {"algorithm.adv_estimator": Default(None, "verl-recipe, sppo/config/sppo_trainer.yaml")}
_DISTILL = {
    "trainer.nnodes": Default(1, _GKD), "trainer.n_gpus_per_node": Default(4, _GKD), "rollout.nnodes": Default(1, _GKD),
    "rollout.n_gpus_per_node": Default(4, _GKD), "actor_rollout_ref.rollout.tensor_model_parallel_size": Default(1, _GKD),
}  # fmt: skip

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
    Table("one_step_off_ppo_trainer", {**PPO, **_pool(_SEPARATE)}, PPO_SAME),
    Table("one_step_off_ppo_megatron_trainer", {**MEGATRON, **_pool(_SEPARATE)}, MEGATRON_SAME),
    Table("fully_async_ppo_trainer", {**PPO, **_stream(_ASYNC)}, PPO_SAME),
    Table("fully_async_ppo_megatron_trainer", {**MEGATRON, **_stream(_ASYNC)}, MEGATRON_SAME),
    Table("transfer_queue_ppo_trainer", PPO, PPO_SAME),
    Table("transfer_queue_ppo_megatron_trainer", MEGATRON, MEGATRON_SAME),
    Table("ppo_trainer_split", {**PPO, **_SPLIT}, PPO_SAME),
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
    *(
        Table(name, PPO, PPO_SAME)
        for name in ("dapo_trainer", "entropy_trainer", "flowrl_trainer", "rm_config", "spo_trainer", "specRL_trainer")
    ),
    Table("dapo_megatron_trainer", MEGATRON, MEGATRON_SAME),
    Table("prime_trainer", {**PPO, **_PRIME}, PPO_SAME),
    Table("spin_trainer", {**PPO, **_SPIN}, PPO_SAME),
    Table("sppo_trainer", {**PPO, **_SPPO}, PPO_SAME),
    *(Table(name, {**PPO, **_turns(name)}, PPO_SAME) for name in _TURNS),
    *(Table(name, {**MEGATRON, **_turns(name)}, MEGATRON_SAME) for name in _MEGATRON_TURNS),
    Table("on_policy_distill_trainer", {**MEGATRON, **_DISTILL}, MEGATRON_SAME),
)
KNOWN: Mapping[str, Table] = {table.name: table for table in _TABLES}
"""Every configuration whose defaults are known, by its name."""


def table_of(name: str) -> Table | None:
    """The table of a configuration by its name, with or without its ending; None for one that is not known."""
    return KNOWN.get(name.rpartition("/")[2].removesuffix(".yaml"))
