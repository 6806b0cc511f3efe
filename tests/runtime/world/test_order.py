"""The order of nodes: label, rank variable, place in the network, address, name."""

from __future__ import annotations

import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import RayNode
from placewright.runtime.world.inventory import natural, order_nodes

from .machines import ray_node, report


def names(*nodes: RayNode, **environments: dict[str, str]) -> list[str]:
    """The names in order; every node is looked at, and has the environment of its name, if one is given."""
    return [node.name for node in order_nodes(nodes, {node.node_id: report(**environments.get(node.name, {})) for node in nodes})]


def failure(*nodes: RayNode, **environments: dict[str, str]) -> list[str]:
    with pytest.raises(LaunchFailed) as caught:
        names(*nodes, **environments)
    assert {finding.code for finding in caught.value.findings} == {"PW721"}
    assert caught.value.exit_code == 4
    return [finding.message for finding in caught.value.findings]


@pytest.mark.parametrize("variable", ["RLINF_NODE_RANK", "NODE_RANK", "SLURM_NODEID"])
def test_the_rank_variables_of_all_nodes_decide_before_addresses(variable: str) -> None:
    nodes = ray_node("a", address="10.0.0.1"), ray_node("b", address="10.0.0.2")
    assert names(*nodes, a={variable: "1"}, b={variable: "0"}) == ["b", "a"]
    assert names(*nodes) == ["a", "b"]


def test_a_label_decides_before_a_variable() -> None:
    nodes = [ray_node(name, labels={"placewright.node-rank": rank}) for name, rank in (("a", "1"), ("b", "0"))]
    assert names(*nodes, a={"RLINF_NODE_RANK": "0"}) == ["b", "a"]


def test_the_variable_of_rlinf_goes_before_that_of_roll() -> None:
    nodes = ray_node("a"), ray_node("b", address="10.0.0.2")
    both = {"a": {"RLINF_NODE_RANK": "1", "NODE_RANK": "0"}, "b": {"RLINF_NODE_RANK": "0", "NODE_RANK": "1"}}
    assert names(*nodes, **both) == ["b", "a"]


def test_a_variable_on_some_nodes_alone_is_refused() -> None:
    nodes = ray_node("a", address="10.0.0.1"), ray_node("b", address="10.0.0.2")
    assert failure(*nodes, a={"RLINF_NODE_RANK": "0"}) == ["1 of 2 nodes have `RLINF_NODE_RANK`, b not"]
    assert failure(*nodes, a={"NODE_RANK": "0"}) == ["1 of 2 nodes have `NODE_RANK`, b not"]


def test_ranks_that_are_none_or_given_twice_are_refused() -> None:
    nodes = ray_node("a"), ray_node("b", address="10.0.0.2")
    assert failure(*nodes, a={"NODE_RANK": "0"}, b={"NODE_RANK": "0"}) == ["`NODE_RANK` is 0 on 2 nodes: a, b"]
    assert failure(*nodes, a={"NODE_RANK": "x"}, b={"NODE_RANK": "0"}) == ["`NODE_RANK` of node `a` is `x`, which is not a rank"]
    assert failure(*nodes, a={"RLINF_NODE_RANK": "0"}, b={"RLINF_NODE_RANK": "0"}) == ["`RLINF_NODE_RANK` is 0 on 2 nodes: a, b"]
    assert failure(*nodes, a={"RLINF_NODE_RANK": "0"}, b={"RLINF_NODE_RANK": "2"}) == [
        "`RLINF_NODE_RANK` of node `b` is `2`, which is not a rank of 2 nodes, 0-1"
    ]


def test_slurms_variable_counts_only_where_all_have_it() -> None:
    nodes = ray_node("a", address="10.0.0.2"), ray_node("b", address="10.0.0.1")
    assert names(*nodes, a={"SLURM_NODEID": "0"}) == ["b", "a"]
    assert names(*nodes, a={"SLURM_NODEID": "0"}, b={"SLURM_NODEID": "0"}) == ["b", "a"]


def test_neighbours_in_the_network_stand_together() -> None:
    racks = {"a": "r10", "b": "r2", "c": "r10"}
    nodes = [ray_node(name, address=f"10.0.0.{n}", labels={"rack": racks[name]}) for n, name in enumerate("abc")]
    assert names(*nodes) == ["b", "a", "c"]
    tree = {"SLURM_TOPOLOGY_ADDR_PATTERN": "switch.node"}
    assert names(ray_node("a"), ray_node("b"), a={"SLURM_TOPOLOGY_ADDR": "s2.a", **tree}, b={"SLURM_TOPOLOGY_ADDR": "s1.b", **tree}) == [
        "b", "a",
    ]  # fmt: skip


def test_numbers_in_names_are_numbers() -> None:
    assert names(*(ray_node(f"gpu-{n}") for n in (10, 9, 100))) == ["gpu-9", "gpu-10", "gpu-100"]
    assert sorted(["b", "a10", "a9", "10", "9"], key=natural) == ["9", "10", "a9", "a10", "b"]


def test_where_a_node_was_lost_or_joined_since_the_look_the_ranks_of_the_others_still_order_them() -> None:
    looked = {f"id-{name}": report(RLINF_NODE_RANK=rank) for name, rank in (("a", "3"), ("b", "1"), ("lost", "0"))}
    left = ray_node("a", address="10.0.0.1"), ray_node("b", address="10.0.0.2"), ray_node("new", address="10.0.0.0")
    assert [node.name for node in order_nodes(left, looked)] == ["b", "a", "new"]
