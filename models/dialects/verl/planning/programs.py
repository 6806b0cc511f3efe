"""Which programs make pools whose sizes can be chosen by times."""

from __future__ import annotations

from ..entries import Entry, Kind

PLANNED = (Kind.HYBRID, Kind.SEPARATE, Kind.GENERATION)
"""Programs each of whose pools has a size of its own, in two keys."""


def is_planned(entry: Entry) -> bool:
    """Does the program make pools whose sizes can be chosen one by one?"""
    return entry.kind in PLANNED
