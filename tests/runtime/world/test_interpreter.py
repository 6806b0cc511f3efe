"""Interpreters that cannot run workers say why, in seconds, and leave no process."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from placewright.runtime.workers.inside.on_node import difference, fault, run_trials

from ...unhindered import unhindered

ray = pytest.importorskip("ray")


def program(path: Path, *lines: str) -> str:
    """An executable file that a shell runs."""
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return str(path)


def test_this_interpreter_runs_workers_here_and_one_that_is_not_there_does_not(tmp_path: Path) -> None:
    assert run_trials([(sys.executable, {}), (str(tmp_path / "python"), {})], 60.0) == [
        "",
        "it cannot be started: No such file or directory",
    ]


def test_what_is_no_program_says_so(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    assert fault(str(tmp_path), {}, 5.0) == "it cannot be started: Permission denied"
    assert fault(str(tmp_path / "text"), {}, 5.0) == "it cannot be started: Permission denied"
    assert fault(program(tmp_path / "other", "echo hello"), {}, 5.0) == "it is no Python interpreter"
    (tmp_path / "binary").write_bytes(b"\x7fELF")
    (tmp_path / "binary").chmod(0o755)
    assert "cannot be started" in fault(str(tmp_path / "binary"), {}, 5.0)


def test_the_last_line_of_its_complaint_is_the_reason(tmp_path: Path) -> None:
    bare = program(tmp_path / "bare", "echo Traceback >&2", "echo \"ModuleNotFoundError: No module named 'ray'\" >&2", "exit 1")
    assert fault(bare, {}, 5.0) == "ModuleNotFoundError: No module named 'ray'"
    assert fault(program(tmp_path / "mute", "exit 3"), {}, 5.0) == "it ended with 3"


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "late"
    slow = program(tmp_path / "slow", f"(sleep 3; touch {mark}) &", "sleep 60")
    before = unhindered()
    assert fault(slow, {}, 0.5) == "it did not import Ray within 0.5 s"
    assert unhindered() - before < 3
    time.sleep(3.2)
    assert not mark.exists()


def test_versions_that_differ_from_the_clusters_are_told() -> None:
    ours = list(sys.version_info[:2])
    assert difference(json.dumps([ours, ray.__version__])) == ""
    assert difference(json.dumps([ours, "1.0"])) == f"it has Ray 1.0, the cluster runs {ray.__version__}"
    assert difference(json.dumps([[3, 8], ray.__version__])) == f"it is Python 3.8, the cluster runs {ours[0]}.{ours[1]}"
    assert difference("") == difference("[1]") == difference("hello") == "it is no Python interpreter"


def test_it_is_tried_with_the_variables_of_its_workers(tmp_path: Path) -> None:
    here = Path(program(tmp_path / "mine", 'echo "$GREETING" >&2', "exit 1"))
    assert fault("mine", {"PATH": f"{here.parent}:${{PATH}}", "GREETING": "hello"}, 5.0) == "hello"
