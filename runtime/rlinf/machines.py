"""The machines of a cluster object: those that are there, with the node groups of RLinf's `cluster` section."""

from __future__ import annotations

from collections import Counter
from typing import Any, Mapping, Sequence

import yaml

from ...models.dialects.load import read
from ...models.findings.finding import Severity
from ...models.machines.accelerators import GENERIC, accelerators
from ...models.machines.cluster import Cluster, Node
from ...models.text.source import Source
from ..failure import LaunchFailed, failed
from ..port.node import RayNode
from ..world.vendors import VENDORS

MODEL = "accelerator_type:"
"""What stands before the model in the name of the resource by which Ray tells it."""


def machines_of(there: Sequence[RayNode]) -> Cluster:
    """The nodes that are there as a Cluster, in their order; those whose host names are not their own are called ``node-RANK``."""
    names = Counter(ray.name for ray in there)
    return Cluster(
        tuple(
            Node(rank, ray.name if names[ray.name] == 1 else f"node-{rank}", accelerators(*_accelerators(ray)))
            for rank, ray in enumerate(there)
        )
    )


def with_groups(machines: Cluster, section: Mapping[str, Any]) -> Cluster:
    """The machines with the node groups and hardware of a `cluster` section. Raises LaunchFailed with every Finding of its errors."""
    text = yaml.safe_dump({"cluster": {"component_placement": {}, **_plain(section)}}, sort_keys=False, allow_unicode=True)
    reading = read(Source("cluster_cfg", text), machines, "rlinf")
    errors = [finding for finding in reading.findings if finding.severity is Severity.ERROR]
    if errors or reading.problem is None:
        raise LaunchFailed(*errors)
    return reading.problem.cluster


def nodes_asked(num_nodes: int | None, section: Mapping[str, Any] | None) -> int:
    """How many nodes are asked for; 0 for all. Raises LaunchFailed (PW101) if it is said twice, and differently.

    Source: RLinf, rlinf/scheduler/cluster/cluster.py.
    """
    said = section.get("num_nodes") if section else None
    if num_nodes is not None and said is not None and int(said) != num_nodes:
        raise failed("PW702", "", f"`num_nodes` is {num_nodes}, but `cluster_cfg` says {said}", "leave one of them out")
    return int(said or num_nodes or 0)


def _accelerators(ray: RayNode) -> tuple[int, str]:
    vendor, resource = next(
        ((name, vendor.resource) for name, vendor in VENDORS.items() if ray.total.get(vendor.resource, 0) >= 1), ("NV_GPU", "GPU")
    )
    model = next((name.removeprefix(MODEL) for name in ray.total if name.startswith(MODEL)), GENERIC)
    return int(ray.total.get(resource, 0)), model if vendor == "NV_GPU" else f"{vendor}:{model}"


def _plain(value: Any) -> Any:
    """Plain data of whatever keeps configurations, such as OmegaConf's containers."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(each) for each in value]
    return value
