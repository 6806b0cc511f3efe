"""The ROLL dialect: reading and writing the roles of a ROLL configuration and their `device_mapping`."""

from __future__ import annotations

from .read import NAME, read
from .recognise import HINTS, recognises
from .roles.known_keys import ALL_BLOCKS, DEVICES, PER_WORKER, WORLD_SIZE
from .writing.render import render
from .writing.write import write

__all__ = ["NAME", "PLACES", "PROGRAMS", "read", "recognises", "render", "write"]

PROGRAMS: tuple[str, ...] = ("roll.",)
"""How ROLL's modules begin."""

PLACES = ("num_nodes", "num_gpus_per_node", *(f"{block}.{key}" for block in ALL_BLOCKS for key in (DEVICES, PER_WORKER, WORLD_SIZE)), HINTS)
"""The keys whose content is all in the Problem that a file states."""
