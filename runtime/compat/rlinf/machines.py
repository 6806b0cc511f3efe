"""Machines, node groups, hardware and variables of a cluster, as RLinf's programs ask for them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Collection, Mapping, Sequence

import yaml

from ....models.dialects.load import read
from ....models.findings.finding import Severity
from ....models.findings.wording import are, with_noun
from ....models.level import PLACEMENT
from ....models.machines.cluster import Cluster
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.placement import Placement
from ....models.problem import Problem
from ....models.text.source import Source
from ...failure import LaunchFailed, build_failure
from ...port.port import Port, RayNode
from ...workers.inside.information import HardwareInfo, hardware_of
from ...world.inventory import order_nodes, survey
from ...world.machine import cluster_of
from ...world.ray_machine import machine_of


def survey_machines(port: Port) -> tuple[Sequence[RayNode], Cluster]:
    """Survey all nodes; return Ray nodes in rank order, and machines. LaunchFailed: PW721."""
    nodes = port.nodes()
    reports, _ = survey(port, nodes)
    by_rank = order_nodes(nodes, reports)
    return by_rank, cluster_of([machine_of(node, reports.get(node.node_id)) for node in by_rank])[0]


def with_groups(machines: Cluster, section: Mapping[str, Any]) -> Cluster:
    """Add the node groups and hardware of a `cluster` section. LaunchFailed: its errors."""
    return read_section("cluster_cfg", {"component_placement": {}, **plain(section)}, machines).cluster


def read_section(name: str, section: Mapping[str, Any], machines: Cluster) -> Problem:
    """Read a plain `cluster` section as RLinf's. Raises LaunchFailed with all errors of it."""
    text = yaml.safe_dump({"cluster": section}, sort_keys=False, allow_unicode=True)
    reading = read(Source(name, text), machines, "rlinf", PLACEMENT)
    errors = [finding for finding in reading.findings if finding.severity is Severity.ERROR]
    if errors or reading.problem is None:
        raise LaunchFailed(*errors)
    return reading.problem


def requested_nodes(num_nodes: int | None, section: Mapping[str, Any] | None, available: int) -> int:
    """Return the requested number of nodes; all if it is unspecified or 0.

    Raises LaunchFailed (PW702) if two numbers disagree, or if more nodes are requested than exist.
    Source of the forms: RLinf, rlinf/scheduler/cluster/cluster.py.
    """
    from_section = section.get("num_nodes") if section else None
    if num_nodes is not None and from_section is not None and int(from_section) != num_nodes:
        raise build_failure("PW702", "", f"`num_nodes` is {num_nodes}, but `cluster_cfg` says {from_section}", "leave one of them out")
    count = int(from_section or num_nodes or available)
    if count > available:
        message = f"{with_noun(count, 'node')} {are(count)} asked for, the Ray cluster has {available}"
        raise build_failure("PW702", "", message, f"start the missing ones, or set `num_nodes: {available}`", available)
    return count


def plain(value: Any) -> Any:
    """Convert configuration containers, such as OmegaConf's, to plain data."""
    if isinstance(value, Mapping):
        return {str(key): plain(element) for key, element in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(element) for element in value]
    return value


@dataclass(frozen=True)
class HardwareResource:
    """All devices of a type on a node."""

    type: str
    infos: list[HardwareInfo]

    @property
    def count(self) -> int:
        """Number of devices."""
        return len(self.infos)


@dataclass(frozen=True)
class NodeInfo:
    """Node of a cluster. Source of the names: RLinf, rlinf/scheduler/cluster/node.py."""

    node_rank: int
    ray_id: str
    node_ip: str
    num_cpus: int
    num_accelerators: int
    accelerator_type: str
    accelerator_model: str
    hardware_resources: list[HardwareResource] = field(default_factory=list)


def node_info(node: Node, ray: RayNode) -> NodeInfo:
    """Return RLinf's description of a node."""
    kinds = dict.fromkeys([ACCELERATOR] * bool(node.accelerators) + [device.type for device in node.hardware])
    resources = [HardwareResource(kind, hardware_of(hardware_on(node, kind, range(node.count(kind))))) for kind in kinds]
    return NodeInfo(
        node.rank, ray.node_id, ray.address, int(ray.total.get("CPU", 0)), len(node.accelerators), node.accelerator_type,
        node.accelerator_model, resources,
    )  # fmt: skip


def hardware_on(node: Node, kind: str, local_ranks: Sequence[int]) -> list[dict[str, Any]]:
    """Return devices of a kind as plain data: type, model, settings of other hardware."""
    if kind == ACCELERATOR:
        return [{"type": kind, "model": node.accelerators[rank].model} for rank in local_ranks]
    devices = [device for device in node.hardware if device.type == kind]
    return [
        {"type": kind, "model": kind, "config": {name: _value(text) for name, text in devices[rank].config}}
        for rank in local_ranks
        if devices
    ]


def _value(text: str) -> Any:
    """Return the value with the type of its YAML spelling."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, (bool, int, float, list, dict)) else text


NVIDIA = {"NCCL_CUMEM_ENABLE": "0", "TORCH_NCCL_AVOID_RECORD_STREAMS": "1"}
"""RLinf's settings for NVIDIA accelerators, which let NCCL share and free memory."""

RENDERING = ("MUJOCO_EGL_DEVICE_ID", "EGL_DEVICE_ID")
ON_CPU = ("osmesa", "glx")
"""Values of MUJOCO_GL that render without an accelerator."""

PREFIX, NODE_SPECIFIC = "RLINF_", ("RLINF_NODE_RANK",)
"""Prefix of the driver's variables for workers, and the exceptions specific to a node."""


def rlinf_environment(machines: Cluster, placement: Placement, namespace: str, address: str) -> dict[str, str]:
    """Return RLinf's worker variables beyond those of rank_environment.

    `address`: of the node.

    A worker renders on the first NVIDIA accelerator that it sees, under its own number: RLinf asks
    the driver's node for the EGL number and takes this one if there is none. Source: RLinf,
    rlinf/scheduler/worker/worker_group.py and rlinf/scheduler/hardware/accelerators/nvidia_gpu.py.
    """
    node = machines.nodes[placement.node_rank]
    kind = machines.groups[placement.node_group].kind
    first = sum(len(earlier.accelerators) for earlier in machines.nodes[: placement.node_rank])
    ranks = {accelerator.physical_id: first + index for index, accelerator in enumerate(node.accelerators)}
    variables = {
        "RAY_ACTOR": "1",
        "CLUSTER_NAMESPACE": namespace,
        "ACCELERATOR_MODEL": node.accelerator_model,
        "NODE_ADDRESS": address,
        "GLOBAL_ACCELERATOR_RANKS": ",".join(str(ranks[id]) for id in placement.visible_accelerators),
        "LOCAL_HARDWARE": json.dumps(hardware_on(node, kind, placement.local_hardware_ranks)),
    }
    if placement.accelerator_type == "NV_GPU":
        variables |= NVIDIA
        if os.environ.get("MUJOCO_GL") not in ON_CPU and placement.visible_accelerators:
            variables |= dict.fromkeys(RENDERING, placement.visible_accelerators[0])
    return variables


def forwarded_variables(names: Collection[str]) -> dict[str, str]:
    """Return the named variables of this process, plus RLinf's own (RLINF_...)."""
    return {name: value for name, value in os.environ.items() if name in names or (name.startswith(PREFIX) and name not in NODE_SPECIFIC)}
