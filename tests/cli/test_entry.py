"""A Ctrl-C that comes while the command loads its modules ends it without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = "import signal; signal.signal(signal.SIGINT, signal.{0}); from placewright.cli.entry import main; main()"
HIT = "import os, signal, sys\nos.kill(os.getpid(), signal.SIGINT)\nsum(range(10**6))\n"
REAL = "sys.path.pop(0); del sys.modules[__name__]; import {0}; sys.modules[__name__] = {0}\n"


def started(folder: Path, handler: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-c", BEGIN.format(handler), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280)


@pytest.mark.parametrize("module", ["click", "yaml"])
def test_a_ctrl_c_while_modules_load_says_that_it_came_and_nothing_else(tmp_path: Path, module: str) -> None:
    """click is loaded before the verb is known, yaml by the verb."""
    (tmp_path / f"{module}.py").write_text(HIT)
    done = started(tmp_path, "default_int_handler", ["verify", "no.yaml"])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_one_that_is_ignored_stays_so(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(HIT + REAL.format("click"))
    done = started(tmp_path, "SIG_IGN", ["--version"])
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("placewright ")


def test_the_installed_command_begins_there() -> None:
    assert 'placewright = "placewright.cli.entry:main"' in (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text("utf-8")


def test_a_named_interpreter_runs_the_same_command(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("cluster: {num_nodes: 1, component_placement: {actor: 0-2}}\n")
    command = [sys.executable, "-m", "placewright", "verify", "job.yaml", "--cluster", "1x2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stderr) == (1, "") and "job.yaml:1:" in done.stdout


def test_afterwards_it_is_heard_as_always() -> None:
    code = """\
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["placewright", "--version"]
from placewright.cli import entry
try:
    entry.main()
except SystemExit:
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=280)
    assert done.stdout.splitlines()[-1] == "True"
