"""placewright's own files: `cluster:` and `components:`."""

from __future__ import annotations

from ...text.tree import Mapping
from .read import KEYS, NAME, read
from .render import render
from .write import write

__all__ = ["NAME", "PROGRAMS", "PLACES", "read", "recognises", "render", "write"]

PROGRAMS: tuple[str, ...] = ()
"""No program of a script is read by its name alone."""

PLACES = KEYS
"""The keys whose content is all in the Problem that a file states."""


def recognises(root: Mapping) -> bool:
    """Has it `components:` at its top level?"""
    return root.get("components") is not None
