"""A launch from the command line leaves no process and no file: when it is over, interrupted, or killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Callable, Iterator

import pytest
from placewright.models.placements.plan_file import plan_to_json
from placewright.models.placements.run import Run
from placewright.runtime.detached.launches import launches, stop
from placewright.runtime.detached.record import read_record

from ..unhindered import unhindered
from .conftest import Planner

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by their environment in /proc"),
]
# A shell that runs this in the background makes its processes deaf to SIGINT, which a terminal never does.
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from placewright.cli.main import main; main()"
PATIENCE = 120.0
"""Seconds for what comes soon on a machine with nothing else to do."""
Launcher = Callable[..., "subprocess.Popen[str]"]


def running(mark: str) -> list[str]:
    """The command lines of all processes with this mark in their environment, those that only wait to be buried left out."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            try:
                if mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text().replace("\0", " ")[:400])
            except OSError:
                continue
    return found


def wait_until(condition: Callable[[], bool], limit: float = PATIENCE) -> None:
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def mark() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def directory() -> Iterator[Path]:
    """Where the simulated cluster may put its files; its path is short, as those of sockets must be."""
    with tempfile.TemporaryDirectory(prefix="pwt-") as name:
        yield Path(name)


@pytest.fixture
def started(plan: Planner, mark: str, tmp_path: Path, directory: Path) -> Iterator[Launcher]:
    """Starts `placewright launch` with a plan of two workers and these further arguments."""
    (tmp_path / "plan.json").write_text(plan_to_json(plan("1x4", actor=(Run(range(2), 0),))))
    environment = {**os.environ, "TEST_MARK": mark, "TEST_DIRECTORY": str(tmp_path), "TMPDIR": str(directory)}
    environment["XDG_RUNTIME_DIR"] = str(directory)
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PROGRAM, "launch", str(tmp_path / "plan.json"), "--progress", "none", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        processes.append(subprocess.Popen(command, cwd=Path(__file__).parent / "user_code", env=environment, text=True, **pipes))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def printed(process: subprocess.Popen[str], start: str) -> str:
    """What the command has printed when a line that starts so is complete; fails if it ends without one."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(start):
            return "".join(lines)
    raise AssertionError(f"ended without a line that starts with `{start}`: {''.join(lines)}")


def constructing(directory: Path) -> bool:
    return (directory / "actor-0").exists() and (directory / "actor-1").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_workers_start(started: Launcher, mark: str, tmp_path: Path, directory: Path, number: int) -> None:
    process = started("--simulate", "--worker", "workers:Sleeper")
    wait_until(lambda: constructing(tmp_path))
    process.send_signal(number)
    process.send_signal(number)  # impatience changes nothing
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output.count("\n")) == (128 + number, 1)  # what was to be launched
    assert errors.strip() == f"interrupted by {signal.Signals(number).name}: nothing is left running"
    assert running(mark) == []
    assert list(directory.iterdir()) == []


def test_interrupted_while_the_cluster_starts(started: Launcher, mark: str) -> None:
    process = started("--simulate", "--worker", "workers:Sleeper")
    wait_until(lambda: any("gcs_server" in line for line in running(mark)))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert running(mark) == []


@pytest.mark.slow
def test_killed_without_warning(started: Launcher, mark: str, tmp_path: Path, directory: Path) -> None:
    process = started("--simulate", "--worker", "workers:Sleeper")
    wait_until(lambda: constructing(tmp_path))
    process.kill()
    process.communicate(timeout=PATIENCE)
    wait_until(lambda: running(mark) == [] and list(directory.iterdir()) == [])


def test_when_all_is_over_nothing_is_left_not_even_what_workers_left_behind(started: Launcher, mark: str, directory: Path) -> None:
    process = started("--worker", "workers:Parent", "--call", "children")
    output, errors = process.communicate(timeout=PATIENCE)
    intent, *lines = output.splitlines()
    assert (process.returncode, errors) == (0, "")
    assert intent == "launching 2 workers of 1 component on a simulated cluster on this machine: class `workers:Parent`"
    assert lines[0].split() == ["component", "rank", "node", "name", "Ray", "node", "pid", "local", "sees", "audit"]
    assert [line.split()[:4] + line.split()[-3:] for line in lines[1:3]] == [
        ["actor", "0/2", "0", "node-0", "0", "as", "planned"],
        ["actor", "1/2", "0", "node-0", "1", "as", "planned"],
    ]
    assert lines[-1] == "ok: 2 workers of 1 component ran on 1 simulated node, each as planned; all ended"
    assert running(mark) == []
    assert list(directory.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("ended_by", ["SIGINT", "SIGTERM", "stop"])
def test_kept_workers_run_until_somebody_ends_them(
    ended_by: str, started: Launcher, mark: str, directory: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    process = started("--address", address, "--keep")
    before = printed(process, "running: ")
    (seen,) = launches()
    assert (seen.state, seen.record.pid, len(seen.record.workers)) == ("running", process.pid, 2)
    if ended_by == "stop":
        stop(seen.record.name)
    else:
        process.send_signal(getattr(signal, ended_by))
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert f"running: `{seen.record.name}`, 2 workers of 1 component on 1 node, each as planned, Ray at {address}\n" in before
    assert output.endswith("each as planned; all ended\n")
    assert running(mark) == []
    assert list((directory / "placewright").iterdir()) == []


@pytest.mark.slow
def test_kept_workers_that_die_end_the_command_which_says_so(started: Launcher, mark: str, address: str, directory: Path) -> None:
    process = started("--address", address, "--keep")
    record = directory / "placewright"
    wait_until(lambda: any(record.glob("*/launch.json")))
    kept = read_record(next(record.glob("*/launch.json")).parent)
    assert kept is not None
    os.kill(kept.workers[0].pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4
    assert errors.startswith("error[PW704]: rank 0 of `actor` on `node-0` died")
    assert errors.endswith("failed: nothing is left running\n")


def test_a_cluster_that_is_only_visited_stays(started: Launcher, mark: str, address: str) -> None:
    process = started("--address", address)
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert output.endswith("ok: 2 workers of 1 component ran on 1 node, each as planned; all ended\n")
    assert running(mark) == []


def test_where_no_ray_is_it_ends_within_seconds_with_one_error(started: Launcher) -> None:
    with socket.socket() as deaf:  # it does not listen, and nobody else can take its port meanwhile
        deaf.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        began = unhindered()
        output, errors = started("--address", address).communicate(timeout=PATIENCE)
        assert unhindered() - began < 10
    assert output.startswith(f"launching 2 workers of 1 component on Ray at {address}: ") and output.count("\n") == 1
    first, *_, last = errors.splitlines()
    assert first == f"error[PW701]: no Ray cluster can be used at `{address}`: Connection refused"
    assert last == "not launched: nothing is left running"
