"""The arithmetic of degrees and batches."""

from __future__ import annotations

from ..setup import Setup


def judge(setup: Setup, level: str) -> None:
    """Adds to a job what its batches and degrees demand; `level` as in `Dialect.read`."""
