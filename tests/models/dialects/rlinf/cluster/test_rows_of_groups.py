"""Node groups, row by row: their keys, their software, their hardware, and what they say together."""

from __future__ import annotations

import pytest

OK = ""

GROUPS = [
    ("a label and node ranks", "{label: a, node_ranks: 0}", OK),
    ("a number as label is its text", "{label: 4090, node_ranks: 0}", OK),
    ("a label is needed", "{node_ranks: 0}", "PW101"),
    ("a list as label is its text", "{label: [a], node_ranks: 0}", OK),
    ("node ranks are needed", "{label: a}", "PW101"),
    ("other keys are refused", "{label: a, node_ranks: 0, gpus: 8}", "PW104"),
    ("a group is a map", "a", "PW105"),
    ("`cluster` is reserved", "{label: cluster, node_ranks: 0}", "PW113"),
    ("`node` is reserved", "{label: node, node_ranks: 0}", "PW113"),
    ("`Node` is not: labels are case-sensitive", "{label: Node, node_ranks: 0}", OK),
    ("a label twice, noticed when the cluster starts", "{label: a, node_ranks: 0}, {label: a, node_ranks: 1}", "PW113"),
    ("a label with a comma can never be referred to", "{label: 'a,b', node_ranks: 0}", "(PW113)"),
    ("groups may share nodes", "{label: a, node_ranks: 0-1}, {label: b, node_ranks: 1-2}", OK),
    ("ignore_hardware", "{label: a, node_ranks: 0, ignore_hardware: true}", OK),
    ("ignore_hardware with hardware", "{label: a, node_ranks: 0, ignore_hardware: true, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}", "PW116"),
    ("ignore_hardware: false with hardware", "{label: a, node_ranks: 0, ignore_hardware: false, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}", OK),
    ("hardware_type alone configures nothing", "{label: a, node_ranks: 0, hardware_type: Franka}", "(PW116)"),
    ("hardware_type with hardware", "{label: a, node_ranks: 0, hardware_type: Turtle2, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}", "PW116"),
    ("hardware_type: Accelerator is what there is", "{label: a, node_ranks: 0, hardware_type: Accelerator}", OK),
]  # fmt: skip

SOFTWARE = [
    ("nodes, variables, an interpreter", "[{node_ranks: 0-1, env_vars: [{A: 1}, {B: x}], python_interpreter_path: /bin/py}]", OK),
    ("null is none", "~", OK),
    ("`all` is all of the group", "[{node_ranks: all}]", OK),
    ("a list is needed: is a `-` missing?", "{node_ranks: 0}", "PW115"),
    ("an item is a map", "[x]", "PW115"),
    ("node ranks are needed", "[{env_vars: [{A: 1}]}]", "PW101"),
    ("other keys are refused", "[{node_ranks: 0, pip: x}]", "PW104"),
    ("no nodes have no effect", "[{node_ranks: ''}]", OK),
    ("nodes are those of the group", "[{node_ranks: 0-2}]", "PW115"),
    ("nodes are those of the group, in its holes too", "[{node_ranks: 2}]", "PW115"),
    ("a node in two items", "[{node_ranks: 0-1}, {node_ranks: 1}]", "PW115"),
    ("variables are a list", "[{node_ranks: 0, env_vars: {A: 1}}]", "PW115"),
    ("of maps", "[{node_ranks: 0, env_vars: [A]}]", "PW115"),
    ("of one key", "[{node_ranks: 0, env_vars: [{A: 1, B: 2}]}]", "PW115"),
    ("not of none", "[{node_ranks: 0, env_vars: [{}]}]", "PW115"),
    ("a variable once in a group, even for different nodes", "[{node_ranks: 0, env_vars: [{A: 1}]}, {node_ranks: 1, env_vars: [{A: 2}]}]", "PW115"),
    ("a variable once in an item", "[{node_ranks: 0, env_vars: [{A: 1}, {A: 2}]}]", "PW115"),
    ("two interpreters for two nodes", "[{node_ranks: 0, python_interpreter_path: /a}, {node_ranks: 1, python_interpreter_path: /b}]", OK),
]  # fmt: skip

HARDWARE = [
    ("a type and its configurations", "{type: Turtle2, configs: [{node_rank: 0}]}", OK),
    ("a map", "Franka", "PW116"),
    ("the type is needed", "{configs: [{node_rank: 0}]}", "PW101"),
    ("the configurations are needed", "{type: Turtle2}", "PW101"),
    ("other keys are refused", "{type: Turtle2, configs: [{node_rank: 0}], count: 1}", "PW104"),
    ("a type that exists, in its own case", "{type: franka, configs: [{node_rank: 0, robot_ip: 10.0.0.1}]}", "PW116"),
    ("not the accelerators", "{type: Accelerator, configs: []}", "PW116"),
    ("configurations are a list", "{type: Turtle2, configs: {node_rank: 0}}", "PW116"),
    ("an empty map is not a configurations, as an empty list", "{type: Turtle2, configs: {}}", "(PW116)"),
    ("none at all: nothing can be placed there", "{type: Turtle2, configs: []}", "(PW116)"),
    ("none at all, where variables of the node may add some", "{type: Franka, configs: []}", OK),
    ("each is a map", "{type: Turtle2, configs: [0]}", "PW116"),
    ("with a node rank", "{type: Turtle2, configs: [{}]}", "PW101"),
    ("that is a number", "{type: Turtle2, configs: [{node_rank: '0'}]}", "PW116"),
    ("true is 1 to Python", "{type: Turtle2, configs: [{node_rank: true}]}", OK),
    ("of the group", "{type: Turtle2, configs: [{node_rank: 2}]}", "PW116"),
    ("without unknown fields", "{type: Turtle2, configs: [{node_rank: 0, robot_ip: 10.0.0.1}]}", "PW104"),
    ("no two that are the same", "{type: Turtle2, configs: [{node_rank: 0}, {node_rank: 0}]}", "PW116"),
    ("Franka: every field", "{type: Franka, configs: [{node_rank: 0, robot_ip: 10.0.0.1, camera_serials: ['1'], camera_type: zed, gripper_type: robotiq, "
     "gripper_connection: /dev/ttyUSB0, controller_node_rank: 1, disable_validate: true}]}", OK),
    ("Franka: an address", "{type: Franka, configs: [{node_rank: 0, robot_ip: ROBOT_IP}]}", "PW116"),
    ("Franka: an address of version 6", "{type: Franka, configs: [{node_rank: 0, robot_ip: 'fe80::1'}]}", OK),
    ("Franka: a whole number is an address to Python", "{type: Franka, configs: [{node_rank: 0, robot_ip: 167772161}]}", OK),
    ("Franka: no address comes from the node", "{type: Franka, configs: [{node_rank: 0, robot_ip: ~}]}", OK),
    ("Franka: another camera is noticed on the node", "{type: Franka, configs: [{node_rank: 0, robot_ip: 10.0.0.1, camera_type: kodak}]}", OK),
    ("Franka: a controller's node is never checked", "{type: Franka, configs: [{node_rank: 0, robot_ip: 10.0.0.1, controller_node_rank: 3}]}", OK),
    ("DualFranka: every field", "{type: DualFranka, configs: [{node_rank: 0, left_robot_ip: 10.0.0.1, right_robot_ip: 10.0.0.2, left_camera_serials: ['1'], "
     "right_camera_serials: ['2'], base_camera_serials: ['3'], camera_type: realsense, base_camera_type: zed, left_camera_type: lumos, right_camera_type: zed, "
     "left_gripper_type: franka, right_gripper_type: robotiq, left_gripper_connection: a, right_gripper_connection: b, left_controller_node_rank: 0, "
     "right_controller_node_rank: 1}]}", OK),
    ("DualFranka: both addresses", "{type: DualFranka, configs: [{node_rank: 0, left_robot_ip: x, right_robot_ip: y}]}", "PW116 PW116"),
    ("DualFranka: no other field", "{type: DualFranka, configs: [{node_rank: 0, disable_validate: true}]}", "PW104"),
    ("GimArm: every field", "{type: GimArm, configs: [{node_rank: 0, can_interface: can1, arm_variant: gim_arm, camera_serials: [], camera_type: zed, "
     "enable_gripper: false, gripper_type: parallel, controller_node_rank: 1, disable_validate: true}]}", OK),
    ("GimArm: one of two variants", "{type: GimArm, configs: [{node_rank: 0, arm_variant: gim_arm_s}]}", "PW116"),
    ("GimArm: null is not a variant", "{type: GimArm, configs: [{node_rank: 0, arm_variant: ~}]}", "PW116"),
    ("DOSW1: every field", "{type: DOSW1, configs: [{node_rank: 0, robot_url: h, left_arm_port: 1, right_arm_port: 2, left_lead_port: 3, right_lead_port: 4, "
     "camera_serials: ['1']}]}", OK),
]  # fmt: skip

TOGETHER = [
    ("the same hardware of a node in two groups",
     "{label: a, node_ranks: 0, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}, {label: b, node_ranks: 0, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}",
     "PW116"),
    ("other hardware of a node in another group",
     "{label: a, node_ranks: 0, hardware: {type: Turtle2, configs: [{node_rank: 0}]}}, {label: b, node_ranks: 0, hardware: {type: GimArm, configs: [{node_rank: 0}]}}",
     OK),
    ("two interpreters of a node, documented as refused, not checked by RLinf",
     "{label: a, node_ranks: 0-1, env_configs: [{node_ranks: all, python_interpreter_path: /a}]}, {label: b, node_ranks: 1, env_configs: [{node_ranks: 1, python_interpreter_path: /b}]}",
     OK),
    ("the same interpreter of a node twice",
     "{label: a, node_ranks: 0-1, env_configs: [{node_ranks: all, python_interpreter_path: /a}]}, {label: b, node_ranks: 1, env_configs: [{node_ranks: 1, python_interpreter_path: /a}]}",
     OK),
    ("the same variable of a node in two groups: each worker gets that of its own group",
     "{label: a, node_ranks: 0, env_configs: [{node_ranks: 0, env_vars: [{A: 1}]}]}, {label: b, node_ranks: 0, env_configs: [{node_ranks: 0, env_vars: [{A: 2}]}]}",
     OK),
]  # fmt: skip


def of(groups: str) -> str:
    return f"cluster:\n  num_nodes: 3\n  component_placement: {{}}\n  node_groups: [{groups}]\n"


@pytest.mark.parametrize(("row", "groups", "expected"), [*GROUPS, *TOGETHER], ids=[row for row, _, _ in [*GROUPS, *TOGETHER]])
def test_groups(codes, row: str, groups: str, expected: str) -> None:
    assert codes(of(groups)) == expected


@pytest.mark.parametrize(("row", "text", "expected"), SOFTWARE, ids=[row for row, _, _ in SOFTWARE])
def test_software(codes, row: str, text: str, expected: str) -> None:
    assert codes(of(f"{{label: a, node_ranks: 0-1, env_configs: {text}}}")) == expected


@pytest.mark.parametrize(("row", "text", "expected"), HARDWARE, ids=[row for row, _, _ in HARDWARE])
def test_hardware(codes, row: str, text: str, expected: str) -> None:
    assert codes(of(f"{{label: a, node_ranks: 0-1, hardware: {text}}}")) == expected


@pytest.mark.parametrize(
    ("kind", "device", "variables"),
    [
        ("Franka", "", "`ROBOT_IP`"),
        ("DualFranka", "", "`LEFT_ROBOT_IP` and `RIGHT_ROBOT_IP`"),
        ("GimArm", ", can_interface: can0", "`CAN_INTERFACE`"),
        ("DOSW1", "", "`ROBOT_URL`"),
    ],
)
def test_what_the_nodes_themselves_decide_is_unchecked(judged, kind: str, device: str, variables: str) -> None:
    groups = f"{{label: a, node_ranks: 0-1, hardware: {{type: {kind}, configs: [{{node_rank: 0{device}}}]}}}}"
    assert [(each.rule, each.why) for each in judged(of(groups)).unchecked] == [
        ("PW116", f"node 1 has no {kind} in the file; if {variables} is set there, RLinf makes one for each of its values"),
    ]


def test_more_robots_than_the_file_has_are_no_proved_fault(codes) -> None:
    groups = "  node_groups: [{label: a, node_ranks: 0-1, hardware: {type: Franka, configs: [{node_rank: 0, robot_ip: 10.0.0.1}]}}]\n"
    text = "cluster:\n  num_nodes: 2\n{}  component_placement:\n    env: {{node_group: a, placement: 0-1}}\n"
    assert codes(text.format(groups)) == "(PW102)"
    assert codes(text.format(groups.replace("node_ranks: 0-1", "node_ranks: 0"))) == "PW102"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_thousands_of_software_entries_over_all_nodes_take_no_time(judged) -> None:
    items = ", ".join(f"{{node_ranks: {i}-{i + 9}}}" for i in range(0, 60_000, 10))
    again = ", ".join("{node_ranks: all}" for _ in range(2_000))
    text = f"cluster: {{num_nodes: 65536, component_placement: {{}}, node_groups: [{{label: a, node_ranks: all, env_configs: [{items}, {again}]}}]}}"
    assert len(judged(text).errors) == 2_000
