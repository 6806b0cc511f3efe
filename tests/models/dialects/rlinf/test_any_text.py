"""Whatever a file holds, reading it ends in findings."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.finding import UnusableInput
from placewright.models.span import apply_edits
from placewright.solver.verify import verify

SEEDS = (
    """cluster:
  num_nodes: 4
  component_placement:
    actor,rollout: 0-7,8-11:8-9
    env: {node_group: "a,b", placement: all}
    agent: {node_group: [node], placement: 0-1:0-199}
  node_groups:
    - label: a
      node_ranks: 0-1
      env_configs: [{node_ranks: all, env_vars: [{A: 1}]}]
    - {label: b, node_ranks: [2], ignore_hardware: false}
    - label: r
      node_ranks: 3
      hardware: {type: Franka, configs: [{node_rank: 3, robot_ip: 10.0.0.1}]}
  profiling: {backend: nsight, options: {o: 1}, flags: x}
n: ${cluster.num_nodes}
""",
    "cluster: {num_nodes: '${n}', component_placement: {actor: '${.rollout}', rollout: '0-${m}'}}\nn: 1\nm: 7\n",
)
BITS = (
    "0", "-", ":", ",", "all", "9", "${n}", "${.a}", "[", "]", "{", "}", "'", '"', "\n", "  ", "- ", "null", "~", "???", "1:30", "0x1", "9" * 30, "&a", "*a",
    "!!int", "node", "cluster", "label", "é", "\t", "<<", "|", "#", "1e3", ".inf", "${", "a" * 200,
)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 12), st.sampled_from(BITS)), min_size=1, max_size=3),
    st.sampled_from(["x8", "x0", "2x8", "1x8+3x0", None]),
)
def test_a_mutated_file_gives_findings_and_nothing_worse(read, text: str, cuts: list[tuple[int, int, str]], machines: str | None) -> None:
    for start, length, bit in cuts:
        start = min(start, len(text))
        text = text[:start] + bit + text[start + length :]
    try:
        report = verify(read(text, machines))
    except UnusableInput:
        return
    for finding in report.findings:
        assert finding.message
        assert finding.span is None or 0 <= finding.span.start <= finding.span.end <= len(text)
        if finding.edit is not None:
            apply_edits(text, [finding.edit])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="0123456789-:,al _+", max_size=24))
def test_every_edit_of_a_placement_mends_it(placed, text: str) -> None:
    reading = placed(f'"{text}"')
    for finding in reading.findings:
        if finding.edit is not None and finding.edit.span.start > reading.source.text.index("actor"):
            after = apply_edits(reading.source.text, [finding.edit])
            assert placed(after.split("actor: ")[1].strip()).findings == ()


RANKS = ",".join(str(i) for i in range(20_000, 0, -1))
GROUPS = ",".join(f"{{label: a{i}, node_ranks: all}}" for i in range(7_000))


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "cluster",
    [
        "num_nodes: 999999999999, component_placement: {}",
        "num_nodes: 65536, component_placement: {a: '0:0-999999999999'}",
        f"num_nodes: 9999, component_placement: {{a: '{RANKS}', b: '{'0-' * 20_000}'}}",
        f"num_nodes: 1000, component_placement: {{}}, node_groups: [{GROUPS}]",
        f"num_nodes: 65536, component_placement: {{{','.join(f'a{i}: all' for i in range(2_000))}}}",
        f"num_nodes: 10, component_placement: {{{','.join(f'b{i}: {{node_group: x{i}, placement: 0}}' for i in range(5_000))}}}",
    ],
)
def test_sizes_beyond_all_sense_are_refused_quickly(read, cluster: str) -> None:
    assert read(f"cluster: {{{cluster}}}").findings
