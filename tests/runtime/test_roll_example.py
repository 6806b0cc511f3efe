"""The example in ROLL's style, run as its users run it; docs show what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "roll" / "worker_group.py"


@pytest.mark.slow
@pytest.mark.ray
def test_the_example_runs_on_simulated_nodes() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=280)
    assert done.stdout.splitlines() == [
        "2 + 2 = -> actor_infer 0 on node 0, sees 0,1",
        "2 + 2 = -> actor_infer 1 on node 1, sees 0,1",
        "learned from [2, 2, 2, 2]",
    ], done.stderr
    assert f"```text\n{done.stdout}```" in (EXAMPLE.parents[2] / "docs" / "how_to" / "worker_groups.md").read_text("utf-8")
