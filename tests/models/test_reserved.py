"""The CPUs of a plan: who reserves them, on which node, and that the file keeps them without touching plans that have none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.plan_file import plan_to_json, read_plan
from placewright.models.placements.run import Run

JOB = """\
cluster:
  nodes: [{accelerators: {count: 4}, cpus: 64}, {accelerators: {count: 4}, cpus: 64}]
components:
  actor: {accelerators: 4, cpus: 3}
  reference: {accelerators: 4, cpus: 2, colocate_with: actor}
  rollout: {accelerators: 4}
  env: {processes: 2, node_group: node, cpus: 5}
"""


def plan(**cpus: int) -> Plan:
    runs = {"actor": (Run(range(3), 0), Run(range(3, 5), 1)), "env": (Run(range(2), 1, "node", each=0, node_group="node"),)}
    return Plan(read_shorthand("2x4"), Assignment(runs), VERIFIED, cpus=cpus)


def test_they_add_up_node_by_node() -> None:
    assert plan(actor=3, env=4).cpus_on_nodes == {0: 9, 1: 6 + 8}
    assert plan(env=4).cpus_on_nodes == {1: 8}


def test_colocated_components_reserve_for_processes_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    answer = pw.solve(path)
    assert answer.plan is not None
    assert answer.plan.cpus == {"actor": 3, "reference": 2, "env": 5}
    assert sum(answer.plan.cpus_on_nodes.values()) == 4 * 3 + 4 * 2 + 2 * 5


def test_the_file_of_a_plan_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan(actor=3)))
    assert read_plan(path).cpus == {"actor": 3}
    assert read_plan(path).digest == plan(actor=3).digest != plan(actor=4).digest


def test_a_plan_without_any_is_the_plan_that_it_always_was() -> None:
    assert "cpus" not in plan().canonical()
    assert plan().digest == replace(plan(), cpus={}).digest


@pytest.mark.parametrize("cpus", [{"nobody": 1}, {"actor": 0}, {"actor": -1}, {"actor": 1 << 21}, {"actor": 1.5}, [1]])
def test_what_cannot_be_is_refused(tmp_path: Path, cpus: object) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(json.loads(plan_to_json(plan())) | {"cpus": cpus}))
    with pytest.raises(UnusableInput) as caught:
        read_plan(path)
    assert caught.value.findings[0].code == "PW008"
