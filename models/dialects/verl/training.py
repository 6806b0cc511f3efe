"""Script of a whole verl job: the placement and the batches, as overrides of `main_ppo`."""

from __future__ import annotations

from ...problem import Problem
from ...roles import ACTOR, CRITIC, REFERENCE, ROLLOUT, role_of
from ...training_job import TrainingJob
from ..written import flat, merge_keys, put
from .programs import facts
from .rendering import render

_OWNERS = {ACTOR: "actor_rollout_ref.actor", REFERENCE: "actor_rollout_ref.ref", CRITIC: "critic"}
"""Role -> section of what trains and reads."""


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the script. Raises UnusableInput (PW606) if verl's pools cannot express the problem."""
    base = merge_keys(render(problem).text, {}, without=("placewright",))
    strategy = str(base.get("actor_rollout_ref", {}).get("actor", {}).get("strategy", "fsdp"))
    roles = {role_of(component) for component in problem.components}
    training_facts, engine = facts("training"), "megatron" if strategy == "megatron" else "fsdp"
    names = ["all", *(["dapo"] if job.algorithm == "dapo" else []), engine]
    names += [name for role in (REFERENCE, CRITIC) if role in roles for name in (role, f"{role} {engine}")]
    keys = job.keys(training_facts, names, {"estimator": training_facts["estimators"][job.algorithm], "share": job.utilization / 100})
    for component in problem.components:
        parallel = component.parallel
        if role_of(component) == ROLLOUT and parallel.dp > 1:  # what vLLM calls data parallel ranks share the experts
            keys["actor_rollout_ref.rollout.expert_parallel_size"] = parallel.tp * parallel.dp
        elif parallel.ep > 1 and component.estimate is not None:
            owner = _OWNERS[role_of(component)]
            keys[f"{owner}.megatron.expert_tensor_parallel_size"] = component.estimate.expert_tp or parallel.tp
        elif strategy == "fsdp" and parallel.cp > 1:  # sequences of one rank are packed before they are divided
            keys["actor_rollout_ref.model.use_remove_padding"] = True
    tree = put(base, keys)
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


def _word(value: object) -> str:
    """Return a value as Hydra reads it on the command line."""
    return (
        str(value)
        if not isinstance(value, str) or value.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
        else f"'{value}'"
    )
