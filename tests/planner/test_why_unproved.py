"""Why there is no design, where searches for what would help end before they prove anything: no more is said than they know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.planning.question import Question
from placewright.planner.costs.cost_model import CostModel
from placewright.planner.search.search import Searched, search
from placewright.planner.why import changes as tries

TOGETHER = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {8: 100}}
  b: {accelerators: 8, seconds: {8: 100}, disjoint_from: a}
  c: {accelerators: 4, seconds: {8: 100}, colocate_with: a}
"""
AT_ONCE = """\
cluster: 2x8xH100
components:
  a: {accelerators: 10-16, seconds: {8: 55}, memory: 60GiB}
  b: {accelerators: 8-16, seconds: {8: 60}, memory: 70GiB}
"""
SHARING = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {8: 55}, memory: 50GiB}
  b: {accelerators: 8, seconds: {8: 60}, memory: 50GiB, colocate_with: a}
"""


def undecided(question: Question, model: CostModel, limit: float, seed: int) -> Searched:
    """A search that finds what there is, and proves little."""
    return replace(search(question, model, limit, seed), bound=3, proved=False)


@pytest.fixture(autouse=True)
def searches_prove_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "search", undecided)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TOGETHER,
            "giving up one demand was not found to be enough, 2 together would be: `c` has 4 accelerators, and `b` and `a` share none",
        ),
        (
            AT_ONCE + "plan: {workflow: a -> b, batches: 16}\n",
            "18 accelerators at the same time would be enough: a on 10, b on 8; there are 16",
        ),
        (AT_ONCE.replace("60GiB", "10GiB") + "plan: {budget: {accelerators: 2}}\n", "at least 3 accelerators are needed, 2 may be used"),
        (SHARING, "whoever shares accelerators would do with 100 GiB on each of them, there are 80 GiB"),
    ],
)
def test_no_more_is_said_than_is_proved(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == f"impossible: {message}"


def test_few_of_many_pairs_are_told() -> None:
    pairs = [(f"a{number}", f"b{number}") for number in range(9)]
    assert named(frozenset(pairs[:2])) == "`a0` and `b0`, `a1` and `b1`"
    assert named(frozenset(pairs[:4])).endswith("`a3` and `b3`")
    assert named(frozenset(pairs)) == "`a0` and `b0`, `a1` and `b1`, `a2` and `b2`, 6 more pairs"
