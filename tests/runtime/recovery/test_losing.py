"""Four simulated nodes of a real Ray cluster: a worker is killed, nodes are lost and come back. The program is losing.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program found."""
    pytest.importorskip("ray")
    mark = tmp_path_factory.mktemp("losing") / "mark"
    program = [sys.executable, "-m", "tests.runtime.recovery.losing", str(mark)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_killed_worker_is_noticed_within_two_seconds_and_started_again_where_it_was(said: dict[str, Any]) -> None:
    killed = said["killed"]
    ((code, message),) = killed["failure"]
    assert code == "PW704" and "rank 2 of `actor` on `node-2` died" in message
    assert killed["noticed"] < 2
    assert killed["same"]


def test_a_lost_node_is_noticed_and_told_within_three_seconds_though_ray_alone_would_need_a_dozen(said: dict[str, Any]) -> None:
    lost = said["lost"]
    assert [code for code, _ in lost["failure"]] == ["PW713"]
    assert lost["noticed"] < 3
    assert lost["heard"] < 3


def test_only_what_was_on_the_lost_node_moves_and_all_of_it_works(said: dict[str, Any]) -> None:
    lost = said["lost"]
    moved = {rank for rank, node in lost["before"].items() if lost["after"][rank] != node}
    assert moved == {rank for rank, node in lost["before"].items() if node == lost["node"]}
    assert "1 of 3 groups moved, 1 was on lost nodes, proved to be the fewest" in lost["words"]
    assert lost["works"] == ["trained"] * 3


def test_a_launch_that_fits_no_longer_ends_with_the_sum_and_leaves_nothing(said: dict[str, Any]) -> None:
    codes = [code for code, _ in said["ended"]["failure"]]
    assert codes[0] == "PW713" and codes[-1] == "PW714" and "PW601" in codes
    assert said["ended"]["left"] == []
    assert said["left"] == []


def test_a_range_follows_the_nodes_that_are_there(said: dict[str, Any]) -> None:
    assert said["range"]["sizes"] == [4, 3, 3]
    assert said["range"]["at last"] == ["node-0", "node-1", "node-3"]
