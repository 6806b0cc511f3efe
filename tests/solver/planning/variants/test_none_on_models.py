"""Where nothing is possible on any models, what helps is tried on several models at once too."""

from __future__ import annotations

from pathlib import Path

import placewright as pw

FILE = """
cluster:
  nodes:
    - accelerators: {count: 3, model: H100}
    - accelerators: {count: 1, model: A100}
components:
  rollout:
    accelerators: 4
    seconds:
      - {accelerators: 4, seconds: 20, accelerator: H100}
      - {accelerators: 4, seconds: 30, accelerator: A100}
  reward:
    accelerators: 2
    seconds: [{accelerators: 2, seconds: 7, accelerator: H100}, {accelerators: 2, seconds: 70, accelerator: A100}]
plan: {cost_model: stream, OPTIONS}
"""


def _help(path: Path, options: str) -> str:
    path.write_text(FILE.replace("OPTIONS", options), encoding="utf-8")
    answer = pw.solve(str(path), sandbox=False)
    assert answer.verdict == "impossible"
    return answer.findings[0].help


def test_nesting_that_helps_on_several_models_alone_is_told(tmp_path: Path) -> None:
    assert "write `nested: true` in `plan`" in _help(tmp_path / "hints.yaml", "batches: 1")


def test_the_time_that_helps_on_several_models_alone_is_told(tmp_path: Path) -> None:
    assert "allow `seconds: 37`" in _help(tmp_path / "hints.yaml", "batches: 1, nested: true, budget: {seconds: 30}")
