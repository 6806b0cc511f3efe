"""Whatever a file holds, reading it ends in findings."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.planner.verify import verify
from sampling import examples

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


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(alphabet="0123456789-:,al _+", max_size=24))
def test_every_edit_of_a_placement_mends_it(placed, text: str) -> None:
    reading = placed(f'"{text}"')
    for finding in reading.findings:
        if finding.edit is not None and finding.edit.span.start > reading.source.text.index("actor"):
            after = apply_edits(reading.source.text, [finding.edit])
            assert placed(after.split("actor: ")[1].strip()).findings == ()


RANKS = ",".join(str(i) for i in range(20_000, 0, -1))
GROUPS = ",".join(f"{{label: a{i}, node_ranks: all}}" for i in range(7_000))


@pytest.mark.slow
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


NODE_RANKS = st.one_of(
    st.text(alphabet="0123456789-:,al _+", max_size=16),
    st.lists(st.sampled_from(["0", "2", "0-1", "2-0", "1-9", "all", "x", "", " 1 ", "-1", "7"]), max_size=4).map(",".join),
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(NODE_RANKS)
def test_every_edit_of_node_ranks_mends_them(judged, text: str) -> None:
    before = f'cluster:\n  num_nodes: 3\n  component_placement: {{}}\n  node_groups:\n  - label: a\n    node_ranks: "{text}"\n'
    findings = judged(before).findings
    edits = list(dict.fromkeys(finding.edit for finding in findings if finding.edit))
    assert len(findings) == len([finding for finding in findings if finding.edit]) or judged(before).errors
    if edits:
        assert judged(apply_edits(before, edits)).findings == ()


MIXED = """  node_groups:
  - {label: high, node_ranks: 2-3}
  - {label: low, node_ranks: 0-1}
  - {label: odd, node_ranks: "1,3"}
  - {label: bare, node_ranks: 1-2, ignore_hardware: true}
  - {label: arms, node_ranks: 1-2, hardware: {type: Turtle2, configs: [{node_rank: 1}, {node_rank: 2}]}}
"""
LABELS = st.lists(st.sampled_from(["high", "low", "odd", "bare", "arms", "node", "cluster", "Low", "", "hihg"]), min_size=1, max_size=3)
TEXTS = st.one_of(
    st.text(alphabet="0123456789-:,al _+", max_size=12),
    st.lists(st.sampled_from(["0-3", "4", "all", "5-9", "9-5", "0-15", "0-7:0-1", "3-5:0", "8-15:0-2", "0:0-5", "1-2:3", "20-40", "0..3"]), min_size=1, max_size=3).map(
        ",".join
    ),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LABELS, TEXTS, st.sampled_from(["text", "list", "block list"]), st.booleans(), st.sampled_from(["4x8", "1x2+1x8+2x3", "3x4+1x0"]))
def test_every_edit_of_a_component_mends_it(judged, labels: list[str], text: str, form: str, in_flow: bool, machines: str) -> None:
    groups = f'"{",".join(labels)}"' if form == "text" else "[" + ", ".join(f'"{label}"' for label in labels) + "]"
    if in_flow:
        lines = f'    c: {{node_group: {groups}, placement: "{text}"}}\n'
    elif form == "block list":
        items = "".join(f'\n        - "{label}"' for label in labels)
        lines = f'    c:\n      node_group:{items}\n      placement: "{text}"\n'
    else:
        lines = f'    c:\n      placement: "{text}" # here\n      node_group: {groups}\n'
    before = f"cluster:\n  num_nodes: 4\n{MIXED}  component_placement:\n{lines}"
    report = judged(before, machines)
    edits = list(dict.fromkeys(finding.edit for finding in report.findings if finding.edit))
    assert all(finding.help for finding in report.errors)
    is_named_once = len({*labels}) == len(labels)  # a group that is named twice is told without an edit
    if (
        edits
        and is_named_once
        and all(finding.edit for finding in report.findings if finding.severity.value != "note" and finding.code < "PW8")
    ):
        after = judged(apply_edits(before, edits), machines)
        assert [finding.message for finding in after.findings if finding.code < "PW8"] == []
