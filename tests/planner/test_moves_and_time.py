"""Where traffic counts as time, groups of a plan that runs stay where an iteration takes no longer so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.placements.moves import Moves
from placewright.report.moves import summary, to_data

FIRST = """
cluster: {nodes: [{repeat: 3, accelerators: {count: 2, model: H100}}]}
components:
  actor: {accelerators: 2, traffic: 50MiB, seconds: {2: 17}}
  rollout: {accelerators: 2, traffic: 5MiB}
plan: {bandwidth: {node: 10MiB}}
"""
LINKED = f"{FIRST}links: [{{from: actor, to: rollout, weights: 400MiB}}]\n"
"""Weights need not cross nodes where both components are on the same two: 5.5 seconds of collectives instead of 40 of weights."""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return tmp_path / "job.yaml"


def replanned(job: Path, **options: object) -> tuple[pw.Answer, Moves]:
    job.write_text(FIRST, encoding="utf-8")
    before = pw.solve(job, sandbox=False).plan
    assert before is not None
    job.write_text(LINKED, encoding="utf-8")
    answer, moves = pw.replan(job, before, trade=True, sandbox=False, **options)  # type: ignore[arg-type]
    assert moves is not None
    return answer, moves


def test_groups_move_where_an_iteration_takes_less_so(job: Path) -> None:
    """What stayed took 57 seconds and was called the best; 22.5 are possible, for which two groups move."""
    answer, moves = replanned(job)
    planned = answer.planned
    assert planned is not None and planned.proved
    assert planned.price[0] == 22_500_000_000
    assert (moves.moved, moves.proved, moves.traffic_first, moves.no_trade) == (2, True, True, True)
    assert "moved 2 more (proved fewest without more traffic)" in summary(moves)
    assert to_data(moves)["traffic_first"]
    assert "traffic" not in summary(replace(moves, traffic_first=False))


def test_groups_that_can_stay_at_the_same_time_do(job: Path) -> None:
    job.write_text(LINKED, encoding="utf-8")
    before = pw.solve(job, sandbox=False).plan
    assert before is not None
    answer, moves = pw.replan(job, before, [before.placements("actor")[0].node_id], sandbox=False)
    assert answer.planned is not None and answer.planned.price[0] == 22_500_000_000
    assert moves is not None
    assert (moves.lost, moves.moved, moves.kept) == (2, 0, 2)
