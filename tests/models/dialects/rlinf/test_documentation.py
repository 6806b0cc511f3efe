"""The page of RLinf's documentation about heterogeneous clusters, its examples read as they are written there."""

from __future__ import annotations

import pytest
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading
from placewright.planner.verify import verify

GROUPS = """\
cluster:
  num_nodes: 4
  node_groups:
    - {label: a800, node_ranks: 0-1}
    - {label: 4090, node_ranks: 2-3}
    - label: robot
      node_ranks: 0-3
      hardware: {type: Turtle2, configs: [{node_rank: 0}, {node_rank: 1}, {node_rank: 2}, {node_rank: 3}]}
  component_placement:
    actor: {node_group: a800, placement: ACTOR}
    rollout: {node_group: 4090, placement: 0-7}
    env: {node_group: robot, placement: 0-3:0-7}
    agent:
      node_group: node
      placement: AGENT
"""


def held(reading: Reading, name: str) -> list[list[int]]:
    """The local resources of each process, on whatever node it is."""
    assert reading.problem is not None
    return [[index for (_, index), _, _ in its] for _, its in seats(reading.problem[name].runs or ())]


def test_the_short_form_makes_eight_processes_of_each(read) -> None:
    reading = read("cluster:\n  num_nodes: 1\n  component_placement:\n    actor,inference: 0-7\n")
    assert reading.findings == ()
    assert held(reading, "actor") == held(reading, "inference") == [[i] for i in range(8)]


def test_the_form_with_node_groups(read) -> None:
    report = verify(read(GROUPS.replace("ACTOR", "0-7").replace("AGENT", "0-1:0-199,2-3:200-399")))
    assert report.errors == ()
    assert report.plan is not None
    where = {name: [(p.node_rank, p.local_hardware_ranks) for p in report.plan.placements(name)] for name in report.plan.components}
    assert where["actor"] == [(0, (i,)) for i in range(8)]
    assert where["rollout"] == [(2, (i,)) for i in range(8)]
    assert where["env"] == [(i // 2, (0,)) for i in range(8)]
    assert [node for node, _ in where["agent"]] == [i // 100 for i in range(400)]


@pytest.mark.parametrize(
    ("actor", "agent", "code", "said"),
    [
        # 9 accelerators of a group with 8 (the page gives each group one node), 201 processes over 2 nodes
        ("0-16", "0-1:0-199,2-3:200-399", "PW102", "`0-16` is outside `a800`: 2 nodes x 8 accelerators, ranks 0-15 exist"),
        ("0-7", "0-1:0-200,2-3:201-511", "PW111", "201 processes cannot be divided evenly over 2 nodes, nor 2 nodes over 201 processes"),
    ],
)
def test_the_slips_of_the_page_are_errors_as_in_rlinf(read, actor: str, agent: str, code: str, said: str) -> None:
    reading = read(GROUPS.replace("ACTOR", actor).replace("AGENT", agent))
    first = reading.findings[0]
    assert (first.code, said in first.message) == (code, True)


def test_ranks_of_processes_that_are_left_out_go_on(read) -> None:
    reading = read("cluster: {num_nodes: 1, component_placement: {a: '0-3,4-7', b: '0-3:0-3,4-7:4-7'}}")
    assert held(reading, "a") == held(reading, "b") == [[i] for i in range(8)]


def test_the_three_segments(read) -> None:
    reading = read("cluster: {num_nodes: 2, component_placement: {a: '0-1:0-3,3-5,7-10:7-14'}}")
    assert held(reading, "a") == [[0], [0], [1], [1], [3], [4], [5], [7], [7], [0], [0], [1], [1], [2], [2]]


@pytest.mark.parametrize("placement", ["0-3:0-1", "0-1:0-3"])
def test_one_is_a_multiple_of_the_other(read, placement: str) -> None:
    assert read(f"cluster: {{num_nodes: 1, component_placement: {{a: '{placement}'}}}}").findings == ()
