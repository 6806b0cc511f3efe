"""Launches that outlive their command, on shared nodes, when a node dies: what `status` says before, meanwhile and after."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.plan_file import plan_to_json
from placewright.models.placements.run import Run
from placewright.runtime.detached.record import read_record
from placewright.runtime.simulated.simulate import SimulatedCluster

from ..conftest import Planner
from ..test_command import PATIENCE, PROGRAM, wait_until

pytestmark = pytest.mark.ray
Verb = Callable[..., "subprocess.CompletedProcess[str]"]
NODES = read_shorthand("3x2xH100").nodes


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[SimulatedCluster, str]]:
    """A cluster of its own: its nodes die."""
    pytest.importorskip("ray")
    its = SimulatedCluster()
    try:
        yield its, its.start(NODES, dict.fromkeys(range(3), 2))
    finally:
        its.stop()


@pytest.fixture
def verb(cluster: tuple[SimulatedCluster, str], plan: Planner, tmp_path: Path, directory: Path) -> Iterator[Verb]:
    """Runs a verb; a launch is of the file that is named, on that cluster; whatever it leaves is ended after the test."""
    for name, runs in {"pair": (Run(range(2), 1),), "first": (Run(range(1), 0),), "last": (Run(range(1), 2),)}.items():
        (tmp_path / f"{name}.json").write_text(plan_to_json(plan("3x2xH100", actor=runs)))

    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(_command(name, cluster[1], *arguments), cwd=tmp_path, text=True, capture_output=True, timeout=PATIENCE)

    yield run
    for entry in directory.iterdir() if directory.exists() else ():
        run("stop", entry.name)


def _command(name: str, address: str, *arguments: str) -> list[str]:
    options = ["--address", address, "--share-nodes", "--restarts", "1"] if name == "launch" else []
    return [sys.executable, "-c", PROGRAM, name, *arguments, *options]


def told(verb: Verb, name: str) -> dict[str, Any]:
    (its,) = json.loads(verb("status", name, "--format", "json").stdout)["launches"]
    return dict(its)


@pytest.mark.slow
def test_a_node_that_dies_under_two_launches(cluster: tuple[SimulatedCluster, str], verb: Verb, tmp_path: Path, directory: Path) -> None:
    assert verb("discover", "--address", cluster[1], "-o", "found.yaml").returncode == 0
    for name in ("pair", "first"):
        done = verb("launch", f"{name}.json", "--detach", name)
        assert done.returncode == 0, done.stderr
    pair = directory / "pair"
    assert "pair" in verb("status").stdout and " 0/1 " in verb("status").stdout

    cluster[0].remove_node(1)
    wait_until(lambda: getattr(read_record(pair), "restarts", 0) == 1)
    its = told(verb, "pair")
    if its["state"] == "recovering":
        assert [each["message"] for each in its["findings"]] == ["node `node-1` is lost, and with it ranks `actor` 0-1"]
    wait_until(lambda: getattr(read_record(pair), "state", "") == "running")
    its = told(verb, "pair")
    assert ({worker["node"] for worker in its["workers"]}, its["restarts"], its["allowed"]) == ({"node-2"}, 1, 1)
    said = verb("status", "pair")
    assert said.returncode == 0
    words = " ".join(said.stdout.split())  # lines of at most 100 columns
    assert "s without `node-1`: 1 of 1 group moved, 1 was on lost nodes, proved to be the fewest" in words
    assert "placing anew without node-1" in (directory / "pair" / "keeper.log").read_text()
    assert told(verb, "first")["restarts"] == 0
    assert verb("stop", "pair").returncode == 0

    said_last = tmp_path / "said"
    with open(said_last, "w") as output, tempfile.TemporaryFile("w+") as errors:
        kept = subprocess.Popen(_command("launch", cluster[1], "last.json", "--keep"), cwd=tmp_path, stdout=output, stderr=errors)
        try:
            wait_until(lambda: any(directory.glob("last-*/launch.json")))
            cluster[0].remove_node(2)
            wait_until(lambda: "running again after" in said_last.read_text())  # its record is there a moment before
            assert _state(directory).recoveries
            assert verb("stop", _state(directory).name).returncode == 0
            assert kept.wait(PATIENCE) == 0
        finally:
            kept.kill()
        errors.seek(0)
        lines = said_last.read_text()
        assert "running again after" in lines and "node-0: accelerators 0 of the plan are 1 there" in lines
        assert lines.endswith("ok: 1 worker of 1 component ran on 1 node, each as planned; all ended\n")
        assert "restart 1 of 1: node `node-2` is lost, and with it ranks `actor` 0\n" in errors.read()
    assert told(verb, "first")["state"] == "running"
    assert verb("stop", "first").returncode == 0
    assert list(directory.iterdir()) == []

    (tmp_path / "whole.yaml").write_text("components:\n  actor: {accelerators: 6, parallel: {tp: 2}}\n")
    done = verb("launch", "whole.yaml", "--cluster", str(tmp_path / "found.yaml"))
    assert (done.returncode, done.stdout.count("\n")) == (4, 1)
    for rank in (1, 2):
        assert (
            f"error[PW702]: node {rank} (`node-{rank}`) is missing: no Ray node has the label placewright.node-rank={rank}" in done.stderr
        )
    found = verb("discover", "--address", cluster[1])
    assert "taken" not in found.stdout and "found 1 node, 2 accelerators" in found.stderr


def _state(directory: Path) -> Any:
    return next(read_record(path.parent) for path in directory.glob("last-*/launch.json"))
