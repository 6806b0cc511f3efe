"""Real configurations with random bytes changed: a verdict in time, never our own fault. `benchmarks/fuzz.py` does more of it."""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "rlinf"
FILES = (
    [CORPUS / line for line in (CORPUS / "placement_files.txt").read_text("utf-8").split()]
    if CORPUS.is_dir()
    else sorted([*(ROOT / "examples").glob("*.yaml"), *(ROOT / "tests").rglob("*.yaml")])
)
BYTES = st.one_of(
    st.binary(max_size=3),
    st.sampled_from([b"all", b"0-7", b": ", b",", b"\n", b"  ", b"{", b"]", b"'", b"${", b"~", b"99999999999", b"\r"]),
)
EDIT = st.tuples(st.booleans(), st.integers(0, 800), st.integers(0, 3), BYTES)
SECONDS = 5.0


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FILES), st.lists(EDIT, min_size=1, max_size=3))
def test_changed_bytes_end_in_a_verdict(file: Path, edits: list[tuple[bool, int, int, bytes]]) -> None:
    data = file.read_bytes()
    for near, start, length, new in edits:
        start += max(data.find(b"cluster:"), 0) if near else 0
        data = data[:start] + new + data[start + length :]
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "run.yaml"
        changed.write_bytes(data)
        said = io.StringIO()
        began = time.process_time()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = run(["verify", str(changed), "--cluster", "x8", "--config-root", str(file.parent)])
        assert code in (0, 1, 2, 5), said.getvalue()
        assert time.process_time() - began < SECONDS
