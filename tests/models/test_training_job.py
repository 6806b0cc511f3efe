"""Batches of a whole file: every rank has equal shares, and an iteration has few updates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.models.findings.finding import UnusableInput
from placewright.models.roles import ACTOR
from placewright.models.training_job import UPDATES, TrainingJob


def job(prompts: int, samples: int, ranks: int, micro: int = 1) -> TrainingJob:
    return TrainingJob("m", "grpo", prompts, samples, 512, 1024, micro, 70, {ACTOR: ranks})


@given(st.integers(1, 400), st.integers(1, 16), st.integers(1, 64), st.integers(1, 4))
def test_mini_batches_divide_prompts_and_ranks_divide_them(prompts: int, samples: int, ranks: int, micro: int) -> None:
    asked = job(prompts, samples, ranks, micro)
    if prompts * samples % (ranks * micro):
        with pytest.raises(UnusableInput):
            _ = asked.mini_batch
        return
    mini = asked.mini_batch
    assert (prompts % mini, mini * samples % (ranks * micro)) == (0, 0)
    larger = [size for size in range(mini + 1, prompts // UPDATES + 1) if prompts % size == 0 and size * samples % (ranks * micro) == 0]
    assert not larger


def test_an_iteration_has_four_updates_where_they_divide() -> None:
    assert job(1024, 8, 32).mini_batch == 256
    assert job(12, 8, 32).mini_batch == 4
    assert job(6, 8, 48).mini_batch == 6


def test_what_does_not_divide_is_refused_with_the_sum() -> None:
    with pytest.raises(UnusableInput) as refused:
        _ = job(1000, 8, 3 * 32).mini_batch
    (finding,) = refused.value.findings
    assert finding.message == "1000 prompts x 8 samples = 8000 sequences do not divide among 96 data parallel ranks with micro batches of 1"
    assert finding.help == "take a multiple of 96 sequences, such as 996 prompts"
