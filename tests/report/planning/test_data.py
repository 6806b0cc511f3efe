"""The account of a plan for a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.report.planning.data import to_data

FILE = """
cluster: 2x8xH100
components:
  rollout: {seconds: {4: 100, 8: 55}, memory: 60GiB}
  actor: {seconds: {8: 60}, parallel: {tp: 2}, memory: 70GiB}
  simulator: {node_group: node, processes: 4, seconds: 20}
plan: {workflow: simulator -> rollout -> actor, batches: 16}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("plan") / "train.yaml"
    path.write_text(FILE)
    found = json.loads(json.dumps(to_data(pw.account(path, sandbox=False))))
    assert isinstance(found, dict)
    return found


def test_it_says_what_was_chosen_and_what_is_proved_of_it(data: dict[str, Any]) -> None:
    assert (data["cost_model"], data["batches"], data["minimise"], data["proved"]) == ("stream", 16, "seconds", True)
    assert data["seconds"] == data["bound"] == sum(data["parts"]) == sum(data["adds"].values())
    assert data["components"]["rollout"]["accelerators"] == 8
    assert data["components"]["actor"]["parallel"] == {"tp": 2, "pp": 1, "cp": 1, "ep": 1, "dp": 1}
    assert {name: its["replicas"] for name, its in data["components"].items()} == {"rollout": 8, "actor": 4, "simulator": 4}
    assert data["components"]["simulator"]["resources"] == 4
    assert data["blocks"] == [
        {"components": ["rollout"], "accelerators": 8, "model": "H100"}, {"components": ["actor"], "accelerators": 8, "model": "H100"},
    ]  # fmt: skip


def test_it_says_who_works_when(data: dict[str, Any]) -> None:
    rollout, actor, simulator = data["usage"]
    assert [each.get("block") for each in data["usage"]] == [0, 1, None]
    assert (simulator["component"], simulator["works"][0]["seconds"]) == ("simulator", 20.0)
    assert simulator["idle"] + 20 == pytest.approx(data["seconds"])
    assert rollout["works"][0] == {"task": "rollout", "seconds": 55.0, "begins": 1.25, "ends": 56.25}
    assert rollout["idle"] + 55 == actor["idle"] + 60 == data["seconds"]


def test_it_says_what_is_held_of_what_there_is(data: dict[str, Any]) -> None:
    rollout, actor = data["memory"]
    assert (rollout["components"], rollout["peak"], rollout["capacity"]) == (["rollout"], 60 * 1024, 80 * 1024)
    assert actor["parts"][0]["components"] == [{"component": "actor", "mebibytes": 70 * 1024, "state": "works", "origin": "declared"}]


def test_it_says_what_its_times_rest_on_and_where_it_flips(data: dict[str, Any]) -> None:
    assert {each["task"]: each["kind"] for each in data["rests_on"]} == {
        "rollout": "measured",
        "actor": "measured",
        "simulator": "measured",
    }
    flips = {(each["component"], each["flips"] > 1): each for each in data["sensitivity"]["flips"]}
    assert set(flips) == {("rollout", True), ("rollout", False), ("actor", True), ("actor", False)}
    assert all(each["to"]["seconds"] * 1.05 <= each["takes"] and each["to"]["placed"] for each in flips.values())
    assert "yours" not in data


def test_what_nobody_says_the_time_of_is_in_a_part_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    path.write_text(
        FILE.replace(
            "memory: 70GiB}", "memory: 60GiB, offloaded: 4GiB, phase: train}\n  judge: {colocate_with: actor, memory: 70GiB, phase: infer}"
        )
    )
    data: Any = to_data(pw.account(path, sandbox=False, searches=0))
    its = next(each for each in data["memory"] if "judge" in each["components"])
    assert its["peak"] == (70 + 4) * 1024
    assert [(part["part"], part.get("phase")) for part in its["parts"]] == [(0, None), (None, "infer")]
    assert {each["component"]: each["state"] for each in its["parts"][1]["components"]} == {"actor": "kept", "judge": "works"}
    usage = next(each for each in data["usage"] if "without_seconds" in each)
    assert usage["without_seconds"] == ["judge"] and "idle" not in usage
