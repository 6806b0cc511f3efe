"""What is tried where nothing is possible is searched no longer than the problem itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.models.planning.design import Design
from placewright.models.problem import Problem
from placewright.planner import benders as trial
from placewright.planner import plan
from placewright.planner.benders import BendersLoop, PlacedDesign

FILE = """
cluster: {nodes: [{accelerators: {count: 4, model: H100}}]}
components:
  rollout: {accelerators: 1-4, parallel: {tp: 1}, seconds: [{accelerators: 1, seconds: 40}]}
  actor: {accelerators: 1-4, parallel: {tp: 1}, seconds: [{accelerators: 1, seconds: 80}]}
plan: {cost_model: stream, budget: {seconds: 10}}
"""


@pytest.mark.parametrize("limit", [0.01, 0.5])
def test_changes_are_searched_no_longer_than_the_problem(limit: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    class Recorded(BendersLoop):
        def __init__(self, *args: Any, **named: Any) -> None:
            limits.append(args[2])
            super().__init__(*args, **named)

    for module in (plan, trial):
        monkeypatch.setattr(module, "BendersLoop", Recorded)
    (tmp_path / "hints.yaml").write_text(FILE, encoding="utf-8")
    answer = pw.solve(str(tmp_path / "hints.yaml"), limit=limit, sandbox=False)
    assert answer.plan is None
    assert len(limits) > 1 and max(limits) <= limit


def test_where_the_time_is_over_nothing_is_searched_beside_what_was_placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With traffic another design may be better in its place: it was looked for eleven times, each as long as listing what is asked takes."""
    placed, search = [], BendersLoop.search

    def recorded(rounds: BendersLoop) -> None:
        placed.append(len(rounds.placed))
        search(rounds)

    monkeypatch.setattr(BendersLoop, "search", recorded)
    (tmp_path / "hints.yaml").write_text(LARGE, encoding="utf-8")
    answer = pw.solve(str(tmp_path / "hints.yaml"), limit=0.001, sandbox=False)
    assert answer.plan is not None and answer.planned is not None and not answer.planned.proved
    assert placed == [0]


def test_alternatives_are_placed_no_longer_than_the_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to eight, and for those that no placement has parts of them, so that others are ruled out too: each may have to be searched."""
    searched: list[object] = []
    attempt, probe = BendersLoop.attempt, BendersLoop._probe

    def placed(rounds: BendersLoop, design: Design, anywhere: bool = False) -> tuple[Answer, PlacedDesign | None]:
        searched.extend([design] * anywhere)
        return attempt(rounds, design, anywhere)

    def probed(rounds: BendersLoop, part: Problem) -> Answer:
        searched.append(part)
        return probe(rounds, part)

    monkeypatch.setattr(BendersLoop, "attempt", placed)
    monkeypatch.setattr(BendersLoop, "_probe", probed)
    (tmp_path / "hints.yaml").write_text(SPREAD, encoding="utf-8")
    answer = pw.solve(str(tmp_path / "hints.yaml"), limit=0.3, sandbox=False)
    assert answer.planned is not None and answer.planned.proved and answer.planned.not_placed
    assert len(searched) <= 0.3 / plan.SEARCHED + 1


SPREAD = """
cluster: 4x8xH100
components:
  rollout: {parallel: {tp: 2}, spread: {level: node, domains: 4, percent: 25}, seconds: {2: 600, 32: 60}}
  actor: {parallel: {tp: 4}, spread: {level: node, domains: 3, percent: 34}, seconds: {4: 500, 32: 80}}
  ref: {spread: {level: node, domains: 3, percent: 40}, seconds: {2: 100, 32: 10}}
  critic: {spread: {level: node, domains: 4, percent: 30}, seconds: {2: 200, 32: 20}}
plan: {workflow: [rollout -> actor, rollout -> ref, rollout -> critic]}
"""
LARGE = """
cluster: 64x8xH100
components:
  rollout: {accelerators: 8-512, parallel: {tp: 8}, seconds: {8: 640, 512: 11}}
  actor: {accelerators: 8-512, parallel: {tp: 8}, traffic: 50GiB, seconds: {8: 1280, 512: 23}}
links: [{from: actor, to: rollout, weights: 140GiB}]
plan: {workflow: [rollout -> actor], bandwidth: {node: 50GiB}}
"""
