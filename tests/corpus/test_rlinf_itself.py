"""RLinf itself as the oracle: the verdict and every Placement, on random configurations and on its own.

Runs where the environment variable PLACEWRIGHT_RLINF names a checkout of RLinf, with omegaconf (and, for its own files, hydra).
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from against_rlinf.comparison import asked
from against_rlinf.configurations import Dice
from against_rlinf.corpus import FILES, judged
from against_rlinf.differences import REASONS, reason_of
from against_rlinf.jobs import JOBS
from sampling import examples

CHECKOUT = os.environ.get("PLACEWRIGHT_RLINF", "")
pytestmark = [
    pytest.mark.skipif(not CHECKOUT, reason="PLACEWRIGHT_RLINF names no checkout of RLinf"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]

SAMPLE = examples(1500)
"""How many configurations of each kind are compared; the more, the rarer the difference that is found."""

SEED = 2026


@pytest.mark.parametrize("kind", JOBS)
def test_random_configurations_are_judged_and_placed_as_rlinf_does(kind: str) -> None:
    pytest.importorskip("omegaconf", reason="omegaconf, which RLinf is written with, is not installed")
    dice, counts = Dice(SEED), Counter[str]()
    wrong = []
    for answers in asked(CHECKOUT, (JOBS[kind](dice) for _ in range(SAMPLE))):
        reason = reason_of(answers)
        counts[("refused" if answers.theirs is None else "placed") if reason == "" else f"on purpose: {reason}"] += 1
        if reason is None:
            wrong.append(f"{answers.stage}: {answers.error or 'accepted'}; ours: {answers.codes or 'accepted'}\n{answers.question.text}")
    print(f"\n{kind}: {dict(counts)}")
    assert not wrong, "\n".join([f"{len(wrong)} of {SAMPLE} differ", *sorted(wrong, key=len)[:3]])
    assert counts["placed"] > SAMPLE / 8
    assert counts["refused"] > SAMPLE / 8
    assert sum(counts[f"on purpose: {name}"] for name in REASONS) < SAMPLE / 10


LATER = {"qwen2.5-1.5b-grpo-megatron-pipeline.yaml": ("PW403",)}
"""Refused by RLinf only in a worker, which is not run here: its megatron actor asserts that samples divide among replicas."""


@pytest.mark.skipif(not FILES, reason="the corpus is not beside the repository")
@pytest.mark.parametrize("level", ["placement", "training"])
def test_every_error_in_a_file_of_rlinf_is_one_that_rlinf_raises(level: str) -> None:
    pytest.importorskip("hydra", reason="hydra-core, which composes RLinf's files, is not installed")
    counts: Counter[str] = Counter()
    alarms = {}
    for name, codes, refusal, placement in judged(CHECKOUT, level):
        counts[f"{'refused' if codes else 'accepted'}, by RLinf {'refused' if refusal else 'accepted'}"] += 1
        if codes and not refusal and LATER.get(name) != codes:
            alarms[name] = codes
        assert codes or not placement, f"{name}: RLinf cannot place it: {placement}"
    print(f"\n{level}: {dict(counts)}")
    assert not alarms
    assert sum(counts.values()) == 366
