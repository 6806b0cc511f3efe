"""Configuration of a whole ROLL job (RLVR): the placement and the batches."""

from __future__ import annotations

from ...problem import Problem
from ...roles import ACTOR, CRITIC
from ...training_job import TrainingJob
from ..merging import merged, titled
from .writing import render

ESTIMATORS = {"grpo": "grpo", "dapo": "grpo", "ppo": "gae", "rloo": "reinforce", "reinforce++": "reinforce"}
"""Algorithm -> `adv_estimator`. Source: ROLL, roll/configs/base_config.py and roll/utils/functionals.py."""

_RECOMPUTED = {"recompute_granularity": "full", "recompute_method": "uniform", "recompute_num_layers": 1}
"""Activations computed again, as the estimate of memory has it."""


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the file. Raises UnusableInput (PW606) if ROLL cannot express the problem."""
    keys: dict[str, object] = {
        "rollout_batch_size": job.prompts,
        "num_return_sequences_in_group": job.samples,
        "prompt_length": job.prompt,
        "response_length": job.response,
        "adv_estimator": ESTIMATORS[job.algorithm],
        "pretrain": job.model,
        "actor_infer.strategy_args.strategy_config.gpu_memory_utilization": job.utilization / 100,
    }
    for role, section in ((ACTOR, "actor_train"), (CRITIC, "critic")):
        if role in job.ranks:
            steps = job.mini_batch * job.samples // (job.micro_batch * job.ranks[role])
            keys |= {
                f"{section}.training_args.per_device_train_batch_size": job.micro_batch,
                f"{section}.training_args.gradient_accumulation_steps": steps,
            }
    placed = merged(render(problem).text, {})
    for section in ("actor_train", "critic"):
        if placed.get(section, {}).get("strategy_args", {}).get("strategy_name") == "megatron_train":
            keys |= {f"{section}.strategy_args.strategy_config.{name}": value for name, value in _RECOMPUTED.items()}
    return titled(f"{title}. Add your `rewards` and the data of `actor_train`.", merged(render(problem).text, keys))
