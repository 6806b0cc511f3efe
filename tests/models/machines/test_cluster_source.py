"""A cluster file: what it says, and every fault of it at its place."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster_file import cluster_of
from placewright.models.text.source import Source

GOOD = """\
nodes:
  - {name: a, repeat: 2, accelerators: {count: 8, model: H100, taken: [7], numa: 2}, cpus: 96, memory: 1TiB, topology: {zone: a, rack: r1}}
  - {name: robots, hardware: [{type: Franka, robot_ip: 10.0.0.1}]}
node_groups:
  - {label: train, node_ranks: 0-1}
  - {label: arms, node_ranks: "2", kind: Franka}
"""


def test_everything_that_can_be_said() -> None:
    cluster = cluster_of(Source("c.yaml", GOOD))
    assert [node.name for node in cluster.nodes] == ["a0", "a1", "robots"]
    assert cluster.nodes[0].taken == 1 << 7
    assert cluster.nodes[1].topology == {"zone": "a", "rack": "r1"}
    assert [device.numa for device in cluster.nodes[0].accelerators] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert cluster.nodes[2].numa_domains == 1
    assert cluster.nodes[2].count("Franka") == 1
    assert list(cluster.groups["train"].node_ranks) == [0, 1]
    assert cluster.groups["arms"].kind == "Franka"


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("nodes:\n  - {acelerators: {count: 1}}\n", 2, 6, "acelerators"),
        ("nodes:\n  - accelerators:\n      count: many\n", 3, 14, "whole number"),
        ("nodes:\n  - accelerators: {count: 9999}\n", 2, 27, "1,024"),
        ("nodes:\n  - memory: lots\n", 2, 13, "70GiB"),
        ("nodes:\n  - accelerators: {count: 2, ids: [a]}\n", 2, 19, "1 id is given for 2"),
        ("nodes:\n  - accelerators: {count: 2, numa: 3}\n", 2, 19, "cannot be divided among 3 NUMA domains"),
        ("nodes:\n  - topology: {row: a}\n", 2, 16, "row"),
        ("node_groups: []\n", 1, 1, "nodes"),
        ("nodes: [{name: a}, {name: a}]\n", 1, 1, "two nodes are called `a`"),
        ("nodes: [{}]\nnode_groups: [{label: x, node_ranks: 0-3}]\n", 1, 1, "outside"),
        ("- 1\n", 1, 1, "map"),
    ],
)
def test_a_fault_is_told_at_its_place(text: str, line: int, column: int, part: str) -> None:
    with pytest.raises(UnusableInput) as caught:
        cluster_of(Source("c.yaml", text))
    finding = caught.value.findings[0]
    assert finding.span is not None
    assert (finding.span.line, finding.span.column) == (line, column)
    assert part in finding.message
    assert finding.unusable
    assert finding.help


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(UnusableInput) as caught:
        cluster_of(Source("c.yaml", "nodes: [{cpus: 0}, {repeat: 0}, {nmae: a}]"))
    assert len(caught.value.findings) >= 3


def test_what_other_jobs_hold_is_said_of_the_accelerators() -> None:
    with pytest.raises(UnusableInput) as caught:
        cluster_of(Source("c.yaml", "nodes:\n  - {accelerators: {count: 8}, taken: [3]}\n"))
    assert [finding.help for finding in caught.value.findings] == ["write `accelerators: {taken: ...}`"]


def test_nodes_with_a_number_of_accelerators_have_one_fault() -> None:
    nodes = "nodes:\n  - {count: 1, accelerators: 8, model: H100}\n  - {count: 1, accelerators: 4, model: A100}\n"
    with pytest.raises(UnusableInput) as caught:
        cluster_of(Source("c.yaml", nodes))
    (finding,) = caught.value.findings
    assert (finding.message, finding.help) == (
        "`nodes.0.accelerators` of a cluster file: 8 is not a map",
        "write such as `{count: 8, model: H100}`",
    )
    assert finding.notes == ("the same of `nodes.1.accelerators`",)


def test_a_count_of_nodes_is_no_count_of_accelerators() -> None:
    with pytest.raises(UnusableInput) as caught:
        cluster_of(Source("c.yaml", "nodes: [{count: 2, accelerators: {count: 8}}]"))
    assert [finding.help.startswith("known keys are name, repeat") for finding in caught.value.findings] == [True]
