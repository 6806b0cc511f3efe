"""What is tried where nothing is possible is searched no longer than the problem itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.solver.planning import plan
from placewright.solver.planning.loop.rounds import Rounds

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

    class Recorded(Rounds):
        def __init__(self, *args: Any, **named: Any) -> None:
            limits.append(args[3])
            super().__init__(*args, **named)

    monkeypatch.setattr(plan, "Rounds", Recorded)
    (tmp_path / "hints.yaml").write_text(FILE, encoding="utf-8")
    answer = pw.solve(str(tmp_path / "hints.yaml"), limit=limit, sandbox=False)
    assert answer.plan is None
    assert len(limits) > 1 and max(limits) <= limit
