"""The example of standalone replicas, run as a reader runs it; docs show what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "standalone_replicas.py"


def test_it_is_short() -> None:
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 45


@pytest.mark.slow
@pytest.mark.ray
def test_it_runs_on_a_simulated_cluster_and_prints_what_its_page_shows() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    first, *_ = lines = done.stdout.splitlines()
    assert first.startswith("replica 0: ")
    assert len(lines) == 4
    assert lines[2].replace("replica 1", "replica 0") == first
    assert lines[1] == lines[3]
    assert f"```text\n{done.stdout}```" in (ROOT / "docs" / "how_to" / "replicas.md").read_text("utf-8")
