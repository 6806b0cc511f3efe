"""ROLL dialect: read and write the roles and the `device_mapping` of a ROLL configuration."""

from __future__ import annotations

from typing import Any

from ...training_job import FileLimits
from ..signs import part_of
from .names import ALL_BLOCKS, DEVICES, HINTS, NAME, PER_WORKER, RELEASES, WORLD_SIZE, signs

__all__ = ["LIMITS", "NAME", "PLACES", "PROGRAMS", "RELEASES", "RUN", "signs"]

_JOBS = (
    "agentic", "agentic_rollout", "distill", "distill_vl", "dpo", "onpolicy_distill", "reward_fl", "rlvr", "rlvr_rollout", "rlvr_vl", "sft",
)  # fmt: skip
PROGRAMS: tuple[str, ...] = ("roll.", *(f"start_{job}_pipeline.py" for job in _JOBS))
"""Prefixes of the modules of ROLL."""

PLACES = ("num_nodes", "num_gpus_per_node", *(f"{block}.{key}" for block in ALL_BLOCKS for key in (DEVICES, PER_WORKER, WORLD_SIZE)), HINTS)
"""Keys whose whole content is in the Problem of a file."""
LIMITS = FileLimits(solid=True, over_nodes="pp")
RUN = "cp {file} examples/ && python examples/start_rlvr_pipeline.py --config_path . --config_name {stem}"
_HOMES = {
    "read": ".reader", "release_of": ".profile", "render": ".writing", "training_file": ".writing",
    "write": ".writing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    return part_of(__name__, _HOMES, name)
