"""Cluster for judging a file: its nodes with the accelerators and hardware that RLinf would find."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...configuration.notes import Notes
from ...findings.wording import with_noun
from ...machines.cluster import Cluster
from ...machines.node import EqualNodes, Hardware, Node, Nodes, accelerators, numbered_nodes
from ...machines.node_group import NODE, NodeGroup
from ...machines.shorthand import DeclaredNodes
from ...ranks import merge, without
from ...text.tree import Value
from .node_groups import DeclaredGroup


def machines_of(notes: Notes, count: int, at: Value, groups: list[DeclaredGroup], machines: Cluster | DeclaredNodes | None) -> Cluster:
    """Return `count` nodes in rank order; accelerators of undescribed nodes are not counted.

    A cluster of the caller with too few nodes is an error (RLinf waits for more forever); the rest
    is then judged on nodes like those. Of too many nodes the first `count` are used, as RLinf does.
    """
    if isinstance(machines, Cluster) and len(machines.nodes) < count:
        has = len(machines.nodes)
        message = f"`num_nodes` is {count}, but the cluster has {with_noun(has, 'node')}"
        notes.error(
            "PW114", "", message, at, f"{has} exist{'s' * (has == 1)}", f"give a cluster of {with_noun(count, 'node')}", None,
            "RLinf waits for the others without a limit",
        )  # fmt: skip
        kinds = {
            tuple((device.model, len(stretch.node.accelerators)) for device in stretch.node.accelerators[:1]) for stretch in machines.alike
        }
        kind = kinds.pop() if len(kinds) == 1 else ()
        return machines_of(notes, count, at, groups, DeclaredNodes(kind[0][1], kind[0][0]) if kind else None)
    if isinstance(machines, Cluster):
        if len(machines.nodes) > count:
            selection = f"the first {count} are" if count > 1 else "only the first is"
            message = f"the cluster has {len(machines.nodes)} nodes, of which {selection} used: `num_nodes` is {count}"
            notes.info("PW114", "", message, at, f"the first {'ones are' if count > 1 else 'one is'} used")
        nodes, is_counted = machines.nodes[:count], machines.counted
    elif isinstance(machines, DeclaredNodes):
        nodes, is_counted = _select_declared(machines, count, groups), True
    else:
        nodes, is_counted = Nodes([numbered_nodes(Node(0, ""), count)]), False
    cluster = Cluster(_equip(nodes, groups), counted=is_counted)
    return cluster.with_groups(_group(cluster, group) for group in groups if group.ranks)


def warn_of_hidden(notes: Notes, cluster: Cluster) -> None:
    """Warn that RLinf also uses the accelerators that a script hides from its programs.

    RLinf counts those that the driver has, whatever is visible. Sources: RLinf,
    rlinf/scheduler/hardware/accelerators/nvidia_gpu.py (get_num_devices); Ray,
    ray/_private/accelerators/nvidia_gpu.py (nvmlDeviceGetCount).
    """
    program = notes.document.program
    machine = program.machine if program is not None else None
    most = max((len(group.node.accelerators) for group in cluster.alike), default=0)
    if machine is None or machine.variable != "CUDA_VISIBLE_DEVICES" or not 0 < (machine.accelerators or 0) < most:
        return
    message = f"`{machine.variable}` shows {machine.accelerators}, but RLinf counts and uses all {most} accelerators of a node"
    help = f"remove it, and place the components on ranks of {machine.accelerators} accelerators"
    notes.warn("PW114", "", message, machine.accelerators_span or notes.document.root.span, "not read", help)


def _select_declared(machines: DeclaredNodes, count: int, groups: list[DeclaredGroup]) -> Nodes:
    devices = accelerators(machines.count, machines.model)
    special = merge([ranks for group in groups if group.hardware for ranks in group.ranks.ranges])
    bare = without(special, merge([ranks for group in groups if not group.hardware for ranks in group.ranks.ranges]))
    with_devices = without((range(count),), bare)
    intervals = sorted((*bare, *with_devices), key=lambda ranks: ranks.start)
    return Nodes([numbered_nodes(Node(ranks.start, "", devices if ranks in with_devices else ()), len(ranks)) for ranks in intervals])


def _equip(nodes: Sequence[Node], groups: list[DeclaredGroup]) -> Nodes:
    """Return the nodes with configured hardware, which replaces known hardware of the type."""
    types = {group.hardware.type for group in groups if group.hardware}
    hardware_by_rank: dict[int, list[Hardware]] = {}
    for group in groups:
        for rank, device in group.hardware.devices if group.hardware else ():
            hardware_by_rank.setdefault(rank, []).append(device)
    plain = nodes if isinstance(nodes, Nodes) else Nodes(map(EqualNodes, nodes))
    stretches = [stretch for stretch in plain.alike if any(device.type in types for device in stretch.node.hardware)]
    ranks = hardware_by_rank.keys() | {rank for stretch in stretches for rank in range(stretch.node.rank, stretch.stop)}
    other_devices = {rank: [device for device in plain[rank].hardware if device.type not in types] for rank in ranks}
    new_nodes = (replace(plain[rank], hardware=(*other_devices[rank], *hardware_by_rank.get(rank, []))) for rank in ranks)
    return plain.replace(new_nodes) if ranks else plain


def _group(cluster: Cluster, group: DeclaredGroup) -> NodeGroup:
    kind = group.kind or (NODE if group.ignores_hardware else cluster.default_kind(group.ranks.members))
    return NodeGroup(group.label, group.ranks.members, kind, group.env_configs)
