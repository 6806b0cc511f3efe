"""Ranks of live nodes in RLinf.

Source: RLinf, rlinf/scheduler/cluster/node.py (NodeProbe._sort_nodes and _RemoteNodeProbe).
"""

from __future__ import annotations

from collections import Counter
from typing import Sequence

from ...models.findings.finding import Finding, error, warning
from ...models.findings.wording import are, with_noun
from ...models.machines.node import NO_ACCELERATOR
from ...models.record import dataclass

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
