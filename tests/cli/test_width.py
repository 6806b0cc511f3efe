"""A real terminal of 40 and 200 columns: every line fits; a reader that goes away ends the command cleanly."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Sequence

import click
import pytest
from placewright.cli.main import VERBS, cli
from placewright.report.wrapping import COLUMNS

TEXT = """cluster:
  num_nodes: 1
  component_placement: {actor: 0-8, rollout: 0-9, a_component_with_a_long_name: 0-11, inference: all}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run.yaml").write_text(TEXT)
    (tmp_path / "other.yaml").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_terminal(columns: int, *words: str, command: Sequence[str] = ("-m", "placewright")) -> tuple[int, list[str]]:
    """Exit code and lines, without colour, of a command in a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"}
    process = subprocess.Popen([sys.executable, *command, *words], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    printed = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # the terminal was closed at the other side
            break
        if not data:
            break
        printed += data
    os.close(ours)
    return process.wait(), re.sub("\x1b\\[[0-9;]*m", "", printed.decode()).split("\r\n")


@pytest.mark.parametrize("columns", [40, 200])
@pytest.mark.parametrize("words", [["run.yaml"], ["run.yaml", "other.yaml"]])
@pytest.mark.usefixtures("folder")
def test_lines_fit_a_terminal(columns: int, words: list[str]) -> None:
    code, lines = in_terminal(columns, "verify", *words, "--cluster", "x8")
    assert code == 1
    assert max(map(len, lines)) <= columns
    assert max(map(len, lines)) > columns // 2
    assert "faulty" in " ".join(lines)


HINTS = "cluster: 2x8xH100\ncomponents:\n  actor_train: {accelerators: 8, memory: 60GiB}\n  actor_infer: {accelerators: 8}\n"


@pytest.mark.parametrize(
    "words", [["explain", "hints.yaml"], ["solve", "hints.yaml"], ["whatif", "hints.yaml"], ["--version", "--verbose"]]
)
def test_tables_fit_a_terminal_of_40_columns(folder: Path, words: list[str]) -> None:
    (folder / "hints.yaml").write_text(HINTS)
    code, lines = in_terminal(40, *words)
    lines = [line.rpartition("\r")[2] for line in lines]  # what is shown while a search runs is overwritten
    assert code == 0
    assert max(len(line) for line in lines if not line.startswith(("+", "-"))) <= 40
    assert "actor_train: " in "\n".join(lines) or words[0] == "--version"


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_terminal(columns: int, verb: str) -> None:
    token = COLUMNS.set(columns)
    try:
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        lines = command.make_context(verb, [], resilient_parsing=True).get_help().splitlines()
    finally:
        COLUMNS.reset(token)
    whole = re.compile(r"  (placewright|cat|curl|eval|#|  -|-{1,2}[\w-]+( \[\S+\])?$)")  # commands to be copied, words of an option
    assert max(len(line) for line in lines if not whole.match(line)) <= columns
    assert max(map(len, lines)) <= 80


LAUNCH = """
from placewright.cli.main import run
from placewright.runtime.detached import launches
from placewright.runtime.detached.record import Record, Worker
from placewright.runtime.failure import build_failure

workers = tuple(Worker("actor_rollout_reference", rank, 16, rank // 8, f"node-{rank // 8}", "a" * 32, 1000 + rank, rank % 8, 8,
    (str(rank % 8),), "") for rank in range(16))
lost = build_failure("PW713", "b", "node `b` is lost, and with it ranks `actor` 4-7 of 16", "launch with restarts", 1)
file = "/data/someone/experiments/configs/of/a/project/with/a/long/path/job.yaml"
running = Record("trial", "running", 0.0, 5, file, False, "10.0.0.1:6379", workers=workers, restarts=1, allowed=2)
records = [running, Record("other", "failed", 0.0, 5, file, True, findings=lost.findings)]
launches.launches = lambda: [launches.LaunchStatus(record, record.state, record.findings) for record in records]
launches.launch_named = lambda name: launches.launches()[0]
run(["status"])
run(["status", "trial"])
"""


@pytest.mark.parametrize("columns", [40, 80, 100, 200])
def test_launches_fit_a_terminal_and_name_their_files_whole(columns: int) -> None:
    _, lines = in_terminal(columns, command=["-c", LAUNCH])
    file = "/data/someone/experiments/configs/of/a/project/with/a/long/path/job.yaml"
    assert max(len(line) for line in lines if file not in line) <= columns
    assert sum(file in line for line in lines) == 3
    assert sum("actor_rollout_reference" in line for line in lines) >= 16


@pytest.mark.parametrize("words", [["discover"], ["schema", "nothing"], ["launch", "run.yaml", "--dry-run"], ["verify", "--fix"]])
@pytest.mark.usefixtures("folder")
def test_faults_of_a_command_line_fit_a_terminal(words: list[str]) -> None:
    code, lines = in_terminal(40, *words)
    assert code == 2
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize("form", ["text", "sarif"])
def test_a_reader_that_goes_away_ends_the_command(folder: Path, form: str) -> None:
    command = f"{sys.executable} -m placewright verify run.yaml -v --cluster x8 --format {form}"
    done = subprocess.run(["bash", "-c", f"{command} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() in ("1", "141")
    assert done.stderr == ""
