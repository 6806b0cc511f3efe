"""Where nothing is possible on any models, what helps is tried on several models at once too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.findings.finding import error
from placewright.models.planning.measured import SECOND, Measured
from placewright.models.planning.workload import Timed, Workload
from placewright.solver.planning.asking.asked import asked
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.variants.choosing_models import Choosing
from placewright.solver.planning.variants.over_kinds import _possible

from ...cases import cluster, component, problem

FILE = """
cluster:
  nodes:
    - accelerators: {count: 3, model: H100}
    - accelerators: {count: 1, model: A100}
components:
  rollout:
    accelerators: 4
    seconds:
      - {accelerators: 4, seconds: 20, accelerator: H100}
      - {accelerators: 4, seconds: 30, accelerator: A100}
  reward:
    accelerators: 2
    seconds: [{accelerators: 2, seconds: 7, accelerator: H100}, {accelerators: 2, seconds: 70, accelerator: A100}]
plan: {cost_model: stream, OPTIONS}
"""


def _help(path: Path, options: str) -> str:
    path.write_text(FILE.replace("OPTIONS", options), encoding="utf-8")
    answer = pw.solve(str(path), sandbox=False)
    assert answer.verdict == "impossible"
    return answer.findings[0].help


def test_nesting_that_helps_on_several_models_alone_is_told(tmp_path: Path) -> None:
    assert "write `nested: true` in `plan`" in _help(tmp_path / "hints.yaml", "batches: 1")


def test_a_relation_that_helps_on_several_models_alone_is_told(tmp_path: Path) -> None:
    file = tmp_path / "hints.yaml"
    file.write_text(
        FILE.replace("accelerators: 2", "accelerators: 4").replace("OPTIONS", "batches: 1")
        + "relations: [{kind: disjoint, components: [rollout, reward]}]\n"
    )
    found = pw.solve(str(file), sandbox=False).findings[0]
    assert found.message == "impossible: at least 8 accelerators are needed at the same time, there are 4: rollout on 4, reward on 4"
    assert found.help == "add 2 nodes with 3 H100, or let `rollout` and `reward` share"


def test_one_of_several_choices_is_no_reason() -> None:
    """What is said of the only choice that was planned rests on its models; searches alone say why there is no plan on others."""
    workload, times = Workload(), Timed(tuple(Measured(2, SECOND, model=model) for model in ("H100", "A100")))
    its = problem(cluster({"count": 2, "model": "H100"}, {"count": 2, "model": "A100"}), component("rollout", 2, timed=times))
    its = replace(its, job=replace(its.job, workload=workload))
    planned = Answer(IMPOSSIBLE, findings=(error("PW601", "rollout", "impossible on H100"),))
    every = Choosing(its, workload, cost_model(workload.model), lambda _: lambda asked: planned, 1.0, 1, None, False, False, [planned])
    found = _possible(its, asked(its, workload), Answer(UNDECIDED), every, lambda problem, workload: None, 1)
    assert found.verdict == IMPOSSIBLE and found.findings[0].message == "impossible: no counts and degrees fit together"


def test_the_time_that_helps_on_several_models_alone_is_told(tmp_path: Path) -> None:
    assert "allow `seconds: 37`" in _help(tmp_path / "hints.yaml", "batches: 1, nested: true, budget: {seconds: 30}")
