"""The defaults of `ppo_trainer` and `ppo_megatron_trainer`, key by key with the file that says them.

Source: verl, verl/trainer/config/ (ppo_trainer.yaml, ppo_megatron_trainer.yaml and the groups that they name).
"""

from __future__ import annotations

from ....configuration.settings import Default

_TOP = "verl, verl/trainer/config/ppo_trainer.yaml"
_MEGATRON_TOP = "verl, verl/trainer/config/ppo_megatron_trainer.yaml"
_ACTOR = "verl, verl/trainer/config/actor/actor.yaml"
_DP_ACTOR = "verl, verl/trainer/config/actor/dp_actor.yaml"
_MEGATRON_ACTOR = "verl, verl/trainer/config/actor/megatron_actor.yaml"
_REF = "verl, verl/trainer/config/ref/ref.yaml"
_MEGATRON_REF = "verl, verl/trainer/config/ref/megatron_ref.yaml"
_ROLLOUT = "verl, verl/trainer/config/rollout/rollout.yaml"
_CRITIC = "verl, verl/trainer/config/critic/critic.yaml"
_DP_CRITIC = "verl, verl/trainer/config/critic/dp_critic.yaml"
_MEGATRON_CRITIC = "verl, verl/trainer/config/critic/megatron_critic.yaml"
_REWARD = "verl, verl/trainer/config/reward_model/dp_reward_loop.yaml"
_MEGATRON_REWARD = "verl, verl/trainer/config/reward_model/megatron_reward_loop.yaml"
_MODEL = "verl, verl/trainer/config/model/hf_model.yaml"
_DATA = "verl, verl/trainer/config/data/legacy_data.yaml"
_FSDP = "verl, verl/trainer/config/engine/fsdp.yaml"
_ENGINE = "verl, verl/trainer/config/engine/megatron.yaml"

_A, _R, _F = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref"
DEGREES = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size", "expert_model_parallel_size",
    "expert_tensor_parallel_size", "virtual_pipeline_model_parallel_size",
)  # fmt: skip
"""The degrees of parallelism that Megatron takes, below `megatron`."""
NOT_SAID = ("expert_tensor_parallel_size", "virtual_pipeline_model_parallel_size")
"""Those that are null."""


def _degrees(owner: str, source: str) -> dict[str, Default]:
    return {f"{owner}.megatron.{name}": Default(None if name in NOT_SAID else 1, source) for name in DEGREES}


SHARED: dict[str, Default] = {
    "trainer.nnodes": Default(1, _TOP),
    "trainer.n_gpus_per_node": Default(8, _TOP),
    "trainer.device": Default("cuda", _TOP),
    "trainer.use_legacy_worker_impl": Default("auto", _TOP),
    "trainer.balance_batch": Default(True, _TOP),
    "actor_rollout_ref.hybrid_engine": Default(True, _TOP),
    "actor_rollout_ref.model.lora_rank": Default(0, _MODEL),
    "actor_rollout_ref.model.lora_adapter_path": Default(None, _MODEL),
    "actor_rollout_ref.model.path": Default("~/models/deepseek-llm-7b-chat", _MODEL),
    "algorithm.adv_estimator": Default("gae", _TOP),
    "algorithm.use_kl_in_reward": Default(False, _TOP),
    "data.train_batch_size": Default(1024, _DATA),
    f"{_A}.ppo_mini_batch_size": Default(256, _ACTOR),
    f"{_A}.ppo_micro_batch_size": Default(None, _ACTOR),
    f"{_A}.ppo_micro_batch_size_per_gpu": Default(None, _ACTOR),
    f"{_A}.use_dynamic_bsz": Default(False, _ACTOR),
    f"{_A}.use_kl_loss": Default(False, _ACTOR),
    f"{_A}.use_prefix_grouper": Default(False, _DP_ACTOR),
    f"{_R}.name": Default("???", _ROLLOUT),
    f"{_R}.mode": Default("async", _ROLLOUT),
    f"{_R}.n": Default(1, _ROLLOUT),
    f"{_R}.calculate_log_probs": Default(False, _ROLLOUT),
    f"{_R}.tensor_model_parallel_size": Default(2, _ROLLOUT),
    f"{_R}.data_parallel_size": Default(1, _ROLLOUT),
    f"{_R}.pipeline_model_parallel_size": Default(1, _ROLLOUT),
    f"{_R}.expert_parallel_size": Default(1, _ROLLOUT),
    f"{_R}.agent.num_workers": Default(8, _ROLLOUT),
    f"{_R}.log_prob_micro_batch_size": Default(None, _ROLLOUT),
    f"{_R}.log_prob_micro_batch_size_per_gpu": Default(None, _ROLLOUT),
    f"{_F}.log_prob_micro_batch_size": Default(None, _REF),
    f"{_F}.log_prob_micro_batch_size_per_gpu": Default(None, _REF),
    "critic.enable": Default(None, _CRITIC),
    "critic.ppo_micro_batch_size": Default(None, _CRITIC),
    "reward_model.enable": Default(False, _REWARD),
    "reward_model.enable_resource_pool": Default(False, _REWARD),
    "reward_model.n_gpus_per_node": Default(8, _REWARD),
    "reward_model.nnodes": Default(0, _REWARD),
    "reward_model.micro_batch_size": Default(None, _REWARD),
    "reward_model.micro_batch_size_per_gpu": Default(None, _REWARD),
    "reward_model.num_workers": Default(1, _REWARD),
    "reward_model.use_reward_loop": Default(True, _REWARD),
    "reward_model.rollout.name": Default("???", _REWARD),
    "reward_model.rollout.tensor_model_parallel_size": Default(2, _REWARD),
    "reward_model.rollout.data_parallel_size": Default(1, _REWARD),
    "reward_model.rollout.expert_parallel_size": Default(1, _REWARD),
}
"""What both say alike."""

PPO: dict[str, Default] = {
    **SHARED,
    f"{_A}.strategy": Default("fsdp", _DP_ACTOR),
    f"{_A}.ulysses_sequence_parallel_size": Default(1, _DP_ACTOR),
    "actor_rollout_ref.model.use_remove_padding": Default(True, _MODEL),
    f"{_A}.fsdp_config.fsdp_size": Default(-1, _FSDP),
    f"{_F}.fsdp_config.fsdp_size": Default(-1, _FSDP),
    "critic.strategy": Default("fsdp", _DP_CRITIC),
    "critic.ulysses_sequence_parallel_size": Default(1, _DP_CRITIC),
    "critic.model.use_remove_padding": Default(False, _DP_CRITIC),
    "critic.model.fsdp_config.fsdp_size": Default(-1, _FSDP),
    "reward_model.strategy": Default("fsdp", _REWARD),
    "reward_model.ulysses_sequence_parallel_size": Default(1, _REWARD),
    "reward_model.model.fsdp_config.fsdp_size": Default(-1, _REWARD),
}
"""`ppo_trainer`: FSDP."""

MEGATRON: dict[str, Default] = {
    **SHARED,
    f"{_A}.strategy": Default("megatron", _MEGATRON_ACTOR),
    f"{_F}.strategy": Default("megatron", _MEGATRON_REF),
    "critic.strategy": Default("megatron", _MEGATRON_CRITIC),
    "reward_model.strategy": Default("megatron", _MEGATRON_REWARD),
    "actor_rollout_ref.model.lora.rank": Default(0, _MEGATRON_TOP),
    **_degrees(_A, _ENGINE),
    **_degrees("critic", _ENGINE),
    **_degrees("reward_model", _MEGATRON_REWARD),
}
"""`ppo_megatron_trainer`: Megatron."""

SAME: dict[str, str] = {
    "critic.ppo_mini_batch_size": f"{_A}.ppo_mini_batch_size",
    "critic.ppo_micro_batch_size_per_gpu": "critic.ppo_micro_batch_size",
    "critic.use_dynamic_bsz": f"{_A}.use_dynamic_bsz",
    "reward_model.use_dynamic_bsz": "critic.use_dynamic_bsz",
    f"{_F}.log_prob_use_dynamic_bsz": f"{_A}.use_dynamic_bsz",
    f"{_R}.log_prob_use_dynamic_bsz": f"{_A}.use_dynamic_bsz",
}
"""Keys that take what another key says, where they say nothing themselves."""

PPO_SAME: dict[str, str] = {
    **SAME,
    f"{_F}.strategy": f"{_A}.strategy",
    f"{_F}.ulysses_sequence_parallel_size": f"{_A}.ulysses_sequence_parallel_size",
}
"""Those of `ppo_trainer`. Source: verl, verl/trainer/config/ref/dp_ref.yaml, critic/critic.yaml."""

MEGATRON_SAME: dict[str, str] = {**SAME, **{f"{_F}.megatron.{name}": f"{_A}.megatron.{name}" for name in DEGREES}}
"""Those of `ppo_megatron_trainer`. Source: verl, verl/trainer/config/ref/megatron_ref.yaml."""
