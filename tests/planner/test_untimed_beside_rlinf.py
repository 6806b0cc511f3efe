"""RLinf's own cost models ask for one structure of what has times; a component without times is on accelerators of its own beside it."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

COMPONENTS = """cluster: 1x4xH100
components:
  rollout: {accelerators: 2, seconds: {2: 50}}
  critic: {accelerators: 1}
  actor: {accelerators: 2, seconds: {2: 50}}
  reward: {accelerators: 2, seconds: {2: 20}}
"""


@pytest.mark.parametrize("model", ["rlinf", "rlinf-embodied"])
def test_all_that_has_times_is_together_beside_what_has_none(model: str, tmp_path: Path) -> None:
    """Only together have they room: four accelerators, and one of them is the critic's."""
    file = tmp_path / "job.yaml"
    file.write_text(f"{COMPONENTS}plan: {{cost_model: {model}, workflow: [rollout -> reward => actor]}}\n", encoding="utf-8")
    planned = pw.solve(str(file), sandbox=False).planned
    assert planned is not None and planned.proved
    assert planned.best.nanoseconds == 120 * 10**9
    assert {frozenset(block.components) for block in planned.best.design.blocks} == {
        frozenset({"rollout", "actor", "reward"}),
        frozenset({"critic"}),
    }
