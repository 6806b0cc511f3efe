"""How many workers are read."""

from __future__ import annotations

MAX_WORKERS = 1 << 20
"""The most of one role; an own limit, no job is near it."""
