"""The `cluster` section and `component_placement`, row by row; and what groups, nodes and hardware make of a placement."""

from __future__ import annotations

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.placements.placement import placements

OK = ""
SECTION = [
    ("nodes and components", "num_nodes: 1, component_placement: {actor: all}", OK),
    ("no component", "num_nodes: 1, component_placement: {}", OK),
    ("num_nodes is needed", "component_placement: {}", "PW101"),
    ("component_placement is needed", "num_nodes: 1", "PW101"),
    ("num_nodes is a number", "num_nodes: '1', component_placement: {}", "PW105"),
    ("a whole one", "num_nodes: 1.0, component_placement: {}", "PW105"),
    ("not true", "num_nodes: true, component_placement: {}", "PW105"),
    ("from 1", "num_nodes: 0, component_placement: {}", "PW105"),
    ("not below", "num_nodes: -1, component_placement: {}", "PW105"),
    ("no node groups", "num_nodes: 1, component_placement: {}, node_groups: ~", OK),
    ("an empty list of them", "num_nodes: 1, component_placement: {}, node_groups: []", OK),
    ("an empty map is taken for none", "num_nodes: 1, component_placement: {}, node_groups: {}", OK),
    ("no other map", "num_nodes: 1, component_placement: {}, node_groups: {label: a, node_ranks: 0}", "PW105"),
    ("other keys are for others", "num_nodes: 1, component_placement: {}, auto_scheduler: true, tracer: {x: 1}", OK),
    ("components are a map", "num_nodes: 1, component_placement: all", "PW105"),
    ("with values", "num_nodes: 1, component_placement: ~", "PW105"),
]
COMPONENTS = [
    ("the short form", "actor: 0-7", OK),
    ("several names", "'actor, rollout,env': 0-7", OK),
    ("a name that is a number", "0: 0-7", OK),
    ("an empty name makes a component without one", "'actor,': 0-7", "(PW112)"),
    ("a name twice", "actor: 0, 'rollout,actor': 1", "PW106"),
    ("a name twice in one key", "'actor,actor': 0", "PW106"),
    ("the long form", "actor: {placement: 0-7}", OK),
    ("its placement is needed", "actor: {node_group: a}", "PW101"),
    ("other keys are ignored without a word", "actor: {placement: 0-7, num_gpus: 8}", "(PW104)"),
    ("a misspelt node group too, whatever it names", "actor: {placement: 0-7, node_grop: nowhere}", "(PW104)"),
    ("a misspelt placement is none", "actor: {placment: 0-7}", "PW104"),
    ("a node group", "actor: {node_group: a, placement: 0-7}", OK),
    ("the built-in ones", "actor: {node_group: cluster, placement: 0-7}, agent: {node_group: node, placement: 0-3}", OK),
    ("a label is a text, whatever YAML says", "actor: {node_group: 4090, placement: 0-7}", OK),
    ("an unknown one", "actor: {node_group: c, placement: 0-7}", "PW107"),
    ("in its own case", "actor: {node_group: A, placement: 0-7}", "PW107"),
    ("a single label is not stripped", "actor: {node_group: ' a', placement: 0-7}", "PW107"),
    ("several are", "actor: {node_group: 'a, 4090', placement: 0-15}", OK),
    ("a comma too many", "actor: {node_group: 'a,', placement: 0-7}", "PW107"),
    ("null is the label `None`", "actor: {node_group: ~, placement: 0-7}", "PW107"),
    ("a YAML list is documented, but not parsed", "actor: {node_group: [a, 4090], placement: 0-15}", "(PW105)"),
    ("a map", "actor: {node_group: {a: 1}, placement: 0-7}", "PW105"),
    ("a group without nodes is dropped", "actor: {node_group: empty, placement: 0}", "PW107"),
    ("a comma in a flow map ends the value", "actor: 0,1", "PW112"),
    ("and the key", "actor,rollout: 0-7", "PW112"),
    ("and a value of the long form, without a word", "actor: {placement: 0-3,4-7}", "(PW104)"),
    ("groups are numbered in the written order", "actor: {node_group: '4090,a', placement: 0-7}", OK),
    ("nodes that go back are refused at launch", "actor: {node_group: '4090,a', placement: 0-8}", "PW210"),
    ("a group twice is numbered twice and held twice", "actor: {node_group: 'a,a', placement: '0,8'}", "(PW108)"),
    ("nodes numbered twice are refused at launch", "agent: {node_group: 'cpu,node', placement: 0}", "PW108"),
    ("whatever else is wrong", "agent: {node_group: 'cpu,node', placement: 9-8}", "PW108 PW109"),
    ("accelerators numbered twice are held twice", "actor: {node_group: 'a,both', placement: '0,8'}", "(PW108)"),
    ("but not where each is held once", "actor: {node_group: 'a,both', placement: '0,9'}", OK),
    ("a group of nodes makes all of them nodes", "agent: {node_group: 'a,cpu', placement: 0-1}", OK),
    ("though RLinf counts accelerators: IndexError at launch", "agent: {node_group: 'a,cpu', placement: all}", "PW102"),
    ("and takes ranks that do not exist", "agent: {node_group: 'a,cpu', placement: 0-2}", "PW102"),
    ("robots", "env: {node_group: robots, placement: 0}", OK),
    ("several processes share one", "env: {node_group: robots, placement: '0:0-3'}", OK),
    ("no more than there are", "env: {node_group: robots, placement: 0-1}", "PW102"),
    ("a process of robots and accelerators, at launch", "env: {node_group: 'd,robots', placement: '7-8:0'}", "PW302"),
    ("processes of both", "env: {node_group: 'd,robots', placement: '7-8'}", OK),
    ("no hardware at all: IndexError", "env: {node_group: typed, placement: 0}", "PW102"),
    ("accelerators of several vendors, without a word", "env: {node_group: 'a,npu', placement: 0-15}", OK),
]  # fmt: skip
GROUPS = """  node_groups:
  - {label: a, node_ranks: 0}
  - {label: 4090, node_ranks: 1}
  - {label: both, node_ranks: 0-1}
  - {label: cpu, node_ranks: 3}
  - {label: empty, node_ranks: ''}
  - {label: d, node_ranks: 2}
  - {label: npu, node_ranks: 2}
  - {label: robots, node_ranks: 2, hardware: {type: Turtle2, configs: [{node_rank: 2}]}}
  - {label: typed, node_ranks: 2, hardware_type: Franka}
"""
MACHINES = "3x8+1x0"


@pytest.mark.parametrize(("row", "section", "expected"), SECTION, ids=[row for row, _, _ in SECTION])
def test_the_section(codes, row: str, section: str, expected: str) -> None:
    assert codes(f"cluster: {{{section}}}") == expected


@pytest.mark.parametrize(("row", "components", "expected"), COMPONENTS, ids=[row for row, _, _ in COMPONENTS])
def test_components(codes, row: str, components: str, expected: str) -> None:
    text = f"cluster:\n  num_nodes: 4\n{GROUPS}  component_placement: {{{components}}}\n"
    own = "(PW112) (PW116) "  # of the groups `empty` and `typed`
    assert f"{codes(text, MACHINES)} ".removeprefix(own).rstrip() == expected


def test_nodes_without_accelerators_are_passed_over_in_the_numbering(judged) -> None:
    report = judged(
        "cluster: {num_nodes: 4, component_placement: {actor: all, agent: {node_group: node, placement: all}}}", "1x2+1x0+1x3+1x0"
    )
    assert report.plan is not None
    assert [(p.node_rank, p.local_hardware_ranks) for p in report.plan.placements("actor")] == [
        (0, (0,)), (0, (1,)), (2, (0,)), (2, (1,)), (2, (2,)),
    ]  # fmt: skip
    assert [p.node_rank for p in report.plan.placements("agent")] == [0, 1, 2, 3]


def test_a_cluster_without_accelerators_is_placed_by_nodes(judged) -> None:
    report = judged("cluster: {num_nodes: 2, component_placement: {agent: '0-1:0-3'}}", "2x0")
    assert report.plan is not None
    assert [(p.node_rank, p.local_accelerator_id, p.accelerator_type) for p in report.plan.placements("agent")] == [
        (0, -1, "NO_ACCEL"), (0, -1, "NO_ACCEL"), (1, -1, "NO_ACCEL"), (1, -1, "NO_ACCEL"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("placement", "isolate", "expected"),
    [
        ("6-9:0-1", True, [(0, 6, ("6", "7"), (6, 7), 0, 1), (1, 0, ("0", "1"), (0, 1), 0, 1)]),
        ("6-9:0-1", False, [(0, 0, tuple("01234567"), (6, 7), 0, 1), (1, 0, tuple("01234567"), (0, 1), 0, 1)]),
        ("0:0-1", True, [(0, 0, ("0",), (0,), 0, 2), (0, 0, ("0",), (0,), 1, 2)]),
        ("{node_group: node, placement: 1}", True, [(1, 0, tuple("01234567"), (), 0, 1)]),
        ("{node_group: arm, placement: 0}", True, [(1, 0, tuple("01234567"), (0,), 0, 1)]),
    ],
)  # fmt: skip
def test_every_field_of_a_placement(read, placement: str, isolate: bool, expected: list[tuple[object, ...]]) -> None:
    groups = "[{label: arm, node_ranks: 1, hardware: {type: Turtle2, configs: [{node_rank: 1}]}}]"
    text = f"cluster:\n  num_nodes: 2\n  node_groups: {groups}\n  component_placement:\n    c: {placement}\n"
    problem = read(text, "2x8xH100").problem
    found = placements(problem.cluster, problem["c"].runs, isolate)
    fields = [
        (p.node_rank, p.local_accelerator_id, p.visible_accelerators, p.local_hardware_ranks, p.local_rank, p.local_world_size)
        for p in found
    ]
    assert fields == expected
    assert [(p.rank, p.isolate_accelerator, p.accelerator_type) for p in found] == [(rank, isolate, "NV_GPU") for rank in range(len(found))]
    assert [p.placement_node_rank for p in found] == [sorted({p.node_rank for p in found}).index(p.node_rank) for p in found]


def test_accelerators_of_other_jobs_are_told_from_those_that_are_free(judged) -> None:
    nodes = tuple(Node(rank, f"n{rank}", accelerators(8, "H100"), taken=taken) for rank, taken in enumerate((0b111, 0xFF)))
    report = judged("cluster: {num_nodes: 2, component_placement: {actor: 0-3, env: 8-9}}", Cluster(nodes))
    assert [(finding.code, finding.help) for finding in report.errors] == [
        ("PW201", "of node 0 name accelerators that are free: 3-7"),
        ("PW201", "name another node: on node 1 no accelerator is free"),
    ]
