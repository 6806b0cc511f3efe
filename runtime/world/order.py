"""The order of nodes, the same at every start: label, rank variable, place in the network, address, name."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from typing import Any, Iterator, Mapping, Sequence

from ...models.dialects.rlinf.machines import VARIABLE, LiveNode
from ...models.dialects.rlinf.machines import ranked_nodes as ranked
from ...models.findings.finding import Finding, Severity, error
from ...models.machines.topology import LEVELS
from ..failure import LaunchFailed
from ..port.node import RayNode
from .found import Report
from .labels import name_of, topology_of
from .sources.slurm import topology

CODE = "PW721"
_DIGITS = re.compile(r"(\d+)")
NODE_RANK, SLURM = "NODE_RANK", "SLURM_NODEID"


def ordered(nodes: Sequence[RayNode], reports: Mapping[str, Report] | None = None) -> tuple[RayNode, ...]:
    """The nodes in the order of their ranks.

    Those with a rank label come first, by that. The others, or all, by a rank variable of theirs where reports tell of it
    (RLINF_NODE_RANK as RLinf reads it, else NODE_RANK, else SLURM_NODEID); else by zone, rack and NVLink domain, then by
    address as a number, by name (numbers in it as numbers), and by Ray's id, which alone differs from start to start.
    `reports`: Ray's node id -> what was seen there. Raises LaunchFailed (PW721) where rank variables contradict each other.
    """
    reports = reports or {}
    labelled = any(node.rank is not None for node in nodes)
    ranks = {} if labelled else env_ranks(nodes, reports)

    def key(node: RayNode) -> tuple[Any, ...]:
        given = ranks.get(node.node_id) if node.rank is None else node.rank
        places = topology(reports.get(node.node_id, {}).get("environment", {})) | topology_of(node.labels)
        where = tuple(natural(places.get(level, "")) for level in LEVELS)
        return given is None, given or 0, where, _number(node.address), natural(name_of(node)), node.node_id

    return tuple(sorted(nodes, key=key))


def env_ranks(nodes: Sequence[RayNode], reports: Mapping[str, Report]) -> dict[str, int]:
    """Ray's node id -> the rank that the node's own environment gives it; empty if none of the variables is set anywhere.

    Slurm's variable counts only where all nodes have it and no two the same: Ray may run on some of a job's nodes, and may
    have been started by hand on others. So do the others where the nodes are no longer those that were looked at: one was lost,
    or joined. Raises LaunchFailed (PW721).
    """
    told = {node.node_id: reports[node.node_id]["environment"] for node in nodes if node.node_id in reports}
    if set(reports) != {node.node_id for node in nodes}:
        return next((found for name in (VARIABLE, NODE_RANK, SLURM) if (found := _distinct(told, name))), {})
    if any(VARIABLE in its for its in told.values()):
        return _of_rlinf(nodes, told)
    if any(NODE_RANK in its for its in told.values()):
        faults = list(_contradictions(nodes, told))
        if faults:
            raise LaunchFailed(*faults)
        return {node_id: int(its[NODE_RANK]) for node_id, its in told.items()}
    return _distinct(told, SLURM)


def _distinct(told: Mapping[str, Mapping[str, str]], name: str) -> dict[str, int]:
    """The ranks that a variable gives, if it gives one to each of these nodes and no two the same."""
    given = [its.get(name, "") for its in told.values()]
    fitting = all(text.isdecimal() for text in given) and len(set(given)) == len(given)
    return {node_id: int(its[name]) for node_id, its in told.items()} if fitting else {}


def _of_rlinf(nodes: Sequence[RayNode], told: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """As RLinf does when a job starts on all of these nodes, which it refuses for the same reasons."""
    live = [LiveNode(node.address, rank=told[node.node_id].get(VARIABLE)) for node in nodes]
    found = ranked(live, len(nodes), has_groups=False)
    if found.order is None:
        faults = [finding for finding in found.findings if finding.severity is Severity.ERROR]
        raise LaunchFailed(*(error(CODE, its.subject, its.message, help=its.help) for its in faults))
    return {nodes[position].node_id: rank for rank, position in enumerate(found.order)}


def _contradictions(nodes: Sequence[RayNode], told: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    help = f"set `{NODE_RANK}` on all nodes before Ray is started there, each to a number of its own, or on none"
    given = {node.node_id: told[node.node_id].get(NODE_RANK) for node in nodes}
    without = [name_of(node) for node in nodes if given[node.node_id] is None]
    if without:
        message = f"{len(nodes) - len(without)} of {len(nodes)} nodes have `{NODE_RANK}`, {', '.join(without[:8])} not"
        yield error(CODE, without[0], message, help=help)
        return
    for node in nodes:
        if not str(given[node.node_id]).isdecimal():
            message = f"`{NODE_RANK}` of node `{name_of(node)}` is `{given[node.node_id]}`, which is no rank"
            yield error(CODE, name_of(node), message, help=help)
    for text, count in Counter(given.values()).items():
        if count > 1:
            its = ", ".join(name_of(node) for node in nodes if given[node.node_id] == text)
            yield error(CODE, its, f"`{NODE_RANK}` is {text} on {count} nodes: {its}", help=help)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key by which `node-9` comes before `node-10`."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(text) if part)


def _number(address: str) -> int:
    try:
        return int(ipaddress.ip_address(address))
    except ValueError:
        return 0
