"""The action and the hooks: their steps are run as a runner and pre-commit would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import placewright as pw
import pytest
import yaml

from .page import ROOT

FAULTY = "cluster: 2x8\ncomponents:\n  actor: {placement: 0-17}\n"
GOOD = "cluster: 2x8\ncomponents:\n  actor: {placement: 0-15}\n"


def verify_step() -> dict[str, str]:
    """Script of the step that verifies."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == "Verify")
    assert set(step["env"]) == {name.upper() for name in action["inputs"]}
    assert "${{" not in step["run"]  # inputs come through the environment, not into the text of the script
    return {"run": step["run"]}


def run_step(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """(exit code, output, summary) of the step in a folder."""
    command = folder / "bin" / "placewright"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m placewright "$@"\n')
    command.chmod(0o755)
    summary = folder / "summary.md"
    environment = {
        **os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(Path(pw.__file__).parents[1]),
        "GITHUB_STEP_SUMMARY": str(summary), "FILES": "configs", "CLUSTER": "", "FRAMEWORK": "", "ARGUMENTS": "", **inputs,
    }  # fmt: skip
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", verify_step()["run"]]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, summary.read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "bad.yaml").write_text(FAULTY)
    (tmp_path / "configs" / "good.yaml").write_text(GOOD)
    return tmp_path


def test_a_faulty_file_is_annotated_and_summed_up(folder: Path) -> None:
    code, said, summary = run_step(folder)
    assert code == 1
    assert said.startswith("::error file=configs/bad.yaml,line=3,endLine=3,col=22,endColumn=26,title=PW102::")
    assert summary.startswith("```text\n") and summary.endswith("```\n")
    assert "2 files: 1 ok, 1 faulty" in summary


def test_the_summary_of_a_file_shows_its_grid(folder: Path) -> None:
    code, _, summary = run_step(folder, FILES="configs/good.yaml", CLUSTER="2x8")
    assert code == 0
    assert "node-1  A  A  A  A  A  A  A  A\n" in summary


def test_inputs_reach_the_command_and_are_no_shell(folder: Path) -> None:
    hostile = "configs/good.yaml $(touch owned) `touch owned` ;touch owned"
    code, _, _ = run_step(folder, FILES=hostile)
    assert code == 2  # files that are not there
    assert not (folder / "owned").exists()


def test_machines_releases_and_options_are_passed_on(folder: Path) -> None:
    code, said, _ = run_step(folder, CLUSTER="3x8", FRAMEWORK="verl==0.6.1 roll==0.3.0", ARGUMENTS="--ignore PW114 --level placement")
    assert (code, "PW102" in said) == (0, False)


@pytest.mark.parametrize("hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")), ids=lambda hook: str(hook["id"]))
def test_a_hook_gets_the_changed_files(hook: dict[str, object], folder: Path) -> None:
    words = [sys.executable, "-m", *str(hook["entry"]).split(), "configs/bad.yaml", "configs/good.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(Path(pw.__file__).parents[1])}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    fixed = "0-15" in (folder / "configs" / "bad.yaml").read_text()
    assert (done.returncode, fixed) == ((0, True) if "fix" in str(hook["id"]) else (1, False))
