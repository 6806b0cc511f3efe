"""Files that state ranks of their own, and what these come to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Mapping, Sequence

import placewright as pw
from placewright.models.account import Baseline
from placewright.models.placements.assignment import compress
from placewright.models.problem import Problem
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem

FILE = """
cluster: 2x8xH100
components:
  rollout: {seconds: {4: 100, 16: 30}, parallel: {tp: [1, 2]}}
  inference: {accelerators: 1-8, seconds: {8: 20}}
  actor: {seconds: {8: 60, 16: 33}, parallel: {tp: 2}, memory: 30GiB}
plan: {workflow: rollout -> inference => actor, batches: 4}
"""


def problem(tmp_path: Path, text: str = FILE) -> Problem:
    path = tmp_path / "train.yaml"
    path.write_text(text)
    found = pw.load(path).problem
    assert found is not None
    return found


def on(asked: Problem, places: Mapping[str, Sequence[int]]) -> Problem:
    """The problem of a file that itself places components on accelerators, by their number in the cluster."""
    runs = {name: compress((rank, [divmod(place, 8)]) for rank, place in enumerate(its)) for name, its in places.items()}
    return replace(asked, job=replace(asked.job, planning=replace(asked.job.planning, own=runs)))


def priced(problem: Problem) -> Baseline:
    workload = problem.job.planning.workload
    assert workload is not None
    found = baseline_of(problem, planning_problem(problem), cost_model(workload.model))
    assert found is not None
    return found
