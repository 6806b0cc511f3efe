"""Is this a verl configuration?"""

from __future__ import annotations

from ...text.tree import Mapping, Sequence, find

NAME = "verl"
_MARKS = ("actor_rollout_ref", "trainer.n_gpus_per_node", "trainer.nnodes", "resource_pool_spec")


def recognises(root: Mapping) -> bool:
    """Has it a section that only verl knows, the size of its trainer, or pools of accelerators?"""
    return any(find(root, mark) is not None for mark in _MARKS) or isinstance(find(root, "topology.device_pools"), Sequence)
