"""A design is placed whatever else the file says of who shares with whom."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.machines.node_group import ACCELERATOR

WITHIN = """
cluster: 1x4xH100
components:
  a: {seconds: {4: 52}, memory: 60GiB, phase: infer, offloaded: 2GiB, within: b}
  b: {seconds: {4: 53}, memory: 60GiB, phase: train, offloaded: 2GiB}
  c: {seconds: {generate: {2: 73}}, scaling: table, memory: 20GiB, offloaded: 10GiB}
plan: {nested: true, cost_model: stages, phases: [generate, infer, train]}
"""


def test_one_within_two_that_share_all_accelerators_lies_within_either(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(WITHIN, encoding="utf-8")
    answer = pw.solve(file)
    assert answer.plan is not None and answer.planned is not None
    a, b, c = (answer.plan.assignment.masks(name)[0, ACCELERATOR] for name in "abc")
    assert a == b and c & a == c and c != a
    assert answer.planned.proved and not answer.planned.unplaceable
    assert answer.planned.best.nanoseconds == (52 + 53 + 73) * 10**9
