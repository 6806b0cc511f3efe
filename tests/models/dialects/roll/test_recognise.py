"""Which files are taken to be ROLL's."""

from __future__ import annotations

from placewright.models.dialects.load import read
from placewright.models.text.source import Source

VERL = """
actor_rollout_ref: {model: {path: Qwen/Qwen2.5-7B-Instruct}, actor: {strategy: megatron}}
critic: {strategy: megatron, ppo_micro_batch_size_per_gpu: 4}
trainer: {nnodes: 1, n_gpus_per_node: 8}
placewright: {components: {actor: {seconds: {8: 90}}}}
"""
ROLL = """
actor_train: {KEY: {strategy_name: megatron_train}}
placewright: {components: {actor_train: {accelerators: 8}}}
"""


def test_a_critic_of_verl_with_hints_is_not_one_of_roll() -> None:
    assert read(Source("train.yaml", VERL)).dialect == "verl"


def test_a_role_whose_devices_are_left_to_hints_is_known_by_its_strategy_also_misspelt() -> None:
    for key in ("strategy_args", "strategy_arg"):
        assert read(Source("train.yaml", ROLL.replace("KEY", key))).dialect == "roll"
