"""verl's defaults, as the tables say them, against its own configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from placewright.models.dialects.verl.defaults import KNOWN

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl" / "yaml"
CONFIG = "verl/trainer/config"
WHOLE = {
    "ppo_trainer": f"{CONFIG}/_generated_ppo_trainer.yaml",
    "ppo_megatron_trainer": f"{CONFIG}/_generated_ppo_megatron_trainer.yaml",
    "generation": f"{CONFIG}/generation.yaml",
    "sft_trainer": f"{CONFIG}/sft_trainer.yaml",
}
"""Configurations that stand whole in one file."""
ONTO = {
    "one_step_off_ppo_trainer": "verl/experimental/one_step_off_policy/config/one_step_off_ppo_trainer.yaml",
    "one_step_off_ppo_megatron_trainer": "verl/experimental/one_step_off_policy/config/one_step_off_ppo_megatron_trainer.yaml",
    "fully_async_ppo_trainer": "verl/experimental/fully_async_policy/config/fully_async_ppo_trainer.yaml",
    "fully_async_ppo_megatron_trainer": "verl/experimental/fully_async_policy/config/fully_async_ppo_megatron_trainer.yaml",
    "transfer_queue_ppo_trainer": "verl/experimental/transfer_queue/config/transfer_queue_ppo_trainer.yaml",
    "ppo_trainer_split": "examples/split_placement/config/ppo_trainer_split.yaml",
    "rob_ppo_trainer": "verl/experimental/vla/config/rob_ppo_trainer.yaml",
    "gsm8k_multiturn_grpo": "examples/sglang_multiturn/config/gsm8k_multiturn_grpo.yaml",
    "geo3k_multiturn_megatron_grpo": "examples/sglang_multiturn/config/geo3k_multiturn_megatron_grpo.yaml",
}
"""Configurations that are merged onto one of these."""
NOT_THERE = {
    "actor_rollout_ref.actor.use_prefix_grouper": "read with `get`",
    "reward_model.ulysses_sequence_parallel_size": "stands in dp_reward_model.yaml, of the same group",
    "async_training.staleness_threshold": "a fraction, of which only the key is needed",
}
"""Keys of the tables that a configuration need not hold, and why."""
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")


def flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    return {key: each for name, inner in value.items() for key, each in flat(inner, f"{path}.{name}".strip(".")).items()}


def values(name: str) -> dict[str, Any]:
    return flat(yaml.safe_load((CORPUS / name).read_text("utf-8")))


def whole(name: str) -> dict[str, Any]:
    if name in WHOLE:
        return values(WHOLE[name])
    own = values(ONTO[name])
    base = WHOLE["ppo_megatron_trainer" if "megatron" in name else "ppo_trainer"]
    return {**values(base), **own}


@pytest.mark.parametrize("name", [*WHOLE, *ONTO])
def test_every_default_is_the_one_that_verl_states(name: str) -> None:
    stated, table = whole(name), KNOWN[name]
    wrong = {}
    for key, default in table.defaults.items():
        if key not in stated or stated[key] != default.value:
            wrong[key] = (default.value, stated.get(key, "not there"))
    assert {key: pair for key, pair in wrong.items() if key not in NOT_THERE and "${" not in str(pair[1])} == {}


@pytest.mark.parametrize("name", ["ppo_trainer", "ppo_megatron_trainer"])
def test_every_key_that_follows_another_one_does_so_in_verl(name: str) -> None:
    stated = whole(name)
    for key, other in KNOWN[name].same.items():
        beside = key.rpartition(".")[0] == other.rpartition(".")[0]
        assert other in str(stated[key]) or (beside and f".{other.rpartition('.')[2]}" in str(stated[key])), key


def test_a_default_says_where_it_stands() -> None:
    for table in KNOWN.values():
        for key, default in table.defaults.items():
            assert default.source.endswith(".yaml") and default.source.startswith(("verl, ", "verl-recipe, ")), key
