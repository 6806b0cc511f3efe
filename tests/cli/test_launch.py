"""`placewright launch` as far as it goes without Ray: what is refused, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from placewright.cli.launch import launch
from placewright.cli.main import run
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.plan_file import plan_to_json
from placewright.models.placements.run import Run


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    plan = Plan(read_shorthand("1x2"), Assignment({"actor": (Run(range(2), 0),)}), VERIFIED)
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan))
    return path


def called(*arguments: str) -> Result:
    return CliRunner().invoke(launch, list(arguments))


def test_an_address_and_a_simulation_exclude_each_other(plan_file: Path) -> None:
    result = called(str(plan_file), "--simulate", "--address", "10.0.0.1:6379")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


@pytest.mark.parametrize("timeout", ["0", "-1", "soon"])
def test_a_time_limit_is_a_positive_number(plan_file: Path, timeout: str) -> None:
    assert called(str(plan_file), "--timeout", timeout).exit_code == 2


def test_a_worker_class_that_cannot_be_imported_is_unusable_input(plan_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["launch", str(plan_file), "--worker", "nowhere:Worker"]) == 2
    assert "error[PW707]: the worker class `nowhere:Worker` cannot be imported" in capsys.readouterr().err


def test_a_missing_file_is_unusable_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["launch", str(tmp_path / "missing.yaml")]) == 2
    assert "error[PW001]" in capsys.readouterr().err


def test_a_plan_that_was_changed_is_not_launched(plan_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(plan_file.read_text())
    data["components"]["actor"][0]["node_group"] = "node"
    plan_file.write_text(json.dumps(data))
    assert run(["launch", str(plan_file)]) == 2
    assert "error[PW009]" in capsys.readouterr().err


def test_a_configuration_with_errors_is_not_launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.yaml"
    path.write_text("cluster:\n  num_nodes: 1\n  component_placement:\n    actor: 0-8\n")
    assert run(["launch", str(path), "--cluster", "1x8"]) == 1
    errors = capsys.readouterr().err
    assert "error[PW102]" in errors
    assert " ".join(errors.split()).endswith("train.yaml: not launched, 1 error")


def test_workers_are_kept_here_or_detached_not_both(plan_file: Path) -> None:
    result = called(str(plan_file), "--keep", "--detach")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


@pytest.mark.parametrize("name", ["../up", "a b", "x" * 65])
@pytest.mark.parametrize("arguments", [["launch", "PLAN", "--detach"], ["status"], ["stop"]])
def test_what_cannot_be_the_name_of_a_launch_is_unusable_input(
    arguments: list[str], name: str, plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert run([str(plan_file) if word == "PLAN" else word for word in arguments] + [name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "error[PW730]" in captured.err


def test_without_any_launch_there_is_no_status_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert run(["status"]) == 0
    assert capsys.readouterr().out == "no launches\n"
    assert run(["status", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "launches": []}
