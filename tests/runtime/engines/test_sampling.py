"""The choice of a token: the likeliest, or drawn by its probability, the same for the same seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from placewright.runtime.engines.engine import Sampling

from .transformer import choose

LOGITS = st.lists(st.floats(-5, 5), min_size=1, max_size=8).map(np.array)


@given(LOGITS, st.integers(0, 2**32 - 1))
def test_greedy_takes_the_first_of_the_likeliest(logits: np.ndarray, seed: int) -> None:
    chosen = choose(logits, Sampling(1), np.random.default_rng(seed))
    assert logits[chosen] == max(logits)
    assert all(logits[:chosen] < logits[chosen])


@given(LOGITS, st.floats(0.01, 2), st.floats(0.01, 1), st.integers(0, 2**32 - 1))
def test_a_draw_is_among_the_fewest_that_reach_top_p(logits: np.ndarray, temperature: float, top_p: float, seed: int) -> None:
    sampling = Sampling(1, temperature, top_p, seed)
    chosen = choose(logits, sampling, np.random.default_rng(seed))
    assert chosen == choose(logits, sampling, np.random.default_rng(seed))
    weights = np.exp((logits - logits.max()) / temperature)
    likelier = weights[weights > weights[chosen]].sum() / weights.sum()
    assert likelier < top_p + 1e-12


def test_draws_follow_the_probabilities() -> None:
    logits, draws = np.log(np.array([0.5, 0.3, 0.2])), np.random.default_rng(0)
    counts = np.bincount([choose(logits, Sampling(1, 1.0), draws) for _ in range(4000)], minlength=3)
    assert np.abs(counts / 4000 - [0.5, 0.3, 0.2]).max() < 0.03
    halves = np.bincount([choose(logits, Sampling(1, 1.0, 0.5), draws) for _ in range(100)], minlength=3)
    assert list(halves) == [100, 0, 0]
