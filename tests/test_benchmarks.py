"""Every study runs without `--full` and writes its figures in the common form; its last full run is kept with its picture."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
STUDIES = sorted(path.stem for path in BENCHMARKS.glob("*.py") if path.stem != "study")


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_is_one_command(study: str, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(BENCHMARKS / f"{study}.py"), "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=110)
    assert done.returncode == 0, done.stderr
    found, kept = json.loads(file.read_text("utf-8")), json.loads((BENCHMARKS / "results" / f"{study}.json").read_text("utf-8"))
    for figures in (found, kept):
        assert figures["study"] == study
        assert figures["machine"]["cores"] >= 1
        assert figures["rows"]
        assert all(isinstance(row, dict) for row in figures["rows"])
    assert (BENCHMARKS / "results" / f"{study}.svg").read_text("utf-8").startswith("<?xml")


def test_the_two_formulations_agree_wherever_both_are_proved() -> None:
    rows = json.loads((BENCHMARKS / "results" / "formulations.json").read_text("utf-8"))["rows"]
    proved: dict[int, set[int]] = {}
    for row in rows:
        if row["status"] == "optimal":
            proved.setdefault(row["accelerators"], set()).add(row["objective"])
    assert proved
    assert all(len(objectives) == 1 for objectives in proved.values())
