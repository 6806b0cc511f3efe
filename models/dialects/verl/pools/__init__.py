"""The pools that each program of verl makes."""

from __future__ import annotations

from .declared import FIT, Declared
from .programs import pools_of

__all__ = ["FIT", "Declared", "pools_of"]
