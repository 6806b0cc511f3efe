"""verl dialect: read and write configurations, command lines and pools of verl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...text.tree import ListNode, MapNode, find
from ...training_job import FileLimits
from ..signs import Signs, part_of

__all__ = ["LIMITS", "NAME", "PLACES", "PROGRAMS", "RELEASES", "RUN", "signs"]

NAME = "verl"
PROGRAMS: tuple[str, ...] = ("verl.", "recipe.")
"""Prefixes of the modules of verl and verl-recipe."""

PLACES = (
    "trainer.nnodes", "trainer.n_gpus_per_node", "rollout.nnodes", "rollout.n_gpus_per_node", "reward_model.nnodes",
    "reward_model.n_gpus_per_node", "placewright",
)  # fmt: skip
"""Keys whose whole content is in the Problem of a file."""

_MARKS = ("actor_rollout_ref", "resource_pool_spec")
_TRAINER = ("trainer.nnodes", "trainer.n_gpus_per_node")
_BESIDE = ("data", "algorithm", "model", "rollout", "critic", "reward_model", "ray_kwargs", "global_profiler", "placewright")
"""Sections of which every configuration of verl's own has one beside `trainer`."""
_DRAFT = "topology.device_pools"
RELEASES = Path(__file__).parent / "facts" / "releases.json"
LIMITS = FileLimits(one_pool=True)
RUN = "TRAIN_FILES=train.parquet VAL_FILES=val.parquet bash {file}"


def signs(root: MapNode) -> Signs:
    """Return the signs of verl: sections, pools, or trainer sizes beside a section.

    A single size of a trainer, or a trainer alone, is a weak sign.
    """
    sure = [mark for mark in _MARKS if find(root, mark) is not None]
    sure += [_DRAFT] if isinstance(find(root, _DRAFT), ListNode) else []
    sizes = [key for key in _TRAINER if find(root, key) is not None]
    is_sure = len(sizes) == len(_TRAINER) and any(root.get(section) is not None for section in _BESIDE)
    return Signs((*sure, *sizes)) if is_sure else Signs(tuple(sure), tuple(sizes))


_HOMES = {
    "read": ".reader", "release_of": ".programs", "render": ".writing", "training_file": ".writing",
    "write": ".writing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    return part_of(__name__, _HOMES, name)
