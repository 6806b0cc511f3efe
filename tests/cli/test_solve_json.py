"""What `solve --format json` prints of an answer: the plan, and beside it all that the text and standard error say."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from placewright.cli.output import plan
from placewright.models.placements.plan_file import read_plan

FILE = """
cluster: 2x8xH100
components:
  rollout: {seconds: {8: 20, 16: 12}, parallel: {tp: [1, 2]}, phase: generate}
  reward: {seconds: {4: 5, 8: 3}, phase: infer}
  actor: {seconds: {8: 30, 16: 16}, phase: train}
plan: {workflow: PLAN, bandwidth: {rack: 5GiB}}
"""


def solved(path: Path, capsys: pytest.CaptureFixture[str], plan: str = "rollout => actor") -> dict[str, Any]:
    """The JSON that the command prints for the file."""
    from placewright.cli.solve import solve

    path.write_text(FILE.replace("PLAN", plan))
    solve.main([str(path), "--format", "json", "--progress", "none"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_what_is_told_on_standard_error_and_what_was_not_checked_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = solved(tmp_path / "job.yaml", capsys)
    assert [(each["code"], each["severity"], each["line"]) for each in data["findings"]] == [("PW127", "warning", 7)]
    assert [each["rule"] for each in data["unchecked"]] == ["PW501"] * len(data["unchecked"])


def test_what_is_assumed_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    its = solved(tmp_path / "job.yaml", capsys)["planned"]
    assert its["assumed"] == ["reward: waits for no component, since no chain of `workflow` names it"]
    assert {each["task"]: each["any_degrees"] for each in its["rests_on"]} == {
        "rollout.generate": True, "reward.infer": False, "actor.train": False,
    }  # fmt: skip


def test_who_waits_for_each_other_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    its = solved(tmp_path / "job.yaml", capsys, "[rollout -> reward -> rollout, reward => actor]")["planned"]
    assert its["rounds"] == [["rollout.generate", "reward.infer"]]


def test_it_is_a_plan_that_is_read_as_that_of_the_option_o(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, file = solved(tmp_path / "job.yaml", capsys), tmp_path / "plan.json"
    file.write_text(json.dumps(data))
    assert read_plan(file).digest == data["digest"]


@pytest.mark.usefixtures("interruptible")
def test_that_the_searches_were_ended_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*arguments: object) -> plan.PlanOutput:
        os.kill(os.getpid(), signal.SIGINT)
        return plan.NOTHING

    monkeypatch.setattr("placewright.cli.solve.account_of", ended)
    codes = [each["code"] for each in solved(tmp_path / "job.yaml", capsys)["findings"]]
    assert codes == ["PW127", "PW602"]


def test_where_no_machines_are_known_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from placewright.cli.solve import solve

    path = tmp_path / "run.yaml"
    path.write_text("cluster: {num_nodes: 1}\nplacewright: {components: {actor: {accelerators: 4}}}\n")
    assert solve.main([str(path), "--format", "json"], standalone_mode=False) == 2
    data = json.loads(capsys.readouterr().out)
    assert (data["verdict"], data["findings"][-1]["code"]) == ("unusable", "PW011")
