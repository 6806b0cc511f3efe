"""The RLinf dialect: reading and writing the `cluster` section of an RLinf configuration."""

from __future__ import annotations

from .read import NAME, read, recognises
from .write import write

__all__ = ["NAME", "read", "recognises", "write"]
