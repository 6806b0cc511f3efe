"""Where traffic counts as time, groups that had better be kept together lie over nodes if an iteration takes less so."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

JOB = """
cluster: {nodes: [{repeat: 3, accelerators: {count: 2, model: H100}}]}
components:
  actor: {accelerators: 3, traffic: 50MiB, seconds: {3: 17}}
  rollout: {accelerators: 2, parallel: {tp: 2}, traffic: 50MiB}
links: [{from: actor, to: rollout, weights: 400MiB}]
plan: {bandwidth: {node: 10MiB}}
"""


@pytest.mark.parametrize("is_spanning", [False, True])
def test_groups_lie_over_nodes_where_traffic_takes_less_so(is_spanning: bool, tmp_path: Path) -> None:
    """17 seconds and 45 of traffic with the group on a node of its own; 15 with half of it beside the actor on two of three nodes."""
    scope = "plan: {scope: spanning, " if is_spanning else "plan: {"
    (tmp_path / "job.yaml").write_text(JOB.replace("plan: {", scope), encoding="utf-8")
    planned = pw.solve(tmp_path / "job.yaml", sandbox=False).planned
    assert planned is not None and planned.proved
    assert planned.price[0] == (32 if is_spanning else 62) * 10**9
