"""A component in one range around given ranks: every range that it may have is tried."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer

TIMED = """
cluster: 2x4xH100
components:
  judge: {placement: "RANKS", seconds: {1: 5, 2: 3}, within: actor}
  actor: {accelerators: LEAST-6, contiguous: true, seconds: {2: 40, 4: 20, 6: 14}}
  rollout: {accelerators: 2-8, parallel: {tp: 2}, seconds: {2: 30, 4: 16}, disjoint_from: actor}
plan: {cost_model: steady, nested: true}
"""


def solved(folder: Path, ranks: str, least: int) -> Answer:
    file = folder / "job.yaml"
    file.write_text(TIMED.replace("RANKS", ranks).replace("LEAST", str(least)), encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("ranks", ["0", "3", "5", "2,4"])
def test_the_best_range_is_planned(ranks: str, tmp_path: Path) -> None:
    """Four of each: 20 seconds of the actor with those of the judge inside it, and 16 of rollout beside; six of the actor leave it 30."""
    answer = solved(tmp_path, ranks, 2)
    assert answer.planned is not None and answer.planned.proved and answer.plan is not None
    its = sorted(node * 4 + index for node, index in answer.plan.assignment.accelerators("actor"))
    assert its == list(range(its[0], its[0] + 4)) and {int(rank) for rank in ranks.split(",")} <= set(its)
    assert answer.planned.best.nanoseconds == (23 if "," in ranks else 25) * 10**9


def test_no_range_holds_ranks_that_are_too_far_apart(tmp_path: Path) -> None:
    assert solved(tmp_path, "0,6", 2).verdict == IMPOSSIBLE
