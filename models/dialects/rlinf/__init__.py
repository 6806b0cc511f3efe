"""The RLinf dialect: reading and writing the `cluster` section of an RLinf configuration."""

from __future__ import annotations

from .read import NAME, read
from .recognise import recognises
from .writing.render import render
from .writing.write import write

__all__ = ["NAME", "PROGRAMS", "PLACES", "read", "recognises", "render", "write"]

PROGRAMS: tuple[str, ...] = ()
"""No program of a script is read by its name alone."""

PLACES = ("cluster.num_nodes", "cluster.node_groups", "cluster.component_placement", "placewright")
"""The keys whose content is all in the Problem that a file states."""
