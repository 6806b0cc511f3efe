"""ROLL's own defaults, with their source, for what decides where things run."""

from __future__ import annotations

from typing import Iterator, Mapping

from ....configuration.settings import Default

_BASE, _WORKER = "ROLL, roll/configs/base_config.py", "ROLL, roll/configs/worker_config.py"
_ENVIRONMENTS = "ROLL, roll/pipeline/agentic/agentic_config.py, EnvManagerConfig"

GROUPS, SIZE, REDUNDANCY, MOST = "num_env_groups", "group_size", "group_size_redundancy", "max_env_num_per_worker"
"""The keys of environment managers that say how many environments there are, and how many of them a worker has."""

OF_THE_JOB = {
    "num_nodes": Default(1, _BASE),
    "num_gpus_per_node": Default(8, _BASE),
    "rollout_batch_size": Default(128, _BASE),
    "val_batch_size": Default(128, _BASE),
    "max_running_requests": Default(128, _BASE),
    "generate_opt_level": Default(1, _BASE),
    "adv_estimator": Default("gae", _BASE),
    "enable_reference": Default(False, _BASE),
    "use_kl_loss": Default(False, _BASE),
    "is_pure_opd": Default(False, _BASE),
    "use_opd": Default(False, _BASE),
    "pure_opd_pipeline_type": Default("rlvr", _BASE),
    "ppo_epochs": Default(1, _BASE),
    "partial_gpu_mode": Default(True, "ROLL, roll/pipeline/agentic/agentic_config.py"),
    "num_return_sequences_in_group": Default(1, "ROLL, roll/pipeline/rlvr/rlvr_config.py"),
}

OF_WORKERS = {
    "num_gpus_per_worker": Default(1, _WORKER),
    "infer_batch_size": Default(16, _WORKER),
    "max_concurrency": Default(1, _WORKER),
    GROUPS: Default(128, _ENVIRONMENTS),
    SIZE: Default(1, _ENVIRONMENTS),
    REDUNDANCY: Default(0, _ENVIRONMENTS),
    MOST: Default(0, _ENVIRONMENTS),
}


def default_of(path: str) -> Default | None:
    """The default of a path, in whatever block of workers it is; None if there is none here."""
    if path in OF_THE_JOB:
        return OF_THE_JOB[path]
    return next((default for inner, default in OF_WORKERS.items() if path.endswith(f".{inner}")), None)


class Defaults(Mapping[str, Default]):
    """The defaults of all paths, looked up when they are asked for."""

    def __getitem__(self, path: str) -> Default:
        found = default_of(path)
        if found is None:
            raise KeyError(path)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(OF_THE_JOB)

    def __len__(self) -> int:
        return len(OF_THE_JOB)
