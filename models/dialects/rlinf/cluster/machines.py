"""The cluster that reasoning may use: the given machines, with the node groups and the hardware that the file declares."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from ....configuration.notes import Notes
from ....findings.wording import with_noun
from ....machines.accelerators import accelerators
from ....machines.cluster import Cluster, Hardware, Node, Nodes
from ....machines.node_group import NODE, NodeGroup
from ....machines.nodes import Alike, numbered_nodes
from ....machines.shorthand import AsDeclared
from ....ranks import merge, without
from ....text.tree import Scalar, Value
from .declared_group import DeclaredGroup


def machines_of(
    notes: Notes,
    count: int,
    at: Value,
    groups: list[DeclaredGroup],
    machines: Cluster | AsDeclared | None,
    fits: Callable[[Cluster, Cluster], bool] = lambda cluster, judged: False,
) -> Cluster:
    """`count` nodes in rank order; where nobody described them, their accelerators are not counted.

    A given cluster with fewer nodes is an error (RLinf waits for more forever), the rest is then judged on nodes like its own; of one
    with more, the first `count` are used, as RLinf does. `fits` tells whether all that the file places has room in a
    cluster, and what mends it there is what mends it in the one that it is judged on.
    """
    if isinstance(machines, Cluster) and len(machines.nodes) < count:
        judged = machines_of(notes, count, at, groups, _alike(machines))
        _too_few(notes, count, at, groups, machines, lambda cluster: fits(cluster, judged))
        return judged
    if isinstance(machines, Cluster):
        if len(machines.nodes) > count:
            message = f"the cluster has {len(machines.nodes)} nodes, of which {f'the first {count} are' if count > 1 else 'only the first is'} used: `num_nodes` is {count}"
            notes.info("PW114", "", message, at, f"the first {'ones are' if count > 1 else 'one is'} used")
        nodes, counted = machines.nodes[:count], machines.counted
    elif isinstance(machines, AsDeclared):
        nodes, counted = _declared(machines, count, groups), True
    else:
        nodes, counted = Nodes([numbered_nodes(Node(0, ""), count)]), False
    return _with_groups(nodes, counted, groups)


def _alike(machines: Cluster) -> AsDeclared | None:
    """What every node of a cluster has, so that missing nodes are taken to be like it; None where nodes differ."""
    kinds = {tuple((device.model, len(its.node.accelerators)) for device in its.node.accelerators[:1]) for its in machines.alike}
    kind = kinds.pop() if len(kinds) == 1 else ()
    return AsDeclared(kind[0][1], kind[0][0]) if kind else None


def _too_few(notes: Notes, count: int, at: Value, groups: list[DeclaredGroup], machines: Cluster, fits: Callable[[Cluster], bool]) -> None:
    has = len(machines.nodes)
    message = f"`num_nodes` is {count}, but the cluster has {with_noun(has, 'node')}; RLinf would wait for more forever"
    help, edit = f"give a cluster of {with_noun(count, 'node')}", None
    if all(not group.ranks or group.ranks.last < has for group in groups) and fits(_with_groups(machines.nodes, machines.counted, groups)):
        help = f"set `num_nodes: {has}`, or {help}"
        edit = notes.instead(at, str(has)) if isinstance(at, Scalar) else None
    notes.error("PW114", "", message, at, f"{has} exist{'s' * (has == 1)}", help, edit)


def _declared(machines: AsDeclared, count: int, groups: list[DeclaredGroup]) -> Nodes:
    """As many nodes as declared, each with accelerators unless it is in groups with other hardware alone."""
    devices = accelerators(machines.count, machines.model)
    special = merge([ranks for group in groups if group.hardware for ranks in group.ranks.ranges])
    bare = without(special, merge([ranks for group in groups if not group.hardware for ranks in group.ranks.ranges]))
    found: list[Alike] = []
    for ranks, has in sorted(
        [*((each, ()) for each in bare), *((each, devices) for each in without((range(count),), bare))], key=lambda pair: pair[0].start
    ):
        found.append(numbered_nodes(Node(ranks.start, "", has), len(ranks)))
    return Nodes(found)


def _with_groups(nodes: Sequence[Node], counted: bool, groups: list[DeclaredGroup]) -> Cluster:
    cluster = Cluster(_equipped(nodes, groups), counted=counted)
    return cluster.with_groups(_group(cluster, group) for group in groups if group.ranks)


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
    kind = group.kind or (NODE if group.ignores_hardware else cluster.default_kind(group.ranks.members))
    return NodeGroup(group.label, group.ranks.members, kind, group.env_configs)
