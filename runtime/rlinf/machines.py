"""Machines of a cluster object, with the node groups of RLinf's `cluster` section."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import yaml

from ...models.dialects.load import read
from ...models.findings.finding import Severity
from ...models.findings.wording import are, with_noun
from ...models.level import PLACEMENT
from ...models.machines.cluster import Cluster
from ...models.text.source import Source
from ..failure import LaunchFailed, failed
from ..port.node import RayNode
from ..port.port import Port
from ..world.found import machine_of
from ..world.inventory import survey
from ..world.machine import cluster_of
from ..world.order import ordered


def found(port: Port) -> tuple[Sequence[RayNode], Cluster]:
    """Survey all nodes; return the Ray nodes in rank order, and the machines.

    Raises LaunchFailed (PW721) if the rank variables of the nodes contradict each other.
    """
    nodes = port.nodes()
    reports, _ = survey(port, nodes)
    ranked = ordered(nodes, reports)
    return ranked, cluster_of([machine_of(node, reports.get(node.node_id)) for node in ranked])[0]


def with_groups(machines: Cluster, section: Mapping[str, Any]) -> Cluster:
    """Return the machines with the node groups and hardware of a `cluster` section.

    Raises LaunchFailed with all errors of the section.
    """
    text = yaml.safe_dump({"cluster": {"component_placement": {}, **plain(section)}}, sort_keys=False, allow_unicode=True)
    reading = read(Source("cluster_cfg", text), machines, "rlinf", PLACEMENT)
    errors = [finding for finding in reading.findings if finding.severity is Severity.ERROR]
    if errors or reading.problem is None:
        raise LaunchFailed(*errors)
    return reading.problem.cluster


def nodes_asked(num_nodes: int | None, section: Mapping[str, Any] | None, there: int) -> int:
    """Return the requested number of nodes; all if it is unspecified or 0.

    Raises LaunchFailed (PW702) if two numbers disagree, or if more nodes are requested than exist.
    Source of the forms: RLinf, rlinf/scheduler/cluster/cluster.py.
    """
    configured = section.get("num_nodes") if section else None
    if num_nodes is not None and configured is not None and int(configured) != num_nodes:
        raise failed("PW702", "", f"`num_nodes` is {num_nodes}, but `cluster_cfg` says {configured}", "leave one of them out")
    requested = int(configured or num_nodes or there)
    if requested > there:
        message = f"{with_noun(requested, 'node')} {are(requested)} asked for, the Ray cluster has {there}"
        raise failed("PW702", "", message, f"start the missing ones, or set `num_nodes: {there}`", there)
    return requested


def plain(value: Any) -> Any:
    """Convert configuration containers, such as OmegaConf's, to plain data."""
    if isinstance(value, Mapping):
        return {str(key): plain(element) for key, element in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(element) for element in value]
    return value
