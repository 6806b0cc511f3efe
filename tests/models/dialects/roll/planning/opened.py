"""A ROLL file with times, read."""

from __future__ import annotations

from typing import Any

import yaml
from placewright.models.dialects.load import read
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.source import Source

Config = dict[str, Any]


def config(**changes: Any) -> Config:
    found: Config = {
        "rollout_batch_size": 64, "num_return_sequences_in_group": 8, "adv_estimator": "grpo", "init_kl_coef": 0,
        "actor_train": {
            "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16},
            "strategy_args": {"strategy_name": "megatron_train", "strategy_config": {"tensor_model_parallel_size": 2}},
            "device_mapping": "list(range(0,8))",
        },
        "actor_infer": {
            "strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2}}, "device_mapping": "list(range(8,16))",
        },
        "rewards": {"math": {"world_size": 4, "tag_included": ["math"]}},
        "placewright": {"components": {
            "actor_train": {"seconds": {8: 80}}, "actor_infer": {"seconds": {8: 240}, "parallel": {"tp": [1, 2, 4]}},
        }},
    }  # fmt: skip
    return {**found, **changes}


def of(its: Config | str, cluster: str = "4x8", level: str = "placement") -> Reading:
    text = its if isinstance(its, str) else yaml.safe_dump(its, sort_keys=False)
    return read(Source("train.yaml", text), read_shorthand(cluster) if cluster else None, "roll", level)


def problem_of(its: Config, cluster: str = "4x8") -> Problem:
    problem = of(its, cluster).to_solve.problem
    assert problem is not None
    return problem
