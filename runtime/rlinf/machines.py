"""The machines of a cluster object: those that are there, with the node groups of RLinf's `cluster` section."""

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
    """The nodes of a Ray cluster in the order of their ranks, each looked at by one process on it, and the machines that they are.

    Raises LaunchFailed (PW721) where the nodes' rank variables contradict each other.
    """
    there = port.nodes()
    reports, _ = survey(port, there)
    nodes = ordered(there, reports)
    return nodes, cluster_of([machine_of(node, reports.get(node.node_id)) for node in nodes])[0]


def with_groups(machines: Cluster, section: Mapping[str, Any]) -> Cluster:
    """The machines with the node groups and hardware of a `cluster` section. Raises LaunchFailed with every Finding of its errors."""
    text = yaml.safe_dump({"cluster": {"component_placement": {}, **plain(section)}}, sort_keys=False, allow_unicode=True)
    reading = read(Source("cluster_cfg", text), machines, "rlinf", PLACEMENT)
    errors = [finding for finding in reading.findings if finding.severity is Severity.ERROR]
    if errors or reading.problem is None:
        raise LaunchFailed(*errors)
    return reading.problem.cluster


def nodes_asked(num_nodes: int | None, section: Mapping[str, Any] | None, there: int) -> int:
    """How many nodes are meant; all that are there if nobody says, or says 0.

    Raises LaunchFailed (PW702) if it is said twice and differently, or more are meant than are there.
    Source of the forms: RLinf, rlinf/scheduler/cluster/cluster.py.
    """
    said = section.get("num_nodes") if section else None
    if num_nodes is not None and said is not None and int(said) != num_nodes:
        raise failed("PW702", "", f"`num_nodes` is {num_nodes}, but `cluster_cfg` says {said}", "leave one of them out")
    asked = int(said or num_nodes or there)
    if asked > there:
        message = f"{with_noun(asked, 'node')} {are(asked)} asked for, the Ray cluster has {there}"
        raise failed("PW702", "", message, f"start the missing ones, or set `num_nodes: {there}`", there)
    return asked


def plain(value: Any) -> Any:
    """Plain data of whatever keeps configurations, such as OmegaConf's containers."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(each) for each in value]
    return value
