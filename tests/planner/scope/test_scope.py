"""The scope of a plan: what a file may widen, and what a proof then leaves out."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.planning.planned import PlanningResult
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render

JOB = """
cluster: 1x4xH100+1x4xA100
components:
  rollout: {parallel: {tp: 2}, seconds: {H100: {2: 60, 4: 40}, A100: {2: 90, 4: 50}}}
  actor: {seconds: {2: 60, 4: 40}}
plan: {cost_model: steady, KEY}
"""


def planned(folder: Path, key: str) -> PlanningResult:
    """The plan of the job with this key in `plan`."""
    (folder / "job.yaml").write_text(JOB.replace("KEY", key), encoding="utf-8")
    found = pw.solve(folder / "job.yaml", sandbox=False).planned
    assert found is not None and found.proved
    return found


@pytest.mark.parametrize(
    ("key", "left_out"),
    [
        ("scope: []", ("spanning", "heterogeneous", "nested")),
        ("scope: spanning", ("heterogeneous", "nested")),
        ("scope: [heterogeneous]", ("spanning", "nested")),
        ("nested: true", ("spanning", "heterogeneous")),
        ("nested: false", ("spanning", "heterogeneous")),
        ("scope: [nested, heterogeneous, spanning]", ()),
    ],
)
def test_a_proof_leaves_out_what_the_file_does_not_widen(key: str, left_out: tuple[str, ...], tmp_path: Path) -> None:
    assert planned(tmp_path, key).question.scope.left_out == left_out


def test_nested_is_another_spelling_of_the_scope(tmp_path: Path) -> None:
    one, other = planned(tmp_path, "nested: true"), planned(tmp_path, "scope: nested")
    assert (one.question, one.best) == (other.question, other.best)


def test_the_verdict_says_the_scope_in_one_clause(tmp_path: Path) -> None:
    planned(tmp_path, "scope: []")
    account = pw.account(tmp_path / "job.yaml", sandbox=False, searches=0)
    assert account is not None
    clause = "proved the best with each tp group on one node, one accelerator model a component and accelerators shared whole"
    assert clause in render(account)[0]
    assert to_data(account)["left_out_of_scope"] == ["spanning", "heterogeneous", "nested"]
