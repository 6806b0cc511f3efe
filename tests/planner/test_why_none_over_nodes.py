"""Where no plan keeps to the scope, one wider scope is proposed if a plan was placed in it."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.findings.finding import Finding

THREE = """
cluster: 2x3xA
components:
  actor: {accelerators: ACTOR, parallel: {tp: 2}, seconds: {2: 10}}
  rollout: {accelerators: 2, parallel: {tp: 2}, seconds: {2: 10}}
  critic: {accelerators: 2, parallel: {tp: 2}, seconds: {2: 10}}
RELATIONS
plan: {cost_model: steady}
"""
APART = """relations:
  - {kind: disjoint, components: [actor, rollout]}
  - {kind: disjoint, components: [actor, critic]}
  - {kind: disjoint, components: [rollout, critic]}"""
NESTED = "relations: [{kind: disjoint, components: [actor, critic]}, {kind: disjoint, components: [rollout, critic]}]"
TWO_MODELS = """
cluster: 1x3xH100+1x3xA100
components:
  actor: {accelerators: 4, seconds: {H100: {4: 10}, A100: {4: 12}}}
plan: {cost_model: steady}
"""


def refused(folder: Path, text: str) -> Finding:
    """Why the job has no plan."""
    (folder / "job.yaml").write_text(text, encoding="utf-8")
    answer = pw.solve(folder / "job.yaml", sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    return answer.findings[0]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        (THREE.replace("ACTOR", "2").replace("RELATIONS", APART), "spanning"),
        (TWO_MODELS, "heterogeneous"),
    ],
)
def test_a_wider_scope_that_has_a_plan_is_proposed(text: str, scope: str, tmp_path: Path) -> None:
    finding = refused(tmp_path, text)
    assert f"write `scope: [{scope}]` in `plan`" in finding.help
    assert any(note.startswith("searched: plans with ") for note in finding.notes)
    (tmp_path / "job.yaml").write_text(text.replace("plan: {", f"plan: {{scope: [{scope}], "), encoding="utf-8")
    assert pw.solve(tmp_path / "job.yaml", sandbox=False).plan is not None


def test_two_wider_scopes_at_once_are_not_tried(tmp_path: Path) -> None:
    """Four with two inside, and two beside."""
    assert "scope:" not in refused(tmp_path, THREE.replace("ACTOR", "4").replace("RELATIONS", NESTED)).help
