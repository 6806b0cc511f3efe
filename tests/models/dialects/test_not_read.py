"""Choices of degrees so many that not all are read: what is said where those that are read are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import UNDECIDED
from placewright.models.dialects import following
from placewright.models.dialects.following import ChosenDegrees
from placewright.models.job import Job
from placewright.planner.answer import Solver
from placewright.solver.searching.search import solve


def test_where_all_of_the_few_that_were_read_are_refused_it_is_open_whether_the_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan had the degrees of the file for what follows, and was called the best."""
    file = tmp_path / "job.yaml"
    file.write_text(
        "cluster: 1x8\ncomponents:\n"
        + "".join(f"  {name}: {{parallel: {{tp: [1, 2, 4]}}, seconds: {{8: 10}}}}\n" for name in ("rollout", "reference"))
        + "  actor: {seconds: {8: 10}}\nplan: {workflow: rollout -> reference -> actor}\n"
    )
    problem = pw.load(file).problem
    assert problem is not None

    def job_with(degrees: ChosenDegrees) -> Job | str:
        if len(degrees) > 1:
            return "these do not go together"
        (its,) = degrees.values()
        parts = tuple(replace(each, parallel=its) if each.name == "actor" else each for each in problem.components)
        return replace(problem.job, components=parts)

    monkeypatch.setattr(following, "MAX_JOINT_CHOICES", 4)
    job, told = following.with_dependent_degrees(problem.job, ("rollout", "reference"), job_with)
    assert told == () and job.planning.unread_choices == 5
    answer = Solver(solve, 10.0)(replace(problem, job=job))
    assert answer.verdict == UNDECIDED and "5 others were not planned" in answer.findings[0].message
    monkeypatch.setattr(following, "MAX_JOINT_CHOICES", 9)
    (finding,) = following.with_dependent_degrees(problem.job, ("rollout", "reference"), job_with)[1]
    assert finding.notes[-1] == "9 choices are refused in all"
