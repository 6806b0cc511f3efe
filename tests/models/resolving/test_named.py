"""Whose model it is that the user names."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.finding import Severity
from placewright.models.model_cards import ModelCard
from placewright.models.reading import Reading
from placewright.models.resolving import with_models
from placewright.planner.verify import verify
from placewright.solver.unchecked import list_unchecked

NAMED = ModelCard("config.json", heads=20, kv_heads=20, layers=30, experts=60)


def read(folder: Path, *components: str) -> Reading:
    """A native file with these components, and the model that the user names."""
    file = folder / "job.yaml"
    file.write_text("\n".join(["cluster: 2x8xH100", "components:", *(f"  {each}" for each in components)]) + "\n")
    return with_models(pw.load(file), NAMED)


def its(reading: Reading) -> list[str]:
    """The components that have the model which the user names."""
    assert reading.problem is not None
    return [name for name, use in reading.problem.job.models.items() if use.card and use.card.name == NAMED.name]


def said(reading: Reading) -> list[str]:
    assert all(finding.severity is Severity.NOTE for finding in reading.findings)
    return [finding.message for finding in reading.findings]


@pytest.mark.parametrize(
    "hints",
    [
        "{accelerators: 8, parallel: {tp: [1, 2, 4, 5, 8]}}", "{accelerators: 8, parallel: {tp: 4}}", "{parallel: {ep: 2}, placement: 0-7}",
        "{accelerators: 8, estimate: {}}", "{accelerators: 8, estimate: {parameters: 7B}}", "{role: actor, accelerators: 8, parallel: {pp: [1, 2]}}",
        "{role: rollout, accelerators: 8, estimate: {}}",
    ],
)  # fmt: skip
def test_it_is_that_of_what_has_degrees_or_an_estimate_and_no_model_of_its_own(tmp_path: Path, hints: str) -> None:
    reading = read(tmp_path, f"worker: {hints}")
    assert its(reading) == ["worker"]
    assert said(reading) == []


@pytest.mark.parametrize("role", ["reward", "critic", "teacher", "env", "agent"])
@pytest.mark.parametrize("hints", ["parallel: {tp: 2}", "estimate: {}"])
def test_it_is_not_that_of_another_role(tmp_path: Path, role: str, hints: str) -> None:
    reading = read(tmp_path, f"judge: {{role: {role}, accelerators: 2, {hints}}}")
    assert its(reading) == []
    assert said(reading) == [f"the model of `config.json` is not taken for `judge`: its role is {role}"]


def test_what_names_a_model_keeps_it_where_another_names_none(tmp_path: Path) -> None:
    reading = read(tmp_path, "judge: {accelerators: 2, estimate: {model: my/judge}}", "roll: {accelerators: 8, parallel: {tp: [1, 2]}}")
    assert its(reading) == ["roll"]
    assert said(reading) == ["the model of `config.json` is not taken for `judge`: it names `my/judge`"]


def test_where_all_name_one_it_is_that_of_which_nothing_is_known(tmp_path: Path) -> None:
    known = "judge: {accelerators: 2, estimate: {model: Qwen/Qwen2.5-7B}}"
    reading = read(tmp_path, known, "roll: {accelerators: 8, parallel: {tp: 2}, estimate: {model: my/own}}")
    assert its(reading) == ["roll"]
    assert said(reading) == ["the model of `config.json` is not taken for `judge`: it names `Qwen/Qwen2.5-7B`"]


def test_a_model_that_nothing_asks_for_is_said_to_be_unused(tmp_path: Path) -> None:
    (message,) = said(read(tmp_path, "roll: {accelerators: 8}"))
    assert message.startswith("the model of `config.json` is taken for no component")


def test_nobody_is_told_to_name_what_was_named(tmp_path: Path) -> None:
    reading = read(tmp_path, "judge: {role: reward, parallel: {tp: 2}, placement: 0-1}")
    assert reading.problem is not None
    (why,) = [each.why for each in list_unchecked(reading.problem, reading.problem.build_given()) if each.rule == "PW404"]
    assert (
        why
        == "the model is not named; `config.json` is for other components: write the numbers in the `estimate`, such as `{heads: 32, kv_heads: 8}`"
    )


@pytest.mark.parametrize(("degrees", "what"), [("tp: 8", "20 attention heads"), ("ep: 7, tp: 1", "60 experts")])
def test_given_degrees_are_judged_by_it_without_an_estimate(tmp_path: Path, degrees: str, what: str) -> None:
    for place in ("accelerators: 8", "placement: 0-7"):
        (finding,) = verify(read(tmp_path, f"roll: {{parallel: {{{degrees}}}, {place}}}")).errors
        assert finding.code == "PW404" and f"the {what} of `config.json` do not divide" in finding.message


def test_degrees_are_chosen_by_it_without_an_estimate(tmp_path: Path) -> None:
    rows = "{accelerators: 8, tp: 4, seconds: 60}, {accelerators: 8, tp: 8, seconds: 20}"
    reading = read(tmp_path, f"roll: {{accelerators: 8, parallel: {{tp: [4, 8]}}, seconds: [{rows}], scaling: table, memory: 9GiB}}")
    answer = pw.solve(reading, sandbox=False)
    assert answer.plan is not None
    assert answer.plan.degrees["roll"].tp == 4  # 20 heads among 8 would be quicker
