"""Estimates against what training took of an accelerator: peaks of one process on one H200, two steps of one micro batch each.

The rows stand in ``../shared/corpus/memory``; docs/memory.md has the table.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from placewright.models.component import Component
from placewright.models.estimate import ADAM, ADAM_16, FSDP, NONE, WHOLE, MemoryInput
from placewright.models.memory.estimate import estimate_memory
from placewright.models.memory.terms import MEBIBYTE, EstimatedTotal
from placewright.models.model_cards.known import known_model
from placewright.models.parallel import UNDIVIDED

FOLDER = Path(__file__).parents[3] / "shared" / "corpus" / "memory"
ROWS = [json.loads(line) for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text().splitlines() if line]
TRAINED = {"fsdp": (FSDP, ADAM), "bf16": (NONE, ADAM_16)}
"""Precision of a row -> sharding and optimizer: all states in 32 bits, or in 16."""

pytestmark = pytest.mark.skipif(not ROWS, reason="the corpus is not beside the checkout")


def of(row: dict[str, Any]) -> EstimatedTotal:
    """The estimate of a measured run."""
    sharding, optimizer = TRAINED[row["precision"]]
    estimate = MemoryInput(
        row["model"], sequence=row["sequence"], micro_batch=row["micro_batch"], micro_batches=1, recompute=row["recompute"],
        sharding=sharding, optimizer=optimizer, logits=WHOLE,
    )  # fmt: skip
    found = estimate_memory(Component("actor", estimate=estimate), known_model(row["model"]), UNDIVIDED, 1)
    assert found is not None
    return found


def test_the_interval_holds_every_measured_peak() -> None:
    for row in ROWS:
        found = of(row)
        assert found.low <= row["peak"] / MEBIBYTE <= found.high, row


def test_the_likely_is_near_eight_of_ten_peaks() -> None:
    """A peak counts tensors alone, to which the likely adds context and allocator: it may err on that side only a little."""
    near = [abs(of(row).mebibytes * MEBIBYTE / row["peak"] - 1) <= 0.1 for row in ROWS]
    assert 10 * sum(near) >= 8 * len(near)


def test_what_stays_between_steps_is_near_what_was_left() -> None:
    """`resident` is weights and the optimizer; the estimate's context is beside the tensors that were counted."""
    for row in ROWS:
        staying = sum(term.size for term in of(row).kept_terms if not term.fixed)
        assert staying == pytest.approx(row["resident"], rel=0.03)
