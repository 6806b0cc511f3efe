"""Choice of the next token."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import Sampling


def choose(logits: Any, sampling: Sampling, draws: Any) -> int:
    """Return the index of the next token, drawn with the Generator `draws`.

    At temperature 0: the likeliest, the first among equals.
    """
    if sampling.temperature == 0:
        return int(np.argmax(logits))
    weights = np.exp((logits - logits.max()) / sampling.temperature)
    order = np.argsort(-weights, kind="stable")
    total = np.cumsum(weights[order]) / weights.sum()
    candidates = int(np.searchsorted(total, sampling.top_p)) + 1  # the fewest whose probabilities reach top_p
    return int(order[np.searchsorted(total[:candidates], draws.random() * total[min(candidates, len(total)) - 1], side="right")])
