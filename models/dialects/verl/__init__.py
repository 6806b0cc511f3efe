"""The verl dialect: reading and writing the configurations, command lines and pools of verl."""

from __future__ import annotations

from .read import NAME, read
from .recognise import recognises
from .writing.write import write

__all__ = ["NAME", "PROGRAMS", "read", "recognises", "write"]

PROGRAMS: tuple[str, ...] = ("verl.", "recipe.")
"""The modules of verl and of verl-recipe."""
