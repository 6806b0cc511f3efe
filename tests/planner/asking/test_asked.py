"""What a file asks of planning: its times, phases and relations as they are written."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import placewright as pw
import pytest

FILE = """
cluster: 1x4xH100
components:
  a: {{accelerators: 4, seconds: {{{written}}}}}
plan: {{workflow: {workflow}}}
"""


ORDERS = list(permutations(["generate: {4: 1}", "infer: {4: 20}", "train: {4: 300}"]))


@pytest.mark.parametrize("written", ORDERS, ids=" ".join)
def test_each_phase_takes_its_own_time_in_whatever_order_they_are_written(tmp_path: Path, written: tuple[str, ...]) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(FILE.format(written=", ".join(written), workflow="a.generate -> a.infer -> a.train"), encoding="utf-8")
    planned = pw.solve(file).planned
    assert planned is not None
    question, design = planned.question, planned.best.design
    took = {task.phase: design.nanoseconds(question, number) for number, task in enumerate(question.tasks)}
    assert took == {"generate": 10**9, "infer": 20 * 10**9, "train": 300 * 10**9}


@pytest.mark.parametrize("written", ORDERS, ids=" ".join)
def test_so_do_those_of_ranks_that_are_given(tmp_path: Path, written: tuple[str, ...]) -> None:
    text = FILE.format(written=", ".join(written), workflow="a.generate -> a.infer -> a.train")
    file = tmp_path / "job.yaml"
    file.write_text(text.replace("accelerators: 4, ", "placement: 0-3, "), encoding="utf-8")
    own = pw.account(file).own
    assert own is not None
    took = {str(basis.task): basis.nanoseconds for basis in own.bases}
    assert took == {"a.generate": 10**9, "a.infer": 20 * 10**9, "a.train": 300 * 10**9}


def test_a_power_that_no_measurement_can_have_meant_is_cut(tmp_path: Path) -> None:
    """A slip of the pen: on 8 this would be 10^4000 seconds."""
    file = tmp_path / "job.yaml"
    file.write_text("cluster: 1x8xH100\ncomponents:\n  a: {accelerators: 8, seconds: {511: 1000, 512: 10}}\n", encoding="utf-8")
    planned = pw.solve(file).planned
    assert planned is not None and planned.proved
    assert planned.best.nanoseconds == 10**7 * 10**9


def test_a_budget_is_of_all_components(tmp_path: Path) -> None:
    """What given ranks hold is counted, also where the budget is too small."""
    text = """
cluster: 2x8xH100
components:
  rollout: {parallel: {tp: 2}, seconds: {8: 90, 16: 50}, phase: generate}
  judge: {parallel: {tp: 2}, phase: infer, placement: 12-13}
plan: {budget: {accelerators: MOST}}
"""
    (tmp_path / "job.yaml").write_text(text.replace("MOST", "12"))
    answer = pw.solve(tmp_path / "job.yaml", sandbox=False)
    assert answer.planned is not None and answer.planned.best.design.accelerators == 10
    (tmp_path / "job.yaml").write_text(text.replace("MOST", "3"))
    refused = pw.solve(tmp_path / "job.yaml", sandbox=False).findings[0]
    assert "at least 4 accelerators are needed, 3 may be used" in refused.message and "`accelerators: 4`" in refused.help
