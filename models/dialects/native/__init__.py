"""Dialect of placewright's own files: `cluster:` and `components:`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..signs import part_of
from .recognise import KEYS, NAME, signs

__all__ = ["NAME", "ONE_POOL", "PLACES", "PROGRAMS", "RELEASES", "signs"]

PROGRAMS: tuple[str, ...] = ()
"""Empty: no program of a script is recognised by name."""

RELEASES: Path | None = None
"""None: a native file has no framework."""

PLACES = KEYS
"""Keys whose content is fully in the Problem of a file."""
ONE_POOL = False
_HOMES = {"file_form": ".form", "read": ".reader", "render": ".rendering", "training_file": ".rendering", "write": ".writing"}


def __getattr__(name: str) -> Any:
    return part_of(__name__, _HOMES, name)
