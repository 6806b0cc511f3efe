"""Nodes of a Ray cluster in a fixed order, with a report from each."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from typing import Any, Callable, Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.machines.topology import LEVELS
from ..failure import LaunchFailed
from ..port.port import AnswerFailed, Port, RayNode, gather
from ..workers.inside.on_node import survey_node
from .ray_machine import LOOKED_AT, RANK_VARIABLES, Report, is_simulated, name_of, topology_of
from .slurm import topology

CODE = "PW721"
_DIGITS = re.compile(r"(\d+)")
RLINF_RANK, NODE_RANK, SLURM = RANK_VARIABLES


def order_nodes(nodes: Sequence[RayNode], reports: Mapping[str, Report] | None = None) -> tuple[RayNode, ...]:
    """Sort the nodes by rank.

    Nodes with a rank label come first, by label. The rest, or all, by a rank variable if reports
    contain it (RLINF_NODE_RANK as RLinf reads it, else NODE_RANK, else SLURM_NODEID); else by zone,
    rack and NVLink domain, then by address as a number, by name (numbers in it as numbers), and by
    Ray's id, the only key that differs from start to start. `reports`: Ray node id -> report.
    Raises LaunchFailed (PW721) if rank variables contradict each other.
    """
    reports = reports or {}
    has_labels = any(node.rank is not None for node in nodes)
    ranks = {} if has_labels else env_ranks(nodes, reports)

    def key(node: RayNode) -> tuple[Any, ...]:
        rank = ranks.get(node.node_id) if node.rank is None else node.rank
        places = topology(reports.get(node.node_id, {}).get("environment", {})) | topology_of(node.labels)
        domains = tuple(natural(places.get(level, "")) for level in LEVELS)
        return rank is None, rank or 0, domains, _number(node.address), natural(name_of(node)), node.node_id

    return tuple(sorted(nodes, key=key))


def env_ranks(nodes: Sequence[RayNode], reports: Mapping[str, Report]) -> dict[str, int]:
    """Return Ray node id -> rank from environment variables; empty if unset.

    Slurm's variable counts only if all nodes have it, with distinct values: Ray may run on some of
    a job's nodes only, and may have been started by hand on others. The same holds for the other
    variables if the nodes differ from the surveyed ones after a loss. Raises LaunchFailed (PW721).
    """
    environments = {node.node_id: reports[node.node_id]["environment"] for node in nodes if node.node_id in reports}
    if set(reports) != {node.node_id for node in nodes}:
        return next((ranks for name in RANK_VARIABLES if (ranks := _distinct(environments, name))), {})
    for name in (RLINF_RANK, NODE_RANK):
        if any(name in variables for variables in environments.values()):
            if faults := list(_contradictions(name, nodes, environments)):
                raise LaunchFailed(*faults)
            return {node_id: int(variables[name]) for node_id, variables in environments.items()}
    return _distinct(environments, SLURM)


def _distinct(environments: Mapping[str, Mapping[str, str]], name: str) -> dict[str, int]:
    """Return the ranks from a variable, or {} unless all nodes have distinct numbers."""
    values = [variables.get(name, "") for variables in environments.values()]
    fitting = all(text.isdecimal() for text in values) and len(set(values)) == len(values)
    return {node_id: int(variables[name]) for node_id, variables in environments.items()} if fitting else {}


def _contradictions(name: str, nodes: Sequence[RayNode], environments: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    """Yield an error per fault of a rank variable.

    RLinf's must also lie below the number of nodes. Source: RLinf, rlinf/scheduler/cluster/node.py,
    `NodeProbe._sort_nodes`.
    """
    help = f"set `{name}` on all nodes before Ray is started there, each to a number of its own, or on none"
    values = {node.node_id: environments[node.node_id].get(name) for node in nodes}
    without = [name_of(node) for node in nodes if values[node.node_id] is None]
    if without:
        message = f"{len(nodes) - len(without)} of {len(nodes)} nodes have `{name}`, {', '.join(without[:8])} not"
        yield error(CODE, without[0], message, help=help)
        return
    below = len(nodes) if name == RLINF_RANK and len(nodes) > 1 else None
    for node in nodes:
        text = str(values[node.node_id])
        if not text.isdecimal() or (below is not None and int(text) >= below):
            range_text = "which is not a rank" if below is None else f"which is not a rank of {below} nodes, 0-{below - 1}"
            yield error(CODE, name_of(node), f"`{name}` of node `{name_of(node)}` is `{text}`, {range_text}", help=help)
    for value, count in Counter(values.values()).items():
        if count > 1:
            names = ", ".join(name_of(node) for node in nodes if values[node.node_id] == value)
            yield error(CODE, names, f"`{name}` is {value} on {count} nodes: {names}", help=help)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts `node-9` before `node-10`."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(text) if part)


def _number(address: str) -> int:
    try:
        return int(ipaddress.ip_address(address))
    except ValueError:
        return 0


def run_on_nodes(
    port: Port, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]], limit: float
) -> tuple[dict[str, Any], dict[str, str]]:
    """Call a function on nodes at once. Returns (Ray node id -> result, id -> reason for none)."""
    tickets = {port.run_on(node_id, function, *values): node_id for node_id, values in arguments.items()}
    results, missing = {}, dict.fromkeys(arguments, "no answer in time")
    for node_id, answer in gather(port, tickets, limit):
        if isinstance(answer, AnswerFailed):
            missing[node_id] = answer.reason
        else:
            results[node_id] = answer
            del missing[node_id]
    return results, missing


SURVEY_LIMIT = 60.0
"""Seconds for the survey of a node; 1 to 2 s on an idle node."""


def inventory(port: Port, reports: Mapping[str, Report] | None = None) -> tuple[RayNode, ...]:
    """Return the living nodes, ordered by Ray's knowledge and the reports; see `ordered`."""
    return order_nodes(port.nodes(), reports)


def survey(port: Port, nodes: Sequence[RayNode], limit: float = SURVEY_LIMIT) -> tuple[dict[str, Report], dict[str, str]]:
    """Survey nodes at once; return (id -> report, id -> reason for a missing report)."""
    arguments = {node.node_id: (list(LOOKED_AT), not is_simulated(node)) for node in nodes}
    return run_on_nodes(port, survey_node, arguments, limit)
