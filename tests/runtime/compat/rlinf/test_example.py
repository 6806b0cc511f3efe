"""The example in RLinf's style, run as its users run it; docs show what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "rlinf"
SAID = {
    "worker_group.py": [
        "2 + 2 = -> rank 0 of 2 on 0,1",
        "2 + 2 = -> rank 1 of 2 on 0,1",
        "steps [2, 2, 2, 2]",
        "saved ['/checkpoints/actor:0']",
    ],
    "in_the_workers.py": ["('camera-0:0 on node 0', 20)", "('camera-1:0 on node 1', 20)", "measured step"],
}


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.parametrize("name", SAID)
def test_the_example_runs_on_simulated_nodes(name: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, timeout=280)
    assert done.stdout.splitlines() == SAID[name], done.stderr
