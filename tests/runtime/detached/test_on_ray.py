"""Launches that outlive their command, from the command line: started, told, ended, killed; and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from placewright.models.placements.plan_file import plan_to_json
from placewright.models.placements.run import Run
from placewright.runtime.detached.launches import attach
from placewright.runtime.detached.record import read_record

from ...unhindered import unhindered
from ..conftest import Planner
from ..test_command import PATIENCE, PROGRAM, mark, running, wait_until

__all__ = ["mark"]
pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by their environment in /proc"),
]
Verb = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def verb(plan: Planner, mark: str, tmp_path: Path, directory: Path) -> Iterator[Verb]:
    """Runs a verb in the directory of the worker classes; whatever it leaves is ended after the test."""
    (tmp_path / "plan.json").write_text(plan_to_json(plan("2x4", actor=(Run(range(2), 0),))))
    environment = {**os.environ, "TEST_MARK": mark, "TEST_DIRECTORY": str(tmp_path)}

    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PROGRAM, name, *([str(tmp_path / "plan.json")] if name == "launch" else []), *arguments]
        where = Path(__file__).parents[1] / "user_code"
        return subprocess.run(command, cwd=where, env=environment, text=True, capture_output=True, timeout=PATIENCE)

    yield run
    for entry in directory.iterdir() if directory.exists() else ():
        run("stop", entry.name)


def told(verb: Verb, name: str) -> dict[str, Any]:
    (its,) = json.loads(verb("status", name, "--format", "json").stdout)["launches"]
    return dict(its)


def test_a_detached_launch_runs_on_until_it_is_stopped(verb: Verb, address: str, mark: str, directory: Path) -> None:
    done = verb("launch", "--address", address, "--detach", "trial")
    assert done.returncode == 0, done.stderr
    assert "running: `trial`, 2 workers of 1 component on 1 node, each as planned" in done.stdout
    assert "constructing: actor 2/2\n" in done.stderr
    its = told(verb, "trial")
    assert (its["state"], len(its["workers"]), its["address"]) == ("running", 2, address)
    with attach("trial") as groups:
        assert [each["RANK"] for each in groups["actor"].call("environment")] == ["0", "1"]
    assert [line for line in running(mark) if "detached.keeper" in line]
    stopped = verb("stop", "trial")
    assert (stopped.returncode, stopped.stdout) == (0, "`trial` has ended: nothing is left running\n")
    assert running(mark) == []
    assert list(directory.iterdir()) == []


@pytest.mark.slow
def test_a_worker_that_dies_ends_the_launch_which_says_so(verb: Verb, address: str, directory: Path) -> None:
    assert verb("launch", "--address", address, "--detach", "trial").returncode == 0
    pid = told(verb, "trial")["workers"][1]["pid"]
    began = unhindered()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: getattr(read_record(directory / "trial"), "state", "") == "failed")
    assert unhindered() - began < 10
    wait_until(lambda: verb("status", "trial").returncode == 4)
    done = verb("status", "trial")
    assert "error[PW704]: rank 1 of `actor` on `node-0` died" in done.stderr
    assert verb("stop", "trial").stdout == "`trial` had failed before; its record is removed\n"


@pytest.mark.slow
def test_a_keeper_that_is_killed_takes_all_with_it(verb: Verb, mark: str, directory: Path) -> None:
    done = verb("launch", "--simulate", "--detach", "trial")
    assert done.returncode == 0, done.stderr
    os.kill(told(verb, "trial")["pid"], signal.SIGKILL)
    wait_until(lambda: running(mark) == [])
    done = verb("status")
    assert (done.returncode, "error[PW733]" in done.stderr) == (4, True)
    assert verb("status").stdout == "no launches\n"
    assert list(directory.iterdir()) == []


@pytest.mark.slow
def test_a_method_that_returns_ends_a_detached_launch(verb: Verb, address: str, directory: Path) -> None:
    done = verb("launch", "--address", address, "--detach", "trial", "--worker", "workers:Parent", "--call", "children")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: getattr(read_record(directory / "trial"), "state", "") == "ended")
    assert verb("status").returncode == 0
    verb("stop", "trial")


def test_what_keeps_the_workers_from_starting_is_told_by_the_command_itself(verb: Verb, address: str, directory: Path) -> None:
    done = verb("launch", "--address", address, "--detach", "trial", "--worker", "workers:RefusesOne")
    assert (done.returncode, done.stdout.count("\n")) == (4, 1)
    assert "error[PW703]: rank 1 of `actor` on `node-0` could not be constructed: ValueError: no weights for rank 1" in " ".join(
        done.stderr.split()
    )
    assert done.stderr.endswith("not launched: nothing is left running\n")
    assert list(directory.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_ends_before_its_keeper_is_ready_ends_it(
    number: int, verb: Verb, plan: Planner, address: str, mark: str, tmp_path: Path, directory: Path
) -> None:
    arguments = ["launch", str(tmp_path / "plan.json"), "--address", address, "--detach", "trial", "--worker", "workers:Sleeper"]
    environment = {**os.environ, "TEST_MARK": mark, "TEST_DIRECTORY": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[1] / "user_code", env=environment)
    wait_until(lambda: read_record(directory / "trial") is not None and any("Sleeper" in line for line in running(mark)))
    process.send_signal(number)
    process.wait(PATIENCE)
    wait_until(lambda: running(mark) == [] and list(directory.iterdir()) == [])
