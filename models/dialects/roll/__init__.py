"""The ROLL dialect: reading and writing the roles of a ROLL configuration and their `device_mapping`."""

from __future__ import annotations

from .read import NAME, read
from .recognise import recognises

__all__ = ["NAME", "PROGRAMS", "read", "recognises"]

PROGRAMS: tuple[str, ...] = ()
"""No program of a script is read by its name alone."""
