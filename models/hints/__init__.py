"""What a user says about a component instead of its ranks: how much, how parallel, how much memory, with whom."""

from __future__ import annotations

from .add import add_hints
from .block import add_block

__all__ = ["add_block", "add_hints"]
