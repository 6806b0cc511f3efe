"""The verl dialect: reading and writing the configurations, command lines and pools of verl."""

from __future__ import annotations

from .read import NAME, read
from .recognise import recognises
from .writing.render import render
from .writing.write import write

__all__ = ["NAME", "PLACES", "PROGRAMS", "read", "recognises", "render", "write"]

PROGRAMS: tuple[str, ...] = ("verl.", "recipe.")
"""The modules of verl and of verl-recipe."""

PLACES = (
    "trainer.nnodes", "trainer.n_gpus_per_node", "rollout.nnodes", "rollout.n_gpus_per_node", "reward_model.nnodes",
    "reward_model.n_gpus_per_node", "resource_pool_spec", "mapping", "topology", "placewright",
)  # fmt: skip
"""The keys whose content is all in the Problem that a file states."""
