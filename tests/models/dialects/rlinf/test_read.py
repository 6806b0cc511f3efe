"""The `cluster` section as a whole: the machines, what is missing, what may come from elsewhere."""

from __future__ import annotations

import pytest
from placewright.models.dialects import rlinf
from placewright.models.findings.finding import Severity
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source
from placewright.planner.verify import verify

SEED = """cluster:
  num_nodes: 18
  component_placement:
    actor: {node_group: a800, placement: 0-63}
    rollout: {node_group: 4090, placement: 0-63}
    env: {node_group: franka, placement: 0-1}
    agent:
      node_group: node
      placement: 0-1:0-199,2-3:200-399
  node_groups:
    - label: a800
      node_ranks: 0-7
    - label: 4090
      node_ranks: 8-15
    - label: franka
      node_ranks: 16-17
      hardware:
        type: Franka
        configs:
          - {robot_ip: 10.10.10.1, node_rank: 16}
          - {robot_ip: 10.10.10.2, node_rank: 17}
"""


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("cluster: {num_nodes: 1, component_placement: {}}", True),
        ("cluster: {num_nodes: 1}\nplacewright: {}", True),
        ("cluster: {num_nodes: 1}", False),
        ("cluster: 4x8\ncomponents: {}", False),
        ("actor_train: {device_mapping: list(range(0,8))}", False),
    ],
)
def test_an_rlinf_file_is_known_by_its_cluster_section(text: str, known: bool) -> None:
    assert bool(rlinf.signs(Source("t", text).root).sure) is known


def test_the_heterogeneous_example_places_530_processes(read) -> None:
    report = verify(read(SEED))
    assert report.errors == ()
    assert {name: len(report.plan.placements(name)) for name in report.plan.components} == {
        "actor": 64,
        "rollout": 64,
        "env": 2,
        "agent": 400,
    }
    assert report.plan.placements("agent")[-1].node_rank == 3


def test_the_documentation_s_own_mistake_is_refused_with_a_fix(read) -> None:
    reading = read(SEED.replace("0-1:0-199,2-3:200-399", "0-1:0-200,2-3:201-511"))
    assert [f.code for f in reading.findings] == ["PW111", "PW111"]
    assert reading.findings[0].help == "write `0-1:0-199,2-3:200-509`"
    assert reading.findings[0].edit == reading.findings[1].edit


def test_nodes_with_other_hardware_alone_have_no_accelerators(read) -> None:
    nodes = read(SEED).problem.cluster.nodes
    assert [len(node.accelerators) for node in nodes] == [8] * 16 + [0, 0]
    shared = SEED.replace("node_ranks: 8-15", "node_ranks: 8-17")
    assert len(read(shared).problem.cluster.nodes[17].accelerators) == 8


def test_the_given_machines_are_used_with_the_groups_of_the_file(read) -> None:
    given = read_shorthand("1x4xH100+2x8xA100")
    assert isinstance(given, Cluster)
    reading = read("cluster: {num_nodes: 2, component_placement: {actor: all}, node_groups: [{label: b, node_ranks: 1}]}", given)
    cluster = reading.problem.cluster
    assert [(len(n.accelerators), n.accelerator_model) for n in cluster.nodes] == [(4, "H100"), (8, "A100")]
    assert list(cluster.groups["b"].node_ranks) == [1]
    assert [(f.code, f.severity) for f in reading.findings] == [("PW114", Severity.NOTE)]
    assert reading.findings[0].message == "the cluster has 3 nodes, and RLinf uses 2 nodes in rank order"


def test_too_few_machines_are_an_error_and_the_rest_is_still_read(read) -> None:
    reading = read("cluster: {num_nodes: 4, component_placement: {actor: 3-1}}", "2x8")
    assert [f.code for f in reading.findings] == ["PW114", "PW109"]
    assert reading.findings[0].message == "`num_nodes` is 4, but the cluster has 2 nodes"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("a: 1", ["PW101"]),
        ("cluster: 4x8", ["PW105"]),
        ("cluster: {component_placement: {}}", ["PW101"]),
        ("cluster: {num_nodes: 1}", ["PW101"]),
        ("cluster: {num_nodes: 1, component_placement: all}", ["PW105"]),
        ("cluster: {num_nodes: 1, component_placement: }", ["PW105"]),
        ("cluster: {num_nodes: '1', component_placement: {}}", ["PW105"]),
        ("cluster: {num_nodes: 1.0, component_placement: {}}", ["PW105"]),
        ("cluster: {num_nodes: true, component_placement: {}}", ["PW105"]),
        ("cluster: {num_nodes: 0, component_placement: {}}", ["PW105"]),
        ("cluster: {num_nodes: -1, component_placement: {}}", ["PW105"]),
        ("cluster: {num_nodes: 99999999, component_placement: {}}", ["PW002"]),
        ("cluster: {num_nodes: 1, component_placement: {}, node_groups: {label: a}}", ["PW105"]),
        ("cluster: {num_nodes: 1, component_placement: {}, profiling: {}}", ["PW101"]),
        ("cluster: {num_nodes: 1, component_placement: {}, profiling: {backend: nsys}}", ["PW117"]),
        ("cluster: {num_nodes: 1, component_placement: {}, profiling: {backend: nsight, step: [1]}}", ["PW104"]),
    ],
)
def test_what_rlinf_refuses_is_an_error(read, text: str, codes: list[str]) -> None:
    reading = read(text)
    assert [f.code for f in reading.findings] == codes
    assert all(f.severity is Severity.ERROR and f.help for f in reading.findings)


def test_what_may_come_from_another_file_is_unchecked(read) -> None:
    reading = read("defaults: [base]\ncluster: {component_placement: {actor: {node_group: cluster}, env: 3-1}}")
    assert [(u.rule, u.subject) for u in reading.unchecked] == [("PW101", "cluster"), ("PW101", "actor")]
    assert [f.code for f in reading.findings] == ["PW109"]


def test_a_number_of_nodes_from_the_environment_is_read_only_if_it_is_on_the_list(read, monkeypatch) -> None:
    monkeypatch.setenv("NUM_NODES", "2")
    monkeypatch.setenv("OTHER", "2")
    text = "cluster: {num_nodes: '${oc.decode:${oc.env:%s}}', component_placement: {actor: 0-15}}"
    assert len(read(text % "NUM_NODES").problem.cluster.nodes) == 2
    reading = read(text % "OTHER")
    assert reading.problem is None
    assert reading.unchecked[0].why == "the environment variable `OTHER` is not read: `--allow-env` does not name it, or it is not set"


def test_other_keys_of_the_cluster_are_left_alone(read) -> None:
    assert read("cluster: {num_nodes: 1, component_placement: {}, auto_scheduler: {x: '${nope}'}, tracer: 1}").findings == ()


def test_a_list_that_is_written_elsewhere_is_shown_at_both_places(read) -> None:
    text = "cluster:\n  num_nodes: 2\n  node_groups: ${groups}\n  component_placement: {}\ngroups:\n- label: a\n  node_ranks: ${ranks}\nranks: [0, 1]\n"
    finding = read(text).findings[0]
    assert (finding.code, finding.span.line, finding.origin.line, finding.edit.text) == ("PW105", 7, 8, "0,1")
    nested = read(text.replace("label: a", "label: node").replace("ranks: [0, 1]", "ranks: 0")).findings[0]
    assert (nested.code, nested.span.line, nested.origin.line) == ("PW113", 3, 6)
