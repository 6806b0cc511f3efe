"""What was listed for a problem is listed once for all that is asked of it, and anew for any other."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.planning.workload import Budget, Workload
from placewright.models.problem import Problem
from placewright.planner import benders as rounds
from placewright.planner import profile as listing
from placewright.planner.problem import asked
from placewright.planner.recent import But, remembering
from placewright.planner.scope import with_nesting

FILE = """
cluster: 4x8xH100
components:
  rollout: {accelerators: 1-32, parallel: {tp: [1, 2, 4]}, seconds: {8: 90, 32: 30}, memory: 20GiB}
  actor: {accelerators: 1-32, parallel: {tp: [1, 2]}, seconds: {8: 60, 32: 20}, memory: 30GiB}
plan: {workflow: rollout -> actor, batches: 4}
"""


def problem_of(tmp_path: Path) -> tuple[Problem, Workload]:
    file = tmp_path / "job.yaml"
    file.write_text(FILE, encoding="utf-8")
    problem = pw.load(file).problem
    assert problem is not None and problem.job.planning.workload is not None
    return problem, problem.job.planning.workload


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The components whose options were listed, one after the other."""
    found, real = [], listing._options

    def recorded(*given: Any) -> Any:
        found.append(given[1].name)
        return real(*given)

    monkeypatch.setattr(listing, "_options", recorded)
    return found


def test_what_is_asked_again_is_listed_once(tmp_path: Path, listed: list[str]) -> None:
    problem, workload = problem_of(tmp_path)
    nested = with_nesting(problem)
    assert nested is not None and nested.job.planning.workload is not None
    fresh = [asked(problem, workload), asked(nested, nested.job.planning.workload), asked(problem, replace(workload, budget=Budget(16)))]
    listed.clear()
    with remembering():
        first = asked(problem, workload)
        assert asked(problem, workload) is first
        again = [first, asked(nested, nested.job.planning.workload), asked(problem, replace(workload, budget=Budget(16)))]
    assert again == fresh
    assert listed == ["rollout", "actor"]


def test_another_problem_is_listed_anew(tmp_path: Path) -> None:
    problem, workload = problem_of(tmp_path)
    fewer = replace(problem, job=replace(problem.job, choices={}))
    handed_on = replace(workload, batches=7)
    with remembering():
        questions = [asked(problem, workload), asked(fewer, workload), asked(problem, handed_on), asked(problem, workload, over_nodes=True)]
    assert questions == [
        asked(problem, workload),
        asked(fewer, workload),
        asked(problem, handed_on),
        asked(problem, workload, over_nodes=True),
    ]
    assert questions[0] != questions[2]


def test_a_problem_is_another_with_any_part_that_is_another_but_for_its_workload(tmp_path: Path) -> None:
    problem, _ = problem_of(tmp_path)
    job = problem.job
    others: list[tuple[str, Problem]] = [
        *((each.name, replace(problem, **{each.name: object()})) for each in fields(problem) if each.name != "job"),
        *((each.name, replace(problem, job=replace(job, **{each.name: object()}))) for each in fields(job) if each.name != "planning"),
        *(
            (each.name, replace(problem, job=replace(job, planning=replace(job.planning, **{each.name: object()}))))
            for each in fields(job.planning)
        ),
    ]
    assert But(problem) == But(replace(problem)) and len(others) > 20
    assert [name for name, other in others if But(problem) == But(other)] == ["workload"]


def test_nothing_is_remembered_beyond_the_block(tmp_path: Path, listed: list[str]) -> None:
    problem, workload = problem_of(tmp_path)
    with remembering():
        with remembering():
            asked(problem, workload)
        asked(problem, workload)
    asked(problem, workload)
    assert listed == ["rollout", "actor"] * 2


def test_a_solve_lists_no_more_than_with_and_without_groups_over_nodes_and_other_degrees(tmp_path: Path, listed: list[str]) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(FILE, encoding="utf-8")
    assert pw.solve(file, sandbox=False).plan is not None
    assert len(listed) <= 4 + 2  # and with other degrees, which stand beside the plan


def test_what_it_takes_to_list_options_is_time_that_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(FILE, encoding="utf-8")
    spent, each = [], rounds.ASKED
    for counted in (0.0, each):
        monkeypatch.setattr(rounds, "ASKED", counted)
        planned = pw.solve(file, sandbox=False).planned
        assert planned is not None and planned.proved
        spent.append(planned.spent)
    assert spent[1] - spent[0] >= 0.99 * each * sum(map(len, planned.question.options.values())) > 0
