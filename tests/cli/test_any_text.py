"""Whatever stands in a file: the exit code is 0, 1 or 2, the last line is a verdict, and nothing is our own fault."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.cli.main import run
from sampling import examples

RLINF = """\
gpus: 0-7
cluster:
  num_nodes: 3
  component_placement:
    actor,rollout: ${gpus}
    env: {node_group: franka, placement: "0:0-1"}
    agent: {node_group: node, placement: "0-1:0-3"}
    reward: {node_group: [a800], placement: all}
  node_groups:
    - {label: a800, node_ranks: 0-1, env_configs: [{node_ranks: 0, env_vars: [{A: "1"}]}]}
    - {label: franka, node_ranks: 2, hardware: {type: Franka, configs: [{robot_ip: 10.0.0.1, node_rank: 2}]}}
"""
NATIVE = """\
cluster: 2x8xH100
components:
  actor: {accelerators: 8, parallel: {tp: [8, 4]}, memory: 70GiB, phase: train}
  rollout: {accelerators: 4-8, colocate_with: actor, contiguous: true, stride: 2}
  env: {placement: 8-15}
  agent: {node_group: node, processes: 4}
"""
PIECES = st.sampled_from(
    ["0", "-1", "99999999999", "~", "{}", "[]", "''", "a: b", "\n", ":", ",", "-", "  ", "all", "${a}", "${gpus", "*x", "&x ", "!!int ", "é", "\t", "#"]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(PIECES) + text[start + draw(st.integers(0, 12)) :]
    return text


@pytest.mark.slow
@settings(max_examples=examples(75), deadline=None)
@given(
    st.one_of(mutated(RLINF), mutated(NATIVE), st.text(max_size=80)), st.sampled_from([None, "2x8xH100", "x8", "3x4+1x0"]), st.booleans()
)
def test_any_text_gets_a_verdict(text: str, cluster: str | None, as_json: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        arguments = [
            "verify",
            str(path),
            "--placements",
            *(["--cluster", cluster] if cluster else []),
            *(["--format", "json"] if as_json else []),
        ]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), pytest.MonkeyPatch.context() as patch:
            patch.setenv("PLACEWRIGHT_DEBUG", "1")
            code = run(arguments)
    assert code in (0, 1, 2, 5)
    if not as_json:
        assert [line for line in out.getvalue().splitlines() if not line.startswith(" ")][-1].startswith(str(path))
