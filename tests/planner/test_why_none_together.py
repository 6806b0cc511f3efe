"""Demands that cannot hold together: the fewest, each with its line, and no more than is proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.findings.finding import Finding
from placewright.planner.search.found import SearchOutcome
from placewright.planner.search.search import search
from placewright.planner.why import conflict
from placewright.planner.why import conflict as changes
from placewright.solver.refuting.impossible import OPEN

TWO = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {8: 100}}
  b: {accelerators: 8, seconds: {8: 100}, disjoint_from: a}
  c: {accelerators: 4, seconds: {8: 100}, colocate_with: a}
"""


def reason(folder: Path, text: str) -> Finding:
    """Why a job has no plan."""
    (folder / "plan.yaml").write_text(text)
    (found,) = pw.solve(folder / "plan.yaml", sandbox=False).findings
    return found


def test_of_several_conflicts_one_is_told_with_its_lines(tmp_path: Path) -> None:
    found = reason(tmp_path, TWO)
    assert found.message == "impossible: at least 12 accelerators are needed at the same time, there are 8: a on 8, c on 4"
    assert found.witnesses == (12, 8) and found.span is not None and found.span.line == 3
    assert found.notes[:2] == (
        "line 3: a asks for 8 accelerators (the cluster has 8)",
        "line 5: c asks for 4 accelerators (the cluster has 8)",
    )


def test_what_both_components_say_is_dropped_by_one_change(tmp_path: Path) -> None:
    found = reason(tmp_path, TWO.replace("c: {accelerators: 4,", "c: {"))
    assert "drop `disjoint_from: a` of b" in found.help and "add 1 node with 8 H100" in found.help


def test_a_count_that_rules_everything_out_beside_a_budget_is_told(tmp_path: Path) -> None:
    text = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {4: 100, 8: 100}}
  b: {accelerators: 1-8, seconds: {4: 30, 8: 100}, scaling: table, disjoint_from: a}
plan: {workflow: a -> b, budget: {seconds: 150, accelerators: 8}}
"""
    found = reason(tmp_path, text)
    assert found.message == "impossible: an iteration takes at least 200 seconds, 150 are allowed"
    assert "line 3: a asks for 8 accelerators (the cluster has 8)" in found.notes
    assert found.help == "ask for 4 instead of 8 for a"
    (tmp_path / "plan.yaml").write_text(text.replace("accelerators: 8, seconds: {4", "accelerators: 4, seconds: {4"))  # as the help says
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


def test_of_several_that_share_nothing_those_are_named_that_help_alone(tmp_path: Path) -> None:
    """`rollout` is too wide to share with either of the others; `reward` and `actor` may be on the same two."""
    text = """\
cluster: 2x8xH100
components:
  rollout: {seconds: {8: 80}, accelerators: 12, disjoint_from: [actor]}
  actor: {seconds: {8: 90}, accelerators: 2-3}
  reward: {seconds: {8: 9}, accelerators: 2-3, disjoint_from: [rollout, actor]}
plan: {workflow: rollout -> reward -> actor, batches: 20, budget: {accelerators: 14}}
"""
    found = reason(tmp_path, text)
    assert found.message == "impossible: at least 16 accelerators are needed, 14 may be used"
    assert found.help == "allow `accelerators: 16`; or ask for 10 instead of 12 for rollout; or drop `disjoint_from: actor` of reward"
    assert "line 5: reward shares no accelerator with actor" in found.notes


def test_where_both_budgets_are_short_it_is_told_what_both_have_to_be(tmp_path: Path) -> None:
    """Eight accelerators for tp 8, and on these 170 seconds: each of both budgets is too small whatever the other one is."""
    text = """\
cluster: 1x8xH100
components:
  rollout: {seconds: {8: 80}, parallel: {tp: 2}}
  actor: {seconds: {8: 90}, parallel: {tp: 8}}
plan: {workflow: rollout => actor, budget: {seconds: 150, accelerators: 6}}
"""
    found = reason(tmp_path, text)
    assert found.message == "impossible: an iteration takes at least 170 seconds, 150 are allowed"
    assert found.help == "allow `seconds: 170` and `accelerators: 8`"
    (tmp_path / "plan.yaml").write_text(text.replace("150", "170").replace("accelerators: 6", "accelerators: 8"))  # as the help says
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


@pytest.mark.parametrize(
    ("first", "second", "message", "at", "other"),
    [
        ("colocate_with: actor", "disjoint_from: rollout", "`rollout` and `actor` are to be on the same accelerators", "rollout", "actor"),
        ("within: actor, disjoint_from: [actor]", "role: actor", "`rollout` is to be within `actor`", "actor", "actor"),
    ],
)
def test_relations_that_cannot_both_be_are_pointed_at(first: str, second: str, message: str, at: str, other: str, tmp_path: Path) -> None:
    """Nothing is said of letting them share, or be on others: that is what was written."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{seconds: {{8: 55}}, {first}}}\n  actor: {{seconds: {{8: 60}}, {second}}}\n"
    found = reason(tmp_path, text)
    assert found.message == f"impossible: {message}, and they are to share none"
    assert found.help == "drop one of the two demands" and found.span and found.origin
    assert text[found.span.start : found.span.end] == at and text[found.origin.start : found.origin.end] == other


AT_ONCE = """\
cluster: 2x8xH100
components:
  a: {accelerators: 10-16, seconds: {8: 55}, memory: 10GiB}
  b: {accelerators: 8-16, seconds: {8: 60}, memory: 70GiB}
plan: {budget: {accelerators: 2}}
"""


@pytest.mark.parametrize(("text", "message"), [(TWO, "all demands together"), (AT_ONCE, "at least 10 accelerators are needed")])
def test_what_no_search_proves_is_not_called_minimal(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that find what there is, and prove little; the first one, by which the question is impossible, is another."""

    def unsure(*given: Any, **options: Any) -> SearchOutcome:
        return replace(search(*given, **options), bound=3, proved=False)

    proved = reason(tmp_path, text)
    assert OPEN not in proved.notes
    monkeypatch.setattr(changes, "search", unsure)
    monkeypatch.setattr(conflict, "search", unsure)
    found = reason(tmp_path, text)
    assert OPEN in found.notes and not any(note.startswith("line ") for note in found.notes)
    assert "10 accelerators" not in found.message
