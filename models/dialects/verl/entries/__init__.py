"""The programs of verl: what each of them starts, on which pools."""

from __future__ import annotations

from .entry import Entry, Kind
from .which import entry_of

__all__ = ["Entry", "Kind", "entry_of"]
