"""What is decided: how many units of a counted bundle are in a cell, and where a contiguous one begins."""

from __future__ import annotations

from ...models.record import dataclass
from .bundle import Bundle
from .cell import Cell


@dataclass(frozen=True)
class Count:
    """A decision: how many units of a bundle are in a cell."""

    bundle: Bundle
    cell: Cell


Values = dict[object, object]
"""Decision -> value. Keys are Counts (value: units) and contiguous Bundles (value: (first resource rank, units))."""
