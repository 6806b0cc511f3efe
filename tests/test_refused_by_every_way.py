"""What a framework refuses in its file is the answer by none of the ways to ask for one; all of them give the same."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.cli.main import run
from placewright.models.answer import Answer, accept_all
from placewright.models.component import COLOCATED, Relation
from placewright.models.problem import Demand
from placewright.planner.write_back import refusing
from placewright.runtime.failure import build_failure
from placewright.runtime.recovery.replanner import Replanner, solve_in_child
from placewright.solver.pricing.price import without

FILE = """# start_distill_pipeline.py
rollout_batch_size: 24
student:
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 1}
  strategy_args: {strategy_name: megatron_train}
  device_mapping: "[0,1]"
teacher:
  strategy_args: {strategy_name: megatron_infer}
  device_mapping: "[0,1]"
placewright:
  components:
    student: {accelerators: 2-3, seconds: {2: 60, 3: 30}}
    teacher: {accelerators: 2, seconds: {2: 40}}
"""
HINTED = "".join(line for line in FILE.splitlines(keepends=True) if "device_mapping" not in line)
TAKEN, REFUSED = 100.0, 70.0
"""Seconds of the best plan that ROLL takes, and with three ranks of the student: it refuses that beside two of the teacher."""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "train.yaml").write_text(FILE)
    return str(tmp_path / "train.yaml")


def seconds(answer: Answer) -> float:
    assert answer.planned is not None
    assert not answer.planned.proved
    return answer.planned.best.nanoseconds / 1e9


@pytest.mark.parametrize("options", [{}, {"lose": ["node-1"]}, {"lose": [0]}], ids=str)
def test_solve_gives_what_is_taken(file: str, options: dict[str, Any]) -> None:
    assert seconds(pw.solve(file, "2x3xH100", sandbox=False, **options)) == TAKEN
    assert seconds(pw.solve(pw.load(file, "2x3xH100"), sandbox=False, **options)) == TAKEN


def test_solve_in_a_process_of_its_own_gives_the_same(file: str) -> None:
    one, other = pw.solve(file, "1x3xH100"), pw.solve(file, "1x3xH100", sandbox=False)
    assert one.plan is not None and other.plan is not None
    assert (seconds(one), one.plan.digest) == (TAKEN, other.plan.digest)


def test_a_problem_without_a_file_is_refused_nowhere(file: str) -> None:
    problem = pw.load(file, "1x3xH100").to_solve.problem
    assert problem is not None
    answer = pw.solve(problem, sandbox=False)
    assert answer.planned is not None
    assert answer.planned.best.nanoseconds / 1e9 == REFUSED
    assert refusing(None) is accept_all


def test_whatif_and_the_further_questions_give_what_is_taken(file: str) -> None:
    pricing = pw.whatif(
        file, "2x3xH100", sandbox=False, lose=["node-0"], nodes=["+1x3xH100"], change=["placewright.components.teacher.accelerators=2"]
    )
    assert [seconds(each) for each in (pricing.before, *(its.answer for its in pricing.after))] == [TAKEN] * 4
    assert seconds(pw.whatif(file, "1x3xH100", sandbox=False, drop=["teacher.amount"]).before) == TAKEN
    plan = pw.solve(file, "2x3xH100", sandbox=False).plan
    assert plan is not None
    assert seconds(pw.replan(file, plan, ["node-1"], "2x3xH100", sandbox=False)[0]) == TAKEN
    assert pw.account(file, "1x3xH100", sandbox=False).planned.best.nanoseconds / 1e9 == TAKEN
    assert all(each.plan.assignment.amount("student") == 2 for each in pw.alternatives(file, 2, "1x3xH100", sandbox=False).found)


@pytest.mark.parametrize("words", [["--cluster", "1x3xH100"], ["--cluster", "2x3xH100", "--lose", "node-1"]], ids=" ".join)
def test_the_verbs_give_what_is_taken(file: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", file, "--format", "json", *words]) == 0
    told = json.loads(capsys.readouterr().out)["planned"]
    assert (told["seconds"], told["proved"]) == (TAKEN, False)
    assert run(["whatif", file, "--format", "json", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(each["seconds"] == TAKEN for each in (told["before"], *told["changes"]))


def test_a_launch_that_lost_a_node_is_placed_anew_as_is_taken(file: str) -> None:
    reading = pw.load(file, "2x3xH100").to_solve
    plan = pw.solve(file, "2x3xH100", sandbox=False).plan
    assert plan is not None and reading.problem is not None
    where = plan, reading.problem.cluster, {"node-0"}, build_failure("PW713", "", "lost", "")
    taken, _ = Replanner(plan, reading.problem, partial(solve_in_child, reading=reading)).replan(*where)
    assert taken.assignment.amount("student") == 2
    refused, _ = Replanner(plan, reading.problem, solve_in_child).replan(*where)
    assert refused.assignment.amount("student") == 3


def test_what_is_launched_is_what_solve_finds_where_the_file_places_nothing_itself(tmp_path: Path) -> None:
    (tmp_path / "hints.yaml").write_text(HINTED)
    reading = pw.load(tmp_path / "hints.yaml", "1x4xH100")
    solved, launched = (pw.solve(replace(each, opens=False), sandbox=False) for each in (reading.to_solve, reading.to_launch))
    assert (seconds(solved), seconds(launched)) == (TAKEN, TAKEN)  # read as it stands, nothing says that the student waits for the teacher
    assert solved.plan is not None and launched.plan is not None
    assert solved.plan.digest == launched.plan.digest


@pytest.mark.parametrize("devices", ["[0,1]", "[0,9]"], ids=["right", "wrong"])
def test_a_launch_takes_what_the_file_places_itself(tmp_path: Path, devices: str) -> None:
    (tmp_path / "train.yaml").write_text(FILE.replace("[0,1]", devices))
    reading = pw.load(tmp_path / "train.yaml", "1x4xH100")
    assert reading.to_launch.problem is reading.problem
    assert reading.to_solve.problem is not reading.problem


APART = """cluster: 1x4xH100
components:
  a: {accelerators: 2, seconds: {2: 40}}
  b: {accelerators: 2, seconds: {2: 40}, disjoint_from: a}
plan: {workflow: a -> b}
"""


def test_what_was_dropped_is_no_reason_to_refuse_though_the_file_still_says_it(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(APART)
    reading = pw.load(tmp_path / "job.yaml")
    assert reading.problem is not None
    one, other = without(reading.problem, [Demand("b+a", "disjoint")]), reading.problem
    assert len(one.demands) < len(other.demands)
    same = pw.solve(replace(one, job=replace(one.job, relations=(Relation(COLOCATED, ("a", "b")),))), sandbox=False).plan
    assert same is not None
    assert [each.code for each in refusing(reading)(other, same)] == ["PW207"]
    assert not refusing(reading)(one, same)
