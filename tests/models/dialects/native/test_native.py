"""A native file says a cluster and components; what is solved is written back and read again as the very same."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.dialects import load as loading
from placewright.models.dialects import native
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node_group import NODE
from placewright.models.machines.shorthand import DeclaredNodes, read_shorthand
from placewright.models.placements.assignment import Assignment, seats
from placewright.models.placements.run import Run
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples


def read(text: str, machines: Cluster | DeclaredNodes | None = None) -> Reading:
    return native.read(Document.of(Source("job.yaml", text)), machines)


def codes(text: str, machines: Cluster | DeclaredNodes | None = None) -> list[str]:
    return [finding.code for finding in read(text, machines).findings]


@pytest.mark.parametrize(
    ("placement", "runs"),
    [
        ("0-7", (Run(range(8), 0),)),
        ("6-9", (Run(range(2), 0, first=6), Run(range(2, 4), 1))),
        ("0-7:0-3", (Run(range(4), 0, each=2, pitch=2),)),
        ("0-1:0-3", (Run(range(2), 0, pitch=0), Run(range(2, 4), 0, first=1, pitch=0))),
    ],
)
def test_ranks_that_are_given(placement: str, runs: tuple[Run, ...]) -> None:
    reading = read(f'cluster: 2x8\ncomponents:\n  a: {{placement: "{placement}"}}')
    assert reading.findings == ()
    assert reading.problem is not None
    assert reading.problem["a"].runs == runs


def test_nodes_that_are_given() -> None:
    reading = read('cluster: 2x8\ncomponents:\n  agent: {node_group: node, placement: "0-1:0-9"}')
    assert reading.problem is not None
    assert reading.problem["agent"].runs == (
        Run(range(5), 0, NODE, each=0, pitch=0, node_group="node"),
        Run(range(5, 10), 1, NODE, each=0, pitch=0, node_group="node"),
    )


def test_a_stride_deals_the_range_out() -> None:
    reading = read("cluster: 1x8\ncomponents:\n  a: {placement: 0-7, parallel: {tp: 2}, contiguous: true, stride: 2}")
    assert reading.problem is not None
    held = [[index for (_, index), _, _ in its] for _, its in seats(reading.problem["a"].runs or ())]
    assert held == [[0], [2], [1], [3], [4], [6], [5], [7]]
    assert verify(reading).verdict == "ok"


def test_a_stride_takes_the_first_degrees_whose_blocks_fill_the_ranks() -> None:
    text = "cluster: 2x4\ncomponents:\n  a: {accelerators: 4, parallel: {tp: [4, 2]}, contiguous: true, stride: 2}\n"
    reading = read(text)
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    assert plan is not None
    assert str(plan.degrees["a"]) == "tp 2"
    again = read(apply_edits(text, native.write(reading, plan.assignment)))
    assert verify(again).verdict == "ok"


def test_the_cluster_in_full() -> None:
    text = """
cluster:
  nodes:
    - {repeat: 2, accelerators: {count: 8, model: H100, taken: [0]}, topology: {rack: r0}}
    - {name: arm, hardware: [{type: Franka, robot_ip: 10.0.0.1}]}
  node_groups:
    - {label: arms, node_ranks: 2}
    - {label: gpu, node_ranks: 0-1}
components:
  env: {node_group: arms, placement: 0}
"""
    reading = read(text)
    assert reading.findings == ()
    assert reading.problem is not None
    cluster = reading.problem.cluster
    assert [node.name for node in cluster.nodes] == ["node-0", "node-1", "arm"]
    assert (cluster.groups["arms"].kind, cluster.groups["gpu"].kind) == ("Franka", "Accelerator")
    assert cluster.nodes[0].free("Accelerator") == 0b11111110
    assert reading.problem["env"].runs == (Run(range(1), 2, "Franka", node_group="arms"),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cluster: 2x8\ncomponents: {}", []),
        ("cluster: 2y8\ncomponents: {}", ["PW011"]),
        ("cluster: x8\ncomponents: {}", ["PW011"]),
        ("cluster: {node: []}\ncomponents: {}", ["PW011"]),
        ("cluster: {nodes: [{accelerators: {count: 1, ids: [a, b]}}]}\ncomponents: {}", ["PW011"]),
        ("cluster: {nodes: [{}], node_groups: [{label: node, node_ranks: 0}]}\ncomponents: {}", ["PW011"]),
        ("cluster: {nodes: [{}], node_groups: [{label: a, node_ranks: 1}]}\ncomponents: {}", ["PW011"]),
        ("components: {}", []),
        ("cluster: 2x8\ncomponents: []", ["PW105"]),
        ("cluster: 2x8\ncomponent: 1\ncomponents: {}", ["PW104"]),
        ("cluster: 2x8\ncomponents: {a: {placement: 0-16}}", ["PW102"]),
        ("cluster: 2x8\ncomponents: {a: {placement: x}}", ["PW103"]),
    ],
)
def test_faults(text: str, found: list[str]) -> None:
    assert codes(text) == found


def test_machines_that_are_named_win() -> None:
    machines = read_shorthand("4x8xH100")
    assert isinstance(machines, Cluster)
    reading = read("cluster: 2x8\ncomponents: {a: {placement: 0-31}}", machines)
    assert [(finding.code, finding.severity.value) for finding in reading.findings] == [("PW114", "warning")]
    assert reading.problem is not None
    assert len(reading.problem.cluster.nodes) == 4


def test_accelerators_of_nodes_that_were_never_declared_cannot_be_counted() -> None:
    for machines in (DeclaredNodes(8), None):
        for hints in ("placement: 0-31", "accelerators: 4, node_group: [a, b]", "placement: [{ranks: 0-3, node: 0}]"):
            reading = read(f"components: {{a: {{{hints}}}}}", machines)
            assert not reading.findings
            assert [note.add for note in reading.unchecked if note.decides] == ["Pass `--cluster 2x8xH100`, or write `cluster: 2x8xH100`"]


SIZES = st.sampled_from([1, 2, 4, 8])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A native file with hints, some components in flow style and some in block style."""
    lines = [f"cluster: {draw(st.integers(1, 3))}x{draw(SIZES)}+1x4", "components:"]
    for name in "abcd"[: draw(st.integers(1, 4))]:
        tp, groups = draw(st.sampled_from([1, 2, 4])), draw(st.integers(1, 3))
        hints = [f"accelerators: {tp * groups}", f"parallel: {{tp: {tp}}}"]
        if draw(st.booleans()):
            hints.append(f"accelerators_per_process: {draw(st.sampled_from([1, tp]))}")
        if draw(st.booleans()):
            hints += ["contiguous: true", *(["stride: 2"] if tp > 1 and groups == 2 and draw(st.booleans()) else [])]
        if draw(st.booleans()):
            lines.append(f"  {name}: {{{', '.join(hints)}}}  # why")
        else:
            lines += [f"  {name}:", *(f"    {hint}" for hint in hints), ""]
    if draw(st.booleans()):
        lines.append(f"  agent: {{node_group: node, processes: {draw(st.integers(1, 7))}}}")
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=examples(30), deadline=None)
@given(texts())
def test_an_answer_that_is_written_reads_back_as_itself_and_verifies(text: str) -> None:
    reading = read(text)
    assert reading.findings == (), text
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    if plan is None:
        return
    edits = native.write(reading, plan.assignment)
    written = apply_edits(text, edits)
    again = read(written)
    assert again.problem is not None
    for name, runs in plan.assignment.runs.items():
        assert list(seats(again.problem[name].runs or ())) == list(seats(runs))
    assert verify(again).verdict == "ok"
    without = written
    for edit in edits:
        without = without.replace(edit.text, "", 1)
    assert without == text  # every other byte is as it was


def test_a_text_is_only_added_to() -> None:
    text = "cluster: 1x8 # all\ncomponents:\n  a: {accelerators: 4}   # first\n  b:\n    accelerators: 4 # second\n\n# end\n"
    reading = read(text)
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    assert plan is not None
    assert apply_edits(text, native.write(reading, plan.assignment)) == (
        "cluster: 1x8 # all\ncomponents:\n  a: {accelerators: 4, placement: 0-3}   # first\n  b:\n"
        "    accelerators: 4 # second\n    placement: 4-7\n\n# end\n"
    )


@pytest.mark.parametrize(
    ("hints", "after"),
    [
        (
            "a: {accelerators: 4}",
            "a: {accelerators: 4, placement: [{ranks: 0-1, node: 1, accelerators: [3, 1]}, {ranks: 2-3, node: 0, accelerators: 0-1}]}",
        ),
        ("a: {}", "a: {placement: [{ranks: 0-1, node: 1, accelerators: [3, 1]}, {ranks: 2-3, node: 0, accelerators: 0-1}]}"),
        (
            'a: {"accelerators": 4}',
            'a: {"accelerators": 4, "placement": [{"ranks": "0-1", "node": 1, "accelerators": [3, 1]}, {"ranks": "2-3", "node": 0, "accelerators": "0-1"}]}',
        ),
        (
            "a:\n    accelerators: 4 # four",
            "a:\n    accelerators: 4 # four\n    placement:\n      - {ranks: 0-1, node: 1, accelerators: [3, 1]}\n      - {ranks: 2-3, node: 0, accelerators: 0-1}",
        ),
    ],
)
def test_what_a_placement_text_cannot_say_is_written_node_by_node(hints: str, after: str) -> None:
    text = f"cluster: 2x4\ncomponents:\n  b: {{accelerators: 1}}\n  {hints}\n"
    reading = read(text)
    runs = {"a": (Run(range(2), 1, first=3, pitch=-2), Run(range(2, 4), 0)), "b": (Run(range(1), 0, first=3),)}
    written = apply_edits(text, native.write(reading, Assignment(runs)))
    assert written == text.replace("{accelerators: 1}", "{accelerators: 1, placement: 3}").replace(hints, after)
    assert read(written).problem["a"].runs == runs["a"]  # type: ignore[index]


@pytest.mark.parametrize(
    "data",
    [
        {"cluster": "1x8", "components": {"a": {"accelerators": 4}, "b": {"accelerators": 2, "colocate_with": []}}},
        {"cluster": {"num_nodes": 1, "component_placement": {"c": "0-1"}}, "placewright": {"components": {"a": {"accelerators": 2}}}},
        {"cluster": {"num_nodes": 1}, "placewright": {"components": {"b": {"accelerators": 3}}}},
        {
            "cluster": {"num_nodes": 1, "component_placement": {}},
            "placewright": {"components": {"a": {"processes": 2, "node_group": "node"}}},
        },
    ],
)
def test_json_stays_json(data: dict[str, object]) -> None:
    from placewright.models.dialects.load import read as read_any
    from placewright.models.dialects.recognition import dialect_named

    text = json.dumps(data)
    reading = read_any(Source("job.json", text), DeclaredNodes(8) if "placewright" in data else None)
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    assert plan is not None
    written = json.loads(apply_edits(text, dialect_named(reading.dialect).write(reading, plan.assignment)))
    assert "placement" in json.dumps(written)


def test_an_insertion_that_would_change_another_value_is_refused() -> None:
    text = "cluster: 1x8\ncomponents:\n  a:\n    accelerators: 4\n    phase: |+\n      train\n\n\n"
    reading = read(text)
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    assert plan is not None
    with pytest.raises(UnusableInput, match="another value of it would change"):
        native.write(reading, plan.assignment)


def test_any_text_gets_a_verdict() -> None:
    source = random.Random(5)
    text = 'cluster: 2x8xH100\ncomponents:\n  a: {accelerators: 8, parallel: {tp: [2, 4]}, memory: 7GiB}\n  b: {placement: "0-3:0-1", colocate_with: a}\n'
    letters = "0123456789-:,{}[]&*!|>'\"%@` \n\tabx$\\\u202e\x00"
    for _ in range(1500):
        position = source.randrange(len(text))
        changed = text[:position] + source.choice(letters) * source.choice([0, 1, 1, 3]) + text[position + source.choice([0, 1, 2, 9]) :]
        try:
            reading = read(changed)
        except UnusableInput as problem:
            assert problem.findings
            continue
        verify(reading)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("cluster: 8xH100", "write `1x8xH100`"),
        ("cluster: 2*8", "write `2x8`"),
        ("cluster: 2 x 8 x H100", "write `2x8xH100`"),
        ("cluster: H100", "write it like `cluster: 2x8xH100`"),
        ("nodes: [{accelerators: {count: 8}}]", "write it below `cluster`, as `cluster: {nodes: ...}`"),
    ],
)
def test_machines_that_are_written_otherwise_are_told_as_they_are_meant(text: str, advice: str) -> None:
    try:
        findings = read(f"{text}\ncomponents: {{a: {{accelerators: 4}}}}").findings
    except UnusableInput as problem:
        findings = problem.findings
    assert advice in [each.help for each in findings]


def test_a_list_of_ranks_is_one_fault() -> None:
    reading = read("cluster: 1x8\ncomponents:\n  actor: {placement: [0, 1, 2, 3]}\n")
    assert [finding.message for finding in reading.findings] == [
        "`placement` of the hints of `actor`: 0 is not a map, nor are the other items"
    ]


def test_a_stray_section_of_a_framework_leaves_the_verdict_open() -> None:
    text = "cluster: 1x8\ncomponents:\n  actor: {placement: 0-7}\ntrainer: {nnodes: 2, n_gpus_per_node: 8}\n"
    reading = loading.read(Source("job.yaml", text))
    assert [item.rule for item in reading.unchecked if item.decides] == ["PW122"]
