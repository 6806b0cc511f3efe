"""Every cut: a row that the solver could do without, and is faster with."""

from __future__ import annotations

from .cut import Cut
from .domains_of_subsets import DomainsOfSubsets
from .room_by_size import RoomBySize

CUTS: tuple[Cut, ...] = (DomainsOfSubsets(), RoomBySize())
