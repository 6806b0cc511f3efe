"""How much of a configuration is judged."""

from __future__ import annotations

PLACEMENT, TRAINING = LEVELS = ("placement", "training")
"""Where things are, or the arithmetic of the batches as well."""
DEFAULT_LEVEL = TRAINING
"""Level that is judged unless another one is named."""
