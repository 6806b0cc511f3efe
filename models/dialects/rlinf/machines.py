"""The cluster that reasoning may use: the given machines, with the node groups and the hardware that the file declares."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...accelerators import accelerators
from ...cluster import Cluster
from ...node import Hardware, Node
from ...node_group import NODE, NodeGroup
from ...nodes import Alike, Nodes, numbered_nodes
from ...shorthand import AsDeclared
from ...text.tree import Value
from .node_groups import DeclaredGroup
from .notes import Notes


def merge(notes: Notes, count: int, at: Value, groups: list[DeclaredGroup], machines: Cluster | AsDeclared | None) -> Cluster:
    """`count` nodes in rank order; where nobody described them, their accelerators are not counted.

    A given cluster with fewer nodes is an error (RLinf waits for more forever), the rest is then judged without it; of one
    with more, the first `count` are used, as RLinf does.
    """
    if isinstance(machines, Cluster) and len(machines.nodes) < count:
        has = len(machines.nodes)
        message = f"`num_nodes` is {count}, but the cluster has {has} node{'s' * (has != 1)}; RLinf would wait for more forever"
        notes.error("PW114", "", message, at, f"{has} exist", f"set `num_nodes: {has}`, or give a cluster of {count} nodes")
        machines = None
    if isinstance(machines, Cluster):
        if len(machines.nodes) > count:
            message = f"the cluster has {len(machines.nodes)} nodes, of which the first {count} are used: `num_nodes` is {count}"
            notes.info("PW114", "", message, at, "the first ones are used")
        nodes, counted = machines.nodes[:count], machines.counted
    elif isinstance(machines, AsDeclared):
        devices = accelerators(machines.count, machines.model)
        bare = [Node(rank, f"node-{rank}") for rank in _without_accelerators(groups)]
        nodes, counted = Nodes([numbered_nodes(Node(0, "", devices), count)]).changed(bare), True
    else:
        nodes, counted = Nodes([numbered_nodes(Node(0, ""), count)]), False
    cluster = Cluster(_equipped(nodes, groups), counted=counted)
    return cluster.with_groups(_group(cluster, group) for group in groups if group.node_ranks)


def _without_accelerators(groups: list[DeclaredGroup]) -> set[int]:
    """Nodes that are in a group with other hardware and in none without."""
    special = {rank for group in groups if group.hardware for rank in group.node_ranks}
    ordinary = {rank for group in groups if not group.hardware for rank in group.node_ranks}
    return special - ordinary


def _equipped(nodes: Sequence[Node], groups: list[DeclaredGroup]) -> Nodes:
    """The nodes with the hardware that the file configures; it replaces what was known of the same type."""
    types = {group.hardware.type for group in groups if group.hardware}
    found: dict[int, list[Hardware]] = {}
    for group in groups:
        for rank, device in group.hardware.devices if group.hardware else ():
            found.setdefault(rank, []).append(device)
    plain = nodes if isinstance(nodes, Nodes) else Nodes(map(Alike, nodes))
    known = [alike for alike in plain.alike if any(device.type in types for device in alike.node.hardware)]
    ranks = found.keys() | {rank for alike in known for rank in range(alike.node.rank, alike.stop)}
    return plain.changed(_with(plain[rank], types, found.get(rank, [])) for rank in ranks) if ranks else plain


def _with(node: Node, types: set[str], devices: list[Hardware]) -> Node:
    return replace(node, hardware=(*(device for device in node.hardware if device.type not in types), *devices))


def _group(cluster: Cluster, group: DeclaredGroup) -> NodeGroup:
    kind = group.kind or (NODE if group.ignores_hardware else cluster.default_kind(group.node_ranks))
    return NodeGroup(group.label, group.node_ranks, kind, group.env_configs)
