"""Registry of cuts: rows for speed, not needed for correctness."""

from __future__ import annotations

from .cut import Cut
from .domains_of_subsets import DomainsOfSubsets
from .room_by_size import RoomBySize

CUTS: tuple[Cut, ...] = (DomainsOfSubsets(), RoomBySize())
