"""Where nothing is possible with each group on one node, groups over nodes are proposed as far as they were placed so, and what else that takes."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.solver.planning.why.eased import OVER_NODES

JOB = """
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


@pytest.mark.parametrize(("count", "relations", "nests"), [("2", APART, False), ("4", NESTED, True)])
def test_what_is_proposed_works(count: str, relations: str, nests: bool, tmp_path: Path) -> None:
    """Three times two on nodes of three; four with two inside and two beside."""
    file = tmp_path / "job.yaml"
    text = JOB.replace("ACTOR", count).replace("RELATIONS", relations)
    file.write_text(text, encoding="utf-8")
    answer = pw.solve(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    proposed = f"let the tp groups of `actor` lie over nodes: `{OVER_NODES}`"
    assert f"{proposed}{', and write `nested: true` in `plan`' if nests else ''}" in answer.findings[0].help
    changed = text.replace("parallel: {tp: 2}", f"parallel: {{tp: 2}}, {OVER_NODES}", 1)
    if nests:
        changed = changed.replace("{cost_model: steady}", "{cost_model: steady, nested: true}")
    file.write_text(changed, encoding="utf-8")
    assert pw.solve(str(file), sandbox=False).plan is not None


def test_a_count_that_groups_over_nodes_have_is_proposed_with_these(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(JOB.replace("ACTOR", "6").replace("RELATIONS", ""), encoding="utf-8")
    (finding,) = pw.solve(str(file), sandbox=False).findings  # with 4 there is no plan: two nodes of 3 have no room for three groups
    assert finding.help == f"write `accelerators: 2`, or let its tp groups lie over nodes: `{OVER_NODES}`"
