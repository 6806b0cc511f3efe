"""Which node is which while nodes go and come back under new ids."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.port.port import RANK_LABEL, RayNode
from placewright.runtime.recovery.nodes import NodeRoster


def node(node_id: str, name: str, rank: int | None = None, accelerators: int = 4) -> RayNode:
    labels = {} if rank is None else {RANK_LABEL: str(rank)}
    return RayNode(node_id, name, "10.0.0.1", labels, {"GPU": float(accelerators), "CPU": 8.0}, {})


def named(*names: str) -> Cluster:
    """A cluster of nodes with four accelerators each."""
    cluster = read_shorthand(f"{len(names)}x4xH100")
    return replace(cluster, nodes=tuple(replace(its, name=name) for its, name in zip(cluster.nodes, names)))


def test_nodes_with_rank_labels_are_known_by_them_though_all_have_one_host_name() -> None:
    roster = NodeRoster(named("a", "b"), [node("1", "host", 0), node("2", "host", 1)])
    there = roster.present([node("9", "host", 1), node("5", "host", 7)])
    assert {name: ray.node_id for name, ray in there.items()} == {"b": "9"}


def test_nodes_without_labels_are_known_by_their_host_names() -> None:
    roster = NodeRoster(named("a", "b"), [node("1", "a"), node("2", "b")])
    assert {name: ray.node_id for name, ray in roster.present([node("7", "b")]).items()} == {"b": "7"}


def test_nodes_that_nothing_tells_apart_are_known_by_their_ids() -> None:
    roster = NodeRoster(named("a", "b"), [node("1", "host"), node("2", "host")])
    assert set(roster.present([node("2", "host"), node("3", "host")])) == {"b"}


def test_in_a_smaller_cluster_nodes_have_their_ranks_there() -> None:
    roster = NodeRoster(named("a", "b", "c"), [node("1", "h", 0), node("2", "h", 1), node("3", "h", 2)])
    ranked = roster.rank(named("a", "c"), [node("3", "h", 2), node("1", "h", 0)])
    assert [(ray.node_id, ray.rank) for ray in ranked] == [("1", 0), ("3", 1)]
