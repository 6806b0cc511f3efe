"""What is within a given component shares with that one, and with no other given one that lies there too."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer

PARTS = """
cluster: 1x2xH100+1x3xH100
components:
  inner: {placement: "0", within: outer}
  outer: {placement: "0-3"}
  open: {accelerators: COUNT, within: outer}
"""


def solved(folder: Path, count: int, more: str = "") -> Answer:
    file = folder / "job.yaml"
    file.write_text(PARTS.replace("COUNT", str(count)) + more, encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_it_is_beside_the_other(count: int, tmp_path: Path) -> None:
    plan = solved(tmp_path, count).plan
    assert plan is not None and (0, 0) not in plan.assignment.accelerators("open")


def test_there_is_no_more_room_than_the_other_leaves(tmp_path: Path) -> None:
    assert solved(tmp_path, 4).verdict == IMPOSSIBLE


def test_what_is_within_both_shares_with_both(tmp_path: Path) -> None:
    plan = solved(tmp_path, 3, "  small: {accelerators: 1, within: inner}\n").plan
    assert plan is not None and set(plan.assignment.accelerators("small")) == {(0, 0)}
