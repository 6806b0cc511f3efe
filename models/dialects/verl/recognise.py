"""Is this a verl configuration?"""

from __future__ import annotations

from ...text.tree import Mapping, Sequence, find
from ..signs import Signs

NAME = "verl"
_MARKS = ("actor_rollout_ref", "resource_pool_spec")
_TRAINER = ("trainer.nnodes", "trainer.n_gpus_per_node")


def signs(root: Mapping) -> Signs:
    """Sections that only verl has, both sizes of its trainer, pools of accelerators; one size of a trainer alone is weak."""
    sure = [mark for mark in _MARKS if find(root, mark) is not None]
    if isinstance(find(root, "topology.device_pools"), Sequence):
        sure.append("topology.device_pools")
    sizes = [key for key in _TRAINER if find(root, key) is not None]
    return Signs((*sure, *sizes)) if len(sizes) == len(_TRAINER) else Signs(tuple(sure), tuple(sizes))
