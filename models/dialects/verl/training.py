"""Script of a whole verl job: the placement and the batches, as overrides of `main_ppo`."""

from __future__ import annotations

from typing import AbstractSet as Set

from ...problem import Problem
from ...roles import CRITIC, REFERENCE, role_of
from ...training_job import TrainingJob
from ..merging import flat, merged
from .rendering import render

ESTIMATORS = {"grpo": "grpo", "dapo": "grpo", "ppo": "gae", "rloo": "rloo", "reinforce++": "reinforce_plus_plus"}
"""Algorithm -> `algorithm.adv_estimator`. Source: verl, verl/trainer/ppo/core_algos.py."""
_POLICY = "actor_rollout_ref"
_OWN_CLIPS = {f"{_POLICY}.actor.clip_ratio_low": 0.2, f"{_POLICY}.actor.clip_ratio_high": 0.28}
"""DAPO, arXiv 2503.14476, section 4.1."""

_TRANSFORMER = f"{_POLICY}.actor.megatron.override_transformer_config"
_RECOMPUTED = {
    f"++{_TRANSFORMER}.recompute_granularity": "full",
    f"++{_TRANSFORMER}.recompute_method": "uniform",
    f"++{_TRANSFORMER}.recompute_num_layers": 1,
}
"""Activations computed again, as in the estimate; added, as some releases lack the keys."""


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the script. Raises UnusableInput (PW606) if verl's pools cannot express the problem."""
    placed = merged(render(problem).text, {}, without=("placewright",))
    strategy = str(placed.get(_POLICY, {}).get("actor", {}).get("strategy", "fsdp"))
    roles = {role_of(component) for component in problem.components}
    tree = merged(render(problem).text, _keys(job, roles, strategy), without=("placewright",))
    settings = [f"    {key}={_word(value)} \\" for key, value in flat(tree).items()]
    lines = [
        "#!/usr/bin/env bash",
        f"# {title}",
        "# Set TRAIN_FILES and VAL_FILES, and a reward where the data names none; then run it where `ray start` was.",
        "set -euo pipefail",
        "",
        f"python3 -m verl.trainer.main_ppo{' --config-name=ppo_megatron_trainer' if strategy == 'megatron' else ''} \\",
        *settings,
        '    data.train_files="${TRAIN_FILES:?parquet files to train on}" \\',
        '    data.val_files="${VAL_FILES:?parquet files to validate on}" \\',
        '    "$@"',
        "",
    ]
    return "\n".join(lines)


def _keys(job: TrainingJob, roles: Set[str], strategy: str) -> dict[str, object]:
    actor, rollout, ref = f"{_POLICY}.actor", f"{_POLICY}.rollout", f"{_POLICY}.ref"
    keys: dict[str, object] = {
        "algorithm.adv_estimator": ESTIMATORS[job.algorithm],
        "data.train_batch_size": job.prompts,
        "data.max_prompt_length": job.prompt,
        "data.max_response_length": job.response,
        f"{_POLICY}.model.path": job.model,
        f"{actor}.ppo_mini_batch_size": job.mini_batch,
        f"{actor}.ppo_micro_batch_size_per_gpu": job.micro_batch,
        f"{rollout}.name": "vllm",
        f"{rollout}.n": job.samples,
        f"{rollout}.gpu_memory_utilization": job.utilization / 100,
        f"{rollout}.log_prob_micro_batch_size_per_gpu": job.micro_batch,
    }
    if job.algorithm == "dapo":
        keys |= _OWN_CLIPS
    is_megatron = strategy == "megatron"
    engine = "megatron" if is_megatron else "fsdp_config"
    keys |= _RECOMPUTED if is_megatron else {f"{_POLICY}.model.enable_gradient_checkpointing": True}
    keys |= {f"{actor}.{engine}.{part}_offload": True for part in ("param", "optimizer")}
    if REFERENCE in roles:
        keys |= {f"{ref}.log_prob_micro_batch_size_per_gpu": job.micro_batch, f"{ref}.{engine}.param_offload": True}
    if CRITIC in roles:
        own = "megatron" if is_megatron else "model.fsdp_config"
        keys |= {"critic.model.path": job.model, "critic.ppo_micro_batch_size_per_gpu": job.micro_batch}
        keys |= {f"critic.{own}.{part}_offload": True for part in ("param", "optimizer")}
    return keys


def _word(value: object) -> str:
    """Return a value as Hydra reads it on the command line."""
    return (
        str(value)
        if not isinstance(value, str) or value.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
        else f"'{value}'"
    )
