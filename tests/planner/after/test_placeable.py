"""Sensitivity and placements: a design without a placement is no other plan, whatever a component takes."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.planner.sensitivity import sensitivity

RACKS = """
cluster:
  nodes:
    - {repeat: 2, accelerators: {count: 8, model: H100}, topology: {rack: a}}
    - {repeat: 2, accelerators: {count: 8, model: H100}, topology: {rack: b}}
components:
  rollout: {parallel: {tp: 4}, seconds: {8: 120, 16: 66, 32: 40}}
  actor: {parallel: {tp: 8}, seconds: {8: 95, 16: 52, 32: 30}, keep: {component: rack}}
plan: {workflow: rollout -> actor, batches: 16}
"""


def test_no_flip_leads_to_what_no_placement_has(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(RACKS)
    problem = pw.load(tmp_path / "train.yaml").problem
    planned = pw.solve(tmp_path / "train.yaml", sandbox=False).planned
    assert problem is not None
    assert planned is not None
    account = pw.account(tmp_path / "train.yaml", sandbox=False, searches=200)
    assert account.sensitivity is not None and account.sensitivity.flips
    flips = {(flip.component, flip.flips > flip.holds): flip for flip in account.sensitivity.flips}
    for flip in flips.values():
        assert flip.to is not None and flip.placed
        assert flip.to.design.options["actor"].amount <= 16
    blind = sensitivity(planned)
    sooner = {(flip.component, flip.flips > flip.holds): flip for flip in blind.flips}
    assert any(each.to is not None and each.to.design.options["actor"].amount > 16 for each in sooner.values())
    for way, flip in flips.items():
        assert abs(flip.flips - 100) >= abs(sooner[way].flips - 100)


def test_designs_that_cannot_be_placed_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(RACKS)
    problem = pw.load(tmp_path / "train.yaml").problem
    planned = pw.solve(tmp_path / "train.yaml", sandbox=False).planned
    assert problem is not None
    assert planned is not None
    found = sensitivity(planned, solve=lambda part: Answer(IMPOSSIBLE))
    assert not found.flips


def test_of_what_nobody_placed_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(RACKS)
    problem = pw.load(tmp_path / "train.yaml").problem
    planned = pw.solve(tmp_path / "train.yaml", sandbox=False).planned
    assert problem is not None
    assert planned is not None
    found = sensitivity(planned, solve=lambda part: Answer(UNDECIDED))
    assert found.flips and not any(flip.placed for flip in found.flips)
