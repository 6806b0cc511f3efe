"""Which node of the plan is which node of Ray, and what is short."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import RayNode
from placewright.runtime.world.matching import match_machines, used_nodes

from ..conftest import Planner


def ray_node(name: str, count: int, rank: int | None = None, resource: str = "GPU") -> RayNode:
    labels = {} if rank is None else {"placewright.node-rank": str(rank)}
    return RayNode(f"id-{name}", name, "10.0.0.1", labels, {resource: float(count)}, {resource: float(count)})


def everywhere(plan: Planner, cluster: str) -> Plan:
    """One process on each node, on the node itself."""
    nodes = range(sum(int(part.split("x")[0]) for part in cluster.split("+")))
    return plan(cluster, agent=tuple(Run(range(n, n + 1), n, "node", each=0, node_group="node") for n in nodes))


def ids(plan: Plan, *nodes: RayNode) -> list[str]:
    return [found.ray.name for found in match_machines(plan, nodes).values()]


def test_a_label_decides_before_everything_else(plan: Planner) -> None:
    assert ids(everywhere(plan, "2x8"), ray_node("node-0", 8, rank=1), ray_node("node-1", 8, rank=0)) == ["node-1", "node-0"]


def test_names_decide_where_labels_have_gaps_and_the_plan_was_made_without_them(plan: Planner) -> None:
    made = everywhere(plan, "2x8")
    nodes = tuple(replace(node, name=name) for node, name in zip(made.cluster.nodes, ("a", "c")))
    discovered = replace(made, cluster=replace(made.cluster, nodes=nodes))
    there = ray_node("a", 8, rank=0), ray_node("c", 8, rank=2)
    assert ids(discovered, *there) == ["a", "c"]
    with pytest.raises(LaunchFailed, match=r"no Ray node has the label placewright\.node-rank=1"):
        ids(made, *there)


def test_host_names_decide_where_the_plan_knows_them(plan: Planner) -> None:
    assert ids(everywhere(plan, "2x8"), ray_node("node-1", 8), ray_node("node-0", 8)) == ["node-0", "node-1"]


def test_else_each_node_takes_the_first_with_its_number_of_accelerators(plan: Planner) -> None:
    found = ids(everywhere(plan, "2x8+1x0+1x4"), ray_node("a", 0), ray_node("b", 8), ray_node("c", 4), ray_node("d", 8))
    assert found == ["b", "d", "a", "c"]


def test_a_larger_node_serves_where_none_fits_exactly(plan: Planner) -> None:
    assert ids(everywhere(plan, "1x4"), ray_node("a", 2), ray_node("b", 8)) == ["b"]


def test_accelerators_are_counted_by_the_name_that_ray_has_for_their_kind(plan: Planner) -> None:
    assert ids(everywhere(plan, "1x8xNPU:910B"), ray_node("a", 8), ray_node("b", 8, resource="NPU")) == ["b"]


def test_each_node_that_is_missing_or_short_is_named_with_its_numbers(plan: Planner) -> None:
    with pytest.raises(LaunchFailed) as caught:
        match_machines(everywhere(plan, "3x8"), [ray_node("a", 8, rank=0), ray_node("b", 4, rank=1)])
    short, missing = caught.value.findings
    assert short.message == "node 1 (`node-1`) needs 8 accelerators, its Ray node `b` has 4"
    assert short.amount == 4
    assert missing.message == "node 2 (`node-2`) is missing: no Ray node has the label placewright.node-rank=2"
    assert {finding.code for finding in caught.value.findings} == {"PW702"}
    assert caught.value.exit_code == 4


def test_a_node_without_any_process_need_not_exist(plan: Planner) -> None:
    some = plan("3x8", actor=(Run(range(8), 0),))
    assert used_nodes(some) == {0: 8}
    assert ids(some, ray_node("a", 8)) == ["a"]


def test_only_nodes_whose_accelerators_a_process_holds_are_held(plan: Planner) -> None:
    made = plan("2x8", actor=(Run(range(8), 0),), agent=(Run(range(1), 1, "node", each=0, node_group="node"),))
    assert [found.held for found in match_machines(made, [ray_node("a", 8), ray_node("b", 8)]).values()] == [True, False]


def test_nodes_with_one_host_name_keep_the_names_that_discover_gives_them(plan: Planner) -> None:
    made = everywhere(plan, "2x8")
    nodes = tuple(replace(node, name=f"gpu-{2 - node.rank}") for node in made.cluster.nodes)
    same = [replace(ray_node("gpu", 8), node_id=f"id-{number}") for number in range(2)]
    found = match_machines(replace(made, cluster=replace(made.cluster, nodes=nodes)), same)
    assert [each.ray.node_id for each in found.values()] == ["id-1", "id-0"]


def test_a_name_given_as_a_label_goes_before_the_host_name(plan: Planner) -> None:
    named = [replace(ray_node(host, 8), labels={"placewright.node-name": name}) for host, name in (("x", "node-1"), ("y", "node-0"))]
    assert ids(everywhere(plan, "2x8"), *named) == ["y", "x"]
