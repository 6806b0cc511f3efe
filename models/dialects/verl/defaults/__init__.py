"""What verl takes where nothing is written, by the name of the configuration that a program begins with."""

from __future__ import annotations

from .tables import KNOWN, Table, table_of

__all__ = ["KNOWN", "Table", "table_of"]
