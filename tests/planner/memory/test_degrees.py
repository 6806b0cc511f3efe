"""Of the degrees that are open, planning takes those that divide the model, as far as that is proved."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.model_cards.card import read_model_config
from placewright.models.resolving import with_models
from placewright.planner.capacity import free_capacity
from placewright.planner.profile import options

JOB = """
cluster: 1x8xH100
components:
  rollout: {{accelerators: 1-8, parallel: {{tp: [1, 2, 3, 4, 5, 6, 7, 8]}}, seconds: {{8: 120}}, estimate: {{{estimate}}}}}
plan: {{}}
"""


def sizes(file: Path, config: Path | None = None) -> set[int]:
    """The tensor parallel sizes that planning chooses from."""
    reading = pw.load(file)
    if config is not None:
        reading = with_models(reading, read_model_config(config))
    assert reading.problem is not None and reading.problem.job.planning.workload is not None, reading.findings
    problem, rollout = reading.problem, reading.problem["rollout"]
    return {option.parallel.tp for option in options(problem, rollout, rollout.timed, free_capacity(problem, ()), 1)}


@pytest.mark.parametrize(
    ("estimate", "legal"),
    [
        ("parameters: 7B, heads: 28", {1, 2, 4, 7}), ("model: Qwen/Qwen2.5-7B", {1, 2, 4}), ("parameters: 7B, heads: 32, kv_heads: 2", {1, 2, 4, 8}),
        ("parameters: 7B", {1, 2, 3, 4, 5, 6, 7, 8}), ("model: Qwen/Qwen2.5-7B, heads: 24, kv_heads: 24", {1, 2, 3, 4, 6, 8}),
        ("model: /models/Qwen2.5-7B", {1, 2, 3, 4, 5, 6, 7, 8}),
    ],
)  # fmt: skip
def test_heads_divide(estimate: str, legal: set[int], tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.format(estimate=estimate))
    assert sizes(tmp_path / "job.yaml") == legal


def test_a_configuration_of_the_model_that_is_named_says_it_too(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.format(estimate="parameters: 7B"))
    (tmp_path / "config.json").write_text('{"num_attention_heads": 28, "num_key_value_heads": 28, "num_hidden_layers": 28}')
    assert sizes(tmp_path / "job.yaml", tmp_path / "config.json") == {1, 2, 4, 7}
