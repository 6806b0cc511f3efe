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


def test_one_accelerator_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("cluster: 1x1xH100\ncomponents:\n  actor: {seconds: {1: 9}}\n")
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None
    said = "\n".join(render(account))
    assert "9 seconds an iteration, 1 accelerator, " in said
    assert "\nthe accelerator works 100 % of the time" in said
