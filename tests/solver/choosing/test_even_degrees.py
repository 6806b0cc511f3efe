"""Open degrees among which something of a model does not divide: they are planned where nothing else is, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.models.findings.finding import Severity
from placewright.models.model_cards.card import read_model_config
from placewright.models.reading import Reading
from placewright.models.resolving import with_models
from placewright.planner.accounting import account_of_given_ranks
from placewright.planner.answer import Solver
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve

ROWS = "{accelerators: 8, pp: 1, seconds: 100}, {accelerators: 8, pp: 2, seconds: 60}, {accelerators: 8, pp: 4, seconds: 20}"
LAYERS = 30


def solved(folder: Path, pp: str, more: str = "") -> Answer:
    """One trained component on 8 accelerators of a model with 30 layers."""
    config = folder / "config.json"
    config.write_text(json.dumps({"model_type": "qwen2", "num_hidden_layers": LAYERS, "num_attention_heads": 30, "hidden_size": 3840}))
    file = folder / "job.yaml"
    file.write_text(
        f"cluster: 1x8xH100\ncomponents:\n  actor: {{accelerators: 8, parallel: {{pp: {pp}}}, seconds: [{ROWS}], scaling: table,"
        f" memory: 40GiB, estimate: {{model: my/model}}{more}}}\n"
    )
    return pw.solve(with_models(pw.load(file), read_model_config(str(config))), sandbox=False)


def pp_of(answer: Answer) -> int:
    assert answer.planned is not None
    return answer.planned.best.design.options["actor"].parallel.pp


def told(answer: Answer) -> list[tuple[Severity, str]]:
    return [(each.severity, each.message) for each in answer.findings if each.code == "PW404"]


def test_layers_that_do_not_divide_are_planned_only_where_nothing_else_is(tmp_path: Path) -> None:
    answer = solved(tmp_path, "[1, 2, 4]")
    assert pp_of(answer) == 2
    assert told(answer) == [(Severity.NOTE, "no plan with pp 4 of `actor` was looked at: its 30 layers do not divide so")]


def test_where_only_such_degrees_are_open_they_are_planned_with_a_warning(tmp_path: Path) -> None:
    answer = solved(tmp_path, "[4, 8]")
    assert pp_of(answer) == 4
    assert told(answer) == [(Severity.WARNING, "the plan has pp 4 for `actor`, among which its 30 layers do not divide")]
    (its,) = [each.help for each in answer.findings if each.code == "PW404"]
    assert its == "if what runs it needs them divided evenly, let pp be one of 1, 2, 3, 5, 6 too"


def test_where_no_other_degrees_have_a_plan_such_are_planned_with_a_warning(tmp_path: Path) -> None:
    answer = solved(tmp_path, "[3, 4]")  # 8 accelerators are no replicas of 3
    assert pp_of(answer) == 4
    assert [severity for severity, _ in told(answer)] == [Severity.WARNING]


def test_one_component_may_have_only_such_degrees_and_another_not(tmp_path: Path) -> None:
    other = "}\n  rollout: {accelerators: 8, colocate_with: actor, parallel: {tp: [1, 2, 4]}, seconds: {8: 9}, memory: 9GiB, estimate: {model: my/model}"
    answer = solved(tmp_path, "[4, 8]", other)
    assert pp_of(answer) == 4
    assert told(answer) == [(Severity.WARNING, "the plan has pp 4 for `actor`, among which its 30 layers do not divide")]


def test_degrees_that_all_divide_are_chosen_without_a_word(tmp_path: Path) -> None:
    answer = solved(tmp_path, "[1, 2]")
    assert pp_of(answer) == 2
    assert told(answer) == []


def test_given_ranks_are_compared_with_what_would_be_planned(tmp_path: Path) -> None:
    solved(tmp_path, "[2, 1, 4]", ", placement: 0-7")
    problem = with_models(pw.load(tmp_path / "job.yaml"), read_model_config(str(tmp_path / "config.json"))).problem
    assert problem is not None
    account = account_of_given_ranks(problem, Solver(solve))
    assert account is not None
    assert {each.parallel.pp for each in account.planned.question.options["actor"]} == {1, 2}


def untimed(folder: Path, hints: str) -> Reading:
    """One trained component without times of a model with 30 layers."""
    file = folder / "job.yaml"
    file.write_text(f"cluster: 2x8xH100\ncomponents:\n  actor: {{{hints}, estimate: {{heads: 20, layers: {LAYERS}}}}}\n")
    return pw.load(file)


def test_without_times_too_layers_that_do_not_divide_are_chosen_only_where_nothing_else_is(tmp_path: Path) -> None:
    answer = pw.solve(untimed(tmp_path, "accelerators: 6-14, parallel: {tp: [1, 2], pp: [7, 3]}"), sandbox=False)
    assert answer.plan is not None and answer.plan.degrees["actor"].pp == 3
    assert told(answer) == [(Severity.NOTE, "no plan with pp 7 of `actor` was looked at: its 30 layers do not divide so")]
    answer = pw.solve(untimed(tmp_path, "accelerators: 8, parallel: {pp: [4, 8]}"), sandbox=False)
    assert answer.plan is not None
    pp = answer.plan.degrees["actor"].pp
    assert told(answer) == [(Severity.WARNING, f"the plan has pp {pp} for `actor`, among which its 30 layers do not divide")]


@pytest.mark.parametrize("times", ["", ", seconds: {8: 100}"])
@pytest.mark.parametrize("tp", ["1", "[1, 2]"])
def test_of_a_degree_that_is_not_open_the_file_is_warned_once_whatever_else_is_open(tmp_path: Path, tp: str, times: str) -> None:
    reading = untimed(tmp_path, f"accelerators: 8, parallel: {{tp: {tp}, pp: [4]}}{times}")
    (finding,) = [each for each in verify(reading).findings if each.code == "PW404"]
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("the 30 layers of `actor.estimate` do not divide among pp 4 of actor")
    answer = pw.solve(reading, sandbox=False)
    assert answer.plan is not None and told(answer) == []


def test_a_proved_fault_of_a_degree_that_is_not_open_is_an_error_whatever_else_is_open(tmp_path: Path) -> None:
    (finding,) = verify(untimed(tmp_path, "accelerators: 8, parallel: {tp: 8, pp: [1, 2]}")).errors
    assert finding.message.startswith("the 20 attention heads of `actor.estimate` do not divide among tp 8 of actor")


@pytest.mark.parametrize(("offered", "wrong"), [("[4, 8]", True), ("[4, 2]", False), ("4", True)])
def test_verify_tells_where_no_open_degree_divides_the_model(tmp_path: Path, offered: str, wrong: bool) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "qwen2", "num_hidden_layers": 12, "num_attention_heads": 6, "hidden_size": 768}))
    file = tmp_path / "job.yaml"
    file.write_text(f"cluster: 1x8xH100\ncomponents:\n  actor: {{accelerators: 8, parallel: {{tp: {offered}}}}}\n")
    reading = with_models(pw.load(file), read_model_config(str(config)))
    found = [each.notes for each in verify(reading).errors if each.code == "PW404"]
    assert len(found) == wrong
    assert all(("no other degree that the hints leave open is legal" in notes) == ("," in offered) for notes in found)
    if not wrong:
        assert pw.solve(reading, sandbox=False).plan is not None
