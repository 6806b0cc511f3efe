"""What of a job is planned: pools of whose components the hints say seconds."""

from __future__ import annotations

from ....text.tree import Mapping, Value
from ..entries import Entry, Kind

PLANNED = (Kind.HYBRID, Kind.SEPARATE, Kind.GENERATION)
"""Programs each of whose pools has a size of its own, in two keys."""


def timed_names(block: Value | None) -> frozenset[str]:
    """The components whose hints say seconds."""
    inner = block.get("components") if isinstance(block, Mapping) else None
    entries = inner if isinstance(inner, Mapping) else ()
    return frozenset(each.key.text for each in entries if isinstance(each.value, Mapping) and each.value.get("seconds") is not None)


def is_planned(entry: Entry) -> bool:
    """Does the program make pools whose sizes can be chosen one by one?"""
    return entry.kind in PLANNED
