"""The account of a plan as text."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.report.planning.text import render

STEADY = """
cluster: 1x4xH100
components:
  rollout: {accelerators: 4, seconds: {4: 60}, phase: generate}
  actor: {accelerators: 4, seconds: {infer: {4: 10}, train: {4: 30}}, colocate_with: rollout}
plan: {workflow: rollout -> actor.infer => actor.train, cost_model: steady}
"""


def test_two_turns_of_a_component_in_one_part_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(STEADY)
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None
    assert "rollout 60 %, actor.infer 10 %, actor.train 30 %" in "\n".join(render(account))
