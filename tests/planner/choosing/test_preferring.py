"""Plans keep to estimates where some plan does, and never without a word; an estimate alone makes nothing impossible."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.models.findings.finding import Severity
from placewright.models.planning.planned import PlanningResult
from placewright.planner.bills import bill

MODEL = "model: Qwen/Qwen2.5-7B-Instruct, sequence: 8192"
JOB = """
cluster: {cluster}
components:
  rollout: {{accelerators: 1-16, seconds: {{8: 120}}, parallel: {{tp: [1, 2, 4]}}, estimate: {{{model}, sequences: {sequences}, offload: true}}{rollout}}}
  actor: {{accelerators: 1-16, seconds: {{8: 95.7}}, estimate: {{{model}, sharding: fsdp, logits: chunked}}{actor}}}
plan: {{workflow: rollout {arrow} actor, batches: 8}}
"""


def planned(
    folder: Path, cluster: str, rollout: str = "", actor: str = "", arrow: str = "=>", sequences: int = 32
) -> tuple[Answer, PlanningResult]:
    """The answer, and how it was planned."""
    file = folder / "job.yaml"
    file.write_text(JOB.format(cluster=cluster, model=MODEL, rollout=rollout, actor=actor, arrow=arrow, sequences=sequences))
    answer = pw.solve(file)
    assert answer.planned is not None and answer.plan is not None
    return answer, answer.planned


def codes(answer: Answer) -> list[tuple[str, Severity]]:
    return [(finding.code, finding.severity) for finding in answer.findings]


def test_where_the_best_fits_nothing_is_said(tmp_path: Path) -> None:
    answer, its = planned(tmp_path, "1x8xH100")
    assert codes(answer) == [] and its.without_estimates is None
    assert not any(each.tight for each in bill(_problem(tmp_path), its.question, its.best.design))


def test_where_only_others_fit_the_best_of_these_wins_and_what_would_win_is_said(tmp_path: Path) -> None:
    answer, its = planned(tmp_path, "2x8x4090", sequences=128)
    assert its.without_estimates is not None
    assert its.best.nanoseconds > its.without_estimates.nanoseconds
    problem = _problem(tmp_path)
    assert not any(each.tight for each in bill(problem, its.question, its.best.design))
    assert any(each.tight for each in bill(problem, its.question, its.without_estimates.design))
    assert codes(answer) == [("PW805", Severity.NOTE)]
    assert f"{its.without_estimates.nanoseconds / 1e9:.6g} s and not {its.best.nanoseconds / 1e9:.6g} s" in answer.findings[0].message


def test_where_accelerators_are_to_be_few_it_is_said_how_few_would_be_enough(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    fewest = JOB.replace("batches: 8", "minimise: accelerators, budget: {{seconds: 400}}")
    file.write_text(fewest.format(cluster="2x8x4090", model=MODEL, rollout="", actor="", arrow="=>", sequences=128))
    answer = pw.solve(file)
    assert answer.planned is not None and answer.planned.without_estimates is not None
    few, more = answer.planned.without_estimates.design.accelerators, answer.planned.best.design.accelerators
    told = f"without memory estimates, {few} accelerators would be enough and not {more}: rollout on "
    assert few < more and answer.findings[0].message.startswith(told)


def test_where_nothing_fits_the_best_without_estimates_is_taken_with_a_warning(tmp_path: Path) -> None:
    answer, its = planned(tmp_path, "1x2x4090")
    assert codes(answer) == [("PW805", Severity.WARNING)]
    assert answer.verdict == "optimal" and its.proved
    assert any(each.tight for each in bill(_problem(tmp_path), its.question, its.best.design))


@pytest.mark.parametrize("listed", ["[1, 2, 4]", "[4, 2, 1]", "[2, 1, 4]"])
def test_where_nothing_fits_degrees_that_are_as_quick_are_those_that_need_least(listed: str, tmp_path: Path) -> None:
    """The estimates refuse nothing then; of plans that take as long, the one that they say is the worst is not proposed."""
    file = tmp_path / "job.yaml"
    model = "model: Qwen/Qwen2.5-32B-Instruct, sequence: 8192"
    file.write_text(
        f"cluster: 1x8xH100\ncomponents:\n  rollout: {{accelerators: 8, parallel: {{tp: {listed}}}, seconds: {{8: 96}}, estimate: {{{model}}}}}\n"
        f"  actor: {{accelerators: 8, parallel: {{tp: {listed}}}, seconds: {{8: 98}}, estimate: {{{model}, sharding: distributed}}}}\n"
        "plan: {workflow: rollout => actor}\n",
        encoding="utf-8",
    )
    answer = pw.solve(file, sandbox=False)
    assert codes(answer) == [("PW805", Severity.WARNING)] and answer.planned is not None
    assert {name: option.parallel.tp for name, option in answer.planned.best.design.options.items()} == {"rollout": 4, "actor": 4}


def test_what_is_declared_goes_before_an_estimate(tmp_path: Path) -> None:
    answer, its = planned(tmp_path, "1x8x4090", rollout=", memory: 10GiB", actor=", memory: 10GiB, phase: train")
    assert codes(answer) == [] and its.without_estimates is None
    assert {option.estimated for options in its.question.options.values() for option in options} == {False}


def test_a_demand_that_cannot_be_met_is_still_an_error(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(JOB.format(cluster="1x8x4090", model=MODEL, rollout=", memory: 30GiB", actor="", arrow="->", sequences=32))
    answer = pw.solve(file)
    assert answer.plan is None and answer.verdict == "impossible"


@pytest.mark.parametrize("cluster", ["1x4x4090", "1x6x4090", "1x8x4090", "1x4xA100-40GB", "1x3xH100"])
@pytest.mark.parametrize("arrow", ["->", "=>"])
def test_estimates_never_make_a_plan_better(cluster: str, arrow: str, tmp_path: Path) -> None:
    _, its = planned(tmp_path, cluster, arrow=arrow)
    if its.without_estimates is not None:
        assert its.without_estimates.nanoseconds <= its.best.nanoseconds


def _problem(folder: Path) -> pw.Problem:
    problem = pw.load(folder / "job.yaml").problem
    assert problem is not None
    return problem
