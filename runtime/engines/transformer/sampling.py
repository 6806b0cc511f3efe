"""The choice of the next token."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import Sampling


def choose(logits: Any, sampling: Sampling, draws: Any) -> int:
    """The index of the next token: the likeliest at temperature 0, the first of equals; else drawn with `draws`, a Generator."""
    if sampling.temperature == 0:
        return int(np.argmax(logits))
    weights = np.exp((logits - logits.max()) / sampling.temperature)
    order = np.argsort(-weights, kind="stable")
    total = np.cumsum(weights[order]) / weights.sum()
    kept = int(np.searchsorted(total, sampling.top_p)) + 1  # the fewest whose probabilities reach top_p
    return int(order[np.searchsorted(total[:kept], draws.random() * total[min(kept, len(total)) - 1], side="right")])
