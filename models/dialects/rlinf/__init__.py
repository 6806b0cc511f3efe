"""The RLinf dialect: reading and writing the `cluster` section of an RLinf configuration."""

from __future__ import annotations

from .read import NAME, read
from .recognise import recognises
from .writing.write import write

__all__ = ["NAME", "read", "recognises", "write"]
