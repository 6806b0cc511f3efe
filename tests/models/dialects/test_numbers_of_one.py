"""One of a thing is told in the singular, in the formulas of a batch too."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.dialects.load import load, load_settings
from placewright.models.machines.shorthand import read_shorthand

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(("prompts", "formula"), [(1, "1 prompt x 8 of a group"), (4, "4 prompts x 8 of a group")])
def test_of_rlinf(prompts: int, formula: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "rlinf" / "reasoning.yaml").read_text()
    (tmp_path / "train.yaml").write_text(text.replace("rollout_batch_size: 256", f"rollout_batch_size: {prompts}"))
    reading = load(tmp_path / "train.yaml", read_shorthand("2x8xH100"), level="training")
    assert formula in [each.formula for each in reading.derivations]


@pytest.mark.parametrize(("prompts", "each", "formula"), [(1, 1, "1 prompt x 1 sample of each"), (2, 4, "2 prompts x 4 samples of each")])
def test_of_verl(prompts: int, each: int, formula: str) -> None:
    settings = [f"data.train_batch_size={prompts}", f"actor_rollout_ref.rollout.n={each}", "trainer.n_gpus_per_node=1", "trainer.nnodes=1"]
    reading = load_settings(settings, dialect="verl", level="training")
    assert formula in [each.formula for each in reading.derivations]
