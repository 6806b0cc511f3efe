"""Every cut: a row that the solver could do without, and is faster with."""

from __future__ import annotations

from .cut import Cut
from .racks_of_subsets import RacksOfSubsets

CUTS: tuple[Cut, ...] = (RacksOfSubsets(),)
