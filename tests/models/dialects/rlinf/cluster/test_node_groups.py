"""`node_groups`: labels, node ranks, software and hardware; everything that RLinf refuses, and what it should have refused."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.models.machines.node_group import EnvConfig

PLACED = "  component_placement: {}\n"


def groups(read, text: str, nodes: int = 3):
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    return read(f"cluster:\n  num_nodes: {nodes}\n{PLACED}  node_groups:\n{indented}")


def test_a_group_has_its_nodes_in_ascending_order_and_its_kind(read) -> None:
    reading = groups(
        read, "- {label: 4090, node_ranks: '2,0'}\n- {label: cpu, node_ranks: 1, ignore_hardware: true}\n- {label: Node, node_ranks: all}"
    )
    assert reading.findings == ()
    declared = reading.problem.cluster.groups
    assert [(tuple(declared[label].node_ranks), declared[label].kind) for label in ("4090", "cpu", "Node")] == [
        ((0, 2), "Accelerator"),
        ((1,), "node"),
        ((0, 1, 2), "Accelerator"),
    ]


def test_the_software_of_a_group(read) -> None:
    text = "- label: a\n  node_ranks: 0-1\n  env_configs:\n  - {node_ranks: all, python_interpreter_path: /bin/py, env_vars: [{A: 1}, {B: true}]}"
    reading = groups(read, text)
    assert reading.findings == ()
    assert reading.problem.cluster.groups["a"].env_configs == (EnvConfig(range(2), (("A", "1"), ("B", "True")), "/bin/py"),)


def test_the_hardware_of_a_group_is_numbered_on_its_nodes(read) -> None:
    text = "- label: r\n  node_ranks: 1-2\n  hardware: {type: Franka, configs: [{node_rank: 2, robot_ip: 10.0.0.1}, {node_rank: 1}, {node_rank: 2}]}"
    reading = groups(read, text)
    assert reading.findings == ()
    cluster = reading.problem.cluster
    assert cluster.groups["r"].kind == "Franka"
    assert [(s.node_rank, s.count) for s in cluster.numbering(("r",)).stretches] == [(1, 1), (2, 2)]
    assert cluster.nodes[2].hardware[0].config == (("robot_ip", "10.0.0.1"),)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("- {node_ranks: 0}", "PW101", "has no `label`"),
        ("- {label: a}", "PW101", "`a` has no `node_ranks`"),
        ("- a", "PW105", "must be a map"),
        ("- {label: a, node_ranks: 0, node_rank: 1}", "PW104", "no key `node_rank`"),
        ("- {label: cluster, node_ranks: 0}", "PW113", "`cluster` is reserved"),
        ("- {label: node, node_ranks: 0}", "PW113", "`node` is reserved"),
        ("- {label: a, node_ranks: 0}\n- {label: a, node_ranks: 1}", "PW113", "two node groups have the label `a`"),
        ("- {label: a, node_ranks: 0-3}", "PW102", "node rank 3 is outside the cluster (ranks 0-2 exist)"),
        ("- {label: a, node_ranks: 2-1}", "PW109", "runs backwards"),
        ("- {label: a, node_ranks: bad-format}", "PW103", "neither a rank"),
        ("- {label: a, node_ranks: {}}", "PW105", "must be a rank expression"),
        ("- {label: a, node_ranks: 0, env_configs: {node_ranks: 0}}", "PW115", "must be a list, but it is a map"),
        ("- {label: a, node_ranks: 0, env_configs: [x]}", "PW115", "must be a map, but it is text"),
        ("- {label: a, node_ranks: 0, env_configs: [{}]}", "PW101", "has no `node_ranks`"),
        ("- {label: a, node_ranks: 0, env_configs: [{node_ranks: 0, env: []}]}", "PW104", "no key `env`"),
        ("- {label: a, node_ranks: '0,2', env_configs: [{node_ranks: 1}]}", "PW115", "names node 1, but group `a` has the nodes 0,2"),
        ("- {label: a, node_ranks: 0-1, env_configs: [{node_ranks: 0-1}, {node_ranks: 1}]}", "PW115", "node 1 is in two items"),
        ("- {label: a, node_ranks: 0, env_configs: [{node_ranks: 0, env_vars: {A: 1}}]}", "PW115", "must be a list of one-key maps"),
        ("- {label: a, node_ranks: 0, env_configs: [{node_ranks: 0, env_vars: [A]}]}", "PW115", "must be a map of one key"),
        ("- {label: a, node_ranks: 0, env_configs: [{node_ranks: 0, env_vars: [{A: 1, B: 2}]}]}", "PW115", "a map of 2 keys"),
        (
            "- {label: a, node_ranks: 0-1, env_configs: [{node_ranks: 0, env_vars: [{A: 1}]}, {node_ranks: 1, env_vars: [{A: 2}]}]}",
            "PW115",
            "`A` is in the `env_vars` of group `a` twice",
        ),
        ("- {label: a, node_ranks: 0, hardware: x}", "PW116", "must be a map"),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka}}", "PW101", "has no `configs`"),
        ("- {label: a, node_ranks: 0, hardware: {configs: []}}", "PW101", "has no `type`"),
        ("- {label: a, node_ranks: 0, hardware: {type: franka, configs: []}}", "PW116", "`franka` is not a hardware type"),
        ("- {label: a, node_ranks: 0, hardware: {type: Accelerator, configs: []}}", "PW116", "`Accelerator` is not a hardware type"),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka, configs: {node_rank: 0}}}", "PW116", "must be a list"),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [x]}}", "PW116", "must be a map"),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [{}]}}", "PW101", "has no `node_rank`"),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [{node_rank: '0'}]}}", "PW116", "must be a whole number"),
        (
            "- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [{node_rank: 1}]}}",
            "PW116",
            "node 1 of this Franka is not in group `a`",
        ),
        (
            "- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [{node_rank: 0, robot_ip: ROBOT_IP}]}}",
            "PW116",
            "must be an IP address",
        ),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [{node_rank: 0, ip: x}]}}", "PW104", "no key `ip`"),
        ("- {label: a, node_ranks: 0, hardware: {type: Franka, configs: [{node_rank: 0}, {node_rank: 0}]}}", "PW116", "is listed twice"),
        (
            "- {label: a, node_ranks: 0, hardware: {type: GimArm, configs: [{node_rank: 0, arm_variant: x}]}}",
            "PW116",
            "must be `gim_arm`",
        ),
        (
            "- {label: a, node_ranks: 0, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}\n"
            "- {label: b, node_ranks: 0, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}",
            "PW116",
            "configured in group `a` and in group `b`",
        ),
        (
            "- {label: a, node_ranks: 0, ignore_hardware: true, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}",
            "PW116",
            "both `hardware` and",
        ),
        (
            "- {label: a, node_ranks: 0, hardware_type: Turtle2, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}",
            "PW116",
            "both `hardware` and",
        ),
    ],
)
def test_what_rlinf_refuses_is_an_error(read, text: str, code: str, message: str) -> None:
    reading = groups(read, text)
    errors = [f for f in reading.findings if f.severity is Severity.ERROR]
    assert [f.code for f in errors] == [code]
    assert message in errors[0].message
    assert errors[0].span.file == "run.yaml"
    assert errors[0].help


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("- {label: 'a,b', node_ranks: 0}", "PW113", "no component can refer to it"),
        ("- {label: a, node_ranks: ''}", "PW112", "group `a` has no nodes"),
        ("- {label: a, node_ranks: [0, 2]}", "PW105", "its parser refuses it"),
        ("- {label: 010, node_ranks: 0}", "PW118", "RLinf gets the text `8`"),
        ("- {label: a, node_ranks: 0, hardware: {type: Turtle2, configs: []}}", "PW116", "every placement on it fails (RLinf: IndexError)"),
        ("- {label: a, node_ranks: 0, hardware_type: Franka}", "PW116", "configures no Franka"),
    ],
)
def test_what_rlinf_lets_pass_is_a_warning(read, text: str, code: str, message: str) -> None:
    reading = groups(read, text)
    assert [(f.code, f.severity) for f in reading.findings] == [(code, Severity.WARNING)]
    assert message in reading.findings[0].message


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("- {label: a, node_ranks: [0, 2]}", "node_ranks: 0,2"),
        ("- {label: a, node_ranks: 0-3}", "node_ranks: 0-2"),
        ("- {label: a, node_rank: 0}", "node_ranks: 0"),
        ("- {label: a, node_ranks: 0, hardware: {type: franka, configs: [{node_rank: 0}]}}", "type: Franka"),
    ],
)
def test_a_fix_is_an_edit_after_which_the_file_is_right(read, text: str, mended: str) -> None:
    block = text.replace("{label: a, node_ranks: [0, 2]}", "label: a\n  node_ranks: [0, 2]")
    reading = groups(read, block)
    edits = [f.edit for f in reading.findings if f.edit]
    after = apply_edits(reading.source.text, edits)
    assert mended in after
    assert read(after).findings == ()


def test_a_component_of_a_group_that_is_at_fault_is_not_blamed_as_well(read) -> None:
    text = (
        "cluster:\n  num_nodes: 2\n  node_groups: [{label: a, node_ranks: 7}]\n  component_placement: {x: {node_group: a, placement: 0}}\n"
    )
    assert [f.code for f in read(text).findings] == ["PW102"]
