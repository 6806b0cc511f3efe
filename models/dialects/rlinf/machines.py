"""Cluster for judging a file, and ranks of live nodes in RLinf.

Source: RLinf, rlinf/scheduler/cluster/node.py (NodeProbe._sort_nodes and _RemoteNodeProbe).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable, Sequence

from ...configuration.notes import Notes
from ...findings.finding import Finding, error, warning
from ...findings.wording import are, with_noun
from ...machines.cluster import Cluster
from ...machines.node import NO_ACCELERATOR, Alike, Hardware, Node, Nodes, accelerators, numbered_nodes
from ...machines.node_group import NODE, NodeGroup
from ...machines.shorthand import AsDeclared
from ...ranks import merge, without
from ...record import dataclass
from ...text.tree import Scalar, Value
from .node_groups import DeclaredGroup


def machines_of(
    notes: Notes, count: int, at: Value, groups: list[DeclaredGroup], machines: Cluster | AsDeclared | None,
    fits: Callable[[Cluster, Cluster], bool] | None = None,
) -> Cluster:  # fmt: skip
    """Return `count` nodes in rank order; accelerators of undescribed nodes are not counted.

    A cluster of the caller with too few nodes is an error (RLinf waits for more forever); the rest
    is then judged on nodes like those. Of too many nodes the first `count` are used, as RLinf does.
    `fits(cluster, judged)` returns True if all placements of the file fit a cluster, with the same
    corrections as on the judged cluster.
    """
    if isinstance(machines, Cluster) and len(machines.nodes) < count:
        judged = machines_of(notes, count, at, groups, _alike(machines))
        _report_too_few(notes, count, at, groups, machines, fits and (lambda cluster: fits(cluster, judged)))
        return judged
    if isinstance(machines, Cluster):
        if len(machines.nodes) > count:
            used = f"the first {count} are" if count > 1 else "only the first is"
            message = f"the cluster has {len(machines.nodes)} nodes, of which {used} used: `num_nodes` is {count}"
            notes.info("PW114", "", message, at, f"the first {'ones are' if count > 1 else 'one is'} used")
        nodes, counted = machines.nodes[:count], machines.counted
    elif isinstance(machines, AsDeclared):
        nodes, counted = _declared(machines, count, groups), True
    else:
        nodes, counted = Nodes([numbered_nodes(Node(0, ""), count)]), False
    return _with_groups(nodes, counted, groups)


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


def _alike(machines: Cluster) -> AsDeclared | None:
    """Return the common accelerators of all nodes of a cluster; None if nodes differ."""
    kinds = {
        tuple((device.model, len(stretch.node.accelerators)) for device in stretch.node.accelerators[:1]) for stretch in machines.alike
    }
    kind = kinds.pop() if len(kinds) == 1 else ()
    return AsDeclared(kind[0][1], kind[0][0]) if kind else None


def _report_too_few(
    notes: Notes, count: int, at: Value, groups: list[DeclaredGroup], machines: Cluster, fits: Callable[[Cluster], bool] | None
) -> None:
    has = len(machines.nodes)
    message = f"`num_nodes` is {count}, but the cluster has {with_noun(has, 'node')}"
    help, edit = f"give a cluster of {with_noun(count, 'node')}", None
    in_range = all(not group.ranks or group.ranks.last < has for group in groups)
    if fits and in_range and fits(_with_groups(machines.nodes, machines.counted, groups)):
        help, edit = f"set `num_nodes: {has}`, or {help}", notes.instead(at, str(has)) if isinstance(at, Scalar) else None
    notes.error("PW114", "", message, at, f"{has} exist{'s' * (has == 1)}", help, edit, "RLinf waits for the others without a limit")


def _declared(machines: AsDeclared, count: int, groups: list[DeclaredGroup]) -> Nodes:
    """Return declared nodes with accelerators, except nodes only in groups with other hardware."""
    devices = accelerators(machines.count, machines.model)
    special = merge([ranks for group in groups if group.hardware for ranks in group.ranks.ranges])
    bare = without(special, merge([ranks for group in groups if not group.hardware for ranks in group.ranks.ranges]))
    equipped = without((range(count),), bare)
    ordered = sorted((*bare, *equipped), key=lambda ranks: ranks.start)
    return Nodes([numbered_nodes(Node(ranks.start, "", devices if ranks in equipped else ()), len(ranks)) for ranks in ordered])


def _with_groups(nodes: Sequence[Node], counted: bool, groups: list[DeclaredGroup]) -> Cluster:
    cluster = Cluster(_equipped(nodes, groups), counted=counted)
    return cluster.with_groups(_group(cluster, group) for group in groups if group.ranks)


def _equipped(nodes: Sequence[Node], groups: list[DeclaredGroup]) -> Nodes:
    """Return the nodes with configured hardware, which replaces known hardware of the type."""
    types = {group.hardware.type for group in groups if group.hardware}
    hardware_by_rank: dict[int, list[Hardware]] = {}
    for group in groups:
        for rank, device in group.hardware.devices if group.hardware else ():
            hardware_by_rank.setdefault(rank, []).append(device)
    plain = nodes if isinstance(nodes, Nodes) else Nodes(map(Alike, nodes))
    known = [alike for alike in plain.alike if any(device.type in types for device in alike.node.hardware)]
    ranks = hardware_by_rank.keys() | {rank for alike in known for rank in range(alike.node.rank, alike.stop)}
    kept = {rank: [device for device in plain[rank].hardware if device.type not in types] for rank in ranks}
    new_nodes = (replace(plain[rank], hardware=(*kept[rank], *hardware_by_rank.get(rank, []))) for rank in ranks)
    return plain.changed(new_nodes) if ranks else plain


def _group(cluster: Cluster, group: DeclaredGroup) -> NodeGroup:
    kind = group.kind or (NODE if group.ignores_hardware else cluster.default_kind(group.ranks.members))
    return NodeGroup(group.label, group.ranks.members, kind, group.env_configs)


VARIABLE = "RLINF_NODE_RANK"
UNSET = -1
CODE = "PW114"


@dataclass(frozen=True, slots=True)
class LiveNode:
    """Joined node: its address, accelerator vendor, rank and head flag.

    `rank` is RLINF_NODE_RANK when Ray was started there; `head` is True where the job is started.
    """

    address: str
    vendor: str = NO_ACCELERATOR
    rank: str | int | None = None
    head: bool = False


@dataclass(frozen=True)
class RankedNodes:
    """Positions of nodes in the input list, by node rank.

    `order` is None, with `findings`, if RLinf does not start.
    """

    order: tuple[int, ...] | None
    findings: tuple[Finding, ...] = ()


def ranked_nodes(nodes: Sequence[LiveNode], num_nodes: int, has_groups: bool) -> RankedNodes:
    """Return the nodes of a job of `num_nodes` nodes, in rank order.

    With RLINF_NODE_RANK on all nodes these are the ranks. Without it on any node, nodes are ordered
    by the vendor of their accelerators (vendors in order of appearance), then by address as text,
    with the head first; a file with node groups (`has_groups`) is then refused. Of more than
    `num_nodes` nodes the first are used. A single node always has rank 0.
    """
    joined = f"{with_noun(len(nodes), 'node')} joined, but `num_nodes` is {num_nodes}"
    faults: list[Finding] = []
    if len(nodes) < num_nodes:
        help = f"start Ray on {num_nodes - len(nodes)} more, or lower `num_nodes`"
        faults.append(error(CODE, "cluster", f"{joined}: RLinf waits for the others forever", help=help))
    ranks = [UNSET if node.rank is None else _number(node, faults) for node in nodes] if len(nodes) > 1 else [0] * len(nodes)
    unset = [node.address for node, rank in zip(nodes, ranks) if rank == UNSET]
    if not faults:
        faults += _without_ranks(nodes, unset, has_groups) if unset else _contradictions(nodes, ranks, num_nodes)
    if faults:
        return RankedNodes(None, tuple(faults))
    order = _by_vendor_and_address(nodes) if unset else sorted(range(len(nodes)), key=lambda position: ranks[position])
    unused = [nodes[position].address for position in order[num_nodes:]]
    message = f"{joined}: {', '.join(unused[:8])} {are(len(unused))} not used"
    notes = [warning(CODE, "cluster", message, help=f"set `num_nodes: {len(nodes)}`")] if unused else []
    return RankedNodes(tuple(order[:num_nodes]), tuple(notes))


def _number(node: LiveNode, faults: list[Finding]) -> int:
    try:
        return int("" if node.rank is None else node.rank)
    except ValueError:
        message = f"`{VARIABLE}` of node {node.address} is `{node.rank}`, which is no whole number"
        faults.append(error(CODE, node.address, message, help=f"start Ray there with `{VARIABLE}` set to the node's rank"))
        return UNSET


def _without_ranks(nodes: Sequence[LiveNode], unset: list[str], has_groups: bool) -> list[Finding]:
    """Return the first reason why RLinf does not start with nodes without a rank."""
    shown, has = ", ".join(unset[:8]), len(nodes) - len(unset)
    if has_groups:
        message = f"the file has node groups, but {shown} {'was' if len(unset) == 1 else 'were'} started without `{VARIABLE}`"
        help = f"start Ray on every node with `{VARIABLE}` set to its rank"
    elif has:
        message = f"{has} of {with_noun(len(nodes), 'node')} have `{VARIABLE}`, {shown} {'has' if len(unset) == 1 else 'have'} not"
        help = f"set `{VARIABLE}` on all nodes, or on none"
    elif not any(node.head for node in nodes):
        message, help = "no live node is the one that the job is started on", "start the job on a node of the cluster"
    else:
        return []
    return [error(CODE, "cluster", message, help=help)]


def _contradictions(nodes: Sequence[LiveNode], ranks: list[int], num_nodes: int) -> list[Finding]:
    """Return errors unless ranks are unique and without gaps, and the head is used."""
    count, last = with_noun(len(nodes), "node"), len(nodes) - 1
    outside = [(node, rank) for node, rank in zip(nodes, ranks) if not 0 <= rank <= last]
    messages = [
        (node, f"`{VARIABLE}` of node {node.address} is {rank}, but {count} joined, so ranks are 0-{last}") for node, rank in outside
    ]
    if messages:
        return [error(CODE, node.address, message, help=f"give the nodes the ranks 0-{last}") for node, message in messages]
    head = next((rank for node, rank in zip(nodes, ranks) if node.head), None)
    if head is not None and head >= num_nodes:
        message = f"the job is started on node rank {head}, but of {count} only the first {num_nodes} are used"
        return [error(CODE, "cluster", message, help=f"start it on a node of rank 0-{num_nodes - 1}, or set `num_nodes: {len(nodes)}`")]
    used = sorted(ranks)[:num_nodes]
    missing = sorted(set(range(len(used))) - set(used))
    if not missing:
        return []
    duplicates = [rank for rank, times in Counter(used).items() if times > 1]
    counts = ((duplicates, "given twice"), (missing, "missing"))
    why = " and ".join(
        f"{', '.join(map(str, fault_ranks[:8]))} {are(len(fault_ranks))} {fault}" for fault_ranks, fault in counts if fault_ranks
    )
    message = f"the ranks of the {with_noun(len(used), 'node')} must be 0-{len(used) - 1}, but {why}"
    return [error(CODE, "cluster", message, help=f"give every node a `{VARIABLE}` of its own")]


def _by_vendor_and_address(nodes: Sequence[LiveNode]) -> list[int]:
    vendors = list(dict.fromkeys(node.vendor for node in nodes))
    order = sorted(range(len(nodes)), key=lambda position: (vendors.index(nodes[position].vendor), nodes[position].address))
    return sorted(order, key=lambda position: not nodes[position].head)
