"""Registry of advice: legal placements that are probably not intended."""

from __future__ import annotations

from .advice import Advice
from .estimated_memory import EstimatedMemory
from .idle_accelerators import IdleAccelerators
from .partial_overlap import PartialOverlap

ADVICE: tuple[Advice, ...] = (IdleAccelerators(), PartialOverlap(), EstimatedMemory())
