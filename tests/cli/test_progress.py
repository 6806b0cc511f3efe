"""What is seen of a search while it runs: a line that goes away on a terminal, lines in a log, nothing where nobody looks."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from placewright.cli.main import run

OPEN = """\
cluster: 1x5+6x4
components:
  a: {accelerators: 3, contiguous: true}
  b: {accelerators: 5, parallel: {tp: 5}}
  c: {accelerators: 7, contiguous: true}
  d: {accelerators: 4-8, parallel: {tp: 4}}
"""
COMMAND = "from placewright.cli.main import main; main()"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "open.yaml").write_text(OPEN)
    (tmp_path / "easy.yaml").write_text("cluster: 2x4\ncomponents:\n  a: {accelerators: 4}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--progress", "none"], ["--format", "json"]])
def test_nothing_is_seen_where_nobody_looks(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "open.yaml", *options]) == 0
    assert capsys.readouterr().err == ""


def test_a_log_gets_a_line_for_whatever_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "open.yaml", "--progress", "plain"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("searching, ") and " s: " in line for line in lines)
    assert lines[0].endswith("no answer yet") and lines[-1].endswith(": optimal")
    told = [line.partition(": ")[2] for line in lines]
    assert all(one != other for one, other in zip(told, told[1:]))


def on_a_terminal(file: str) -> tuple[str, str]:
    """(standard output, what a terminal got as standard error) of `solve`."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": ""}
    done = subprocess.run([sys.executable, "-c", COMMAND, "solve", file], stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # Linux says so where the other side is closed
        pass
    os.close(ours)
    assert done.returncode == 0
    return done.stdout, seen.decode()


def test_a_terminal_has_one_line_that_goes_away() -> None:
    out, seen = on_a_terminal("open.yaml")
    assert "open.yaml: optimal" in out
    assert "no answer yet" in seen and "0:00:0" in seen
    assert seen.endswith("\x1b[2K") and "\x1b[?25h" in seen  # the line is cleared and the cursor is back


def test_what_is_answered_at_once_shows_no_line() -> None:
    out, seen = on_a_terminal("easy.yaml")
    assert "easy.yaml: optimal" in out and seen == ""
