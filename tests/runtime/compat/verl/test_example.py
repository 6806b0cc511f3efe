"""The example in verl's style, as a user runs it: four nodes of eight; docs show what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import placewright
import pytest

pytestmark = pytest.mark.ray
EXAMPLE = Path(next(iter(placewright.__path__))) / "examples" / "verl" / "worker_group.py"
PAGE = EXAMPLE.parents[2] / "docs" / "how_to" / "worker_groups.md"


@pytest.mark.slow
def test_it_says_what_it_promises(tmp_path: Path) -> None:
    """In a process of its own, with a cluster of its own: 32 bundles on four nodes cannot be asked of the shared one."""
    pytest.importorskip("ray")
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=280, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:6] == [
        "dealt out [1, 2]",
        "to all [11, 12] by Ray itself [111, 112]",
        "visible ['0', '1']",
        "in one process [1, 2] [1.5, 1.5]",
        "tensor parallel groups of 8 are on nodes [{0}, {1}, {2}, {3}]",
        "refused: pool `global_pool` needs 40 accelerators, the cluster has 32",
    ]
    assert [line.split(":")[0] for line in lines[6:]] == ["`node-0`", "`node-1`", "`node-2`", "`node-3`", "help"]
    assert f"```text\n{done.stdout}```" in PAGE.read_text("utf-8")
