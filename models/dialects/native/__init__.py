"""placewright's own files: `cluster:` and `components:`."""

from __future__ import annotations

from ...text.tree import Mapping
from .read import NAME, read
from .write import write

__all__ = ["NAME", "read", "recognises", "write"]


def recognises(root: Mapping) -> bool:
    """Has it `components:` at its top level?"""
    return root.get("components") is not None
