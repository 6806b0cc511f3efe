"""Levels of judgement: placement alone, or batch arithmetic as well."""

from __future__ import annotations

PLACEMENT, TRAINING = LEVELS = ("placement", "training")
"""Levels: `placement` alone, or `training` with the arithmetic of batches."""
DEFAULT_LEVEL = TRAINING
"""Default level."""
