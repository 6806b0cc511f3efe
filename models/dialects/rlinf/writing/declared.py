"""The node groups of a cluster as RLinf's `node_groups`, with their hardware and their software."""

from __future__ import annotations

from typing import Iterator

from ....conversion.losses import refusal
from ....conversion.ranks import ranks_to_data
from ....findings.finding import Finding
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR, NODE, EnvConfig, NodeGroup
from ..capabilities import RESERVED_LABELS
from ..cluster.hardware_types import HARDWARE_TYPES

Data = dict[str, object]


def declared(cluster: Cluster, reasons: list[Finding]) -> list[Data]:
    """Every declared group. `reasons` gets what RLinf cannot say (PW606)."""
    return [_group(cluster, group, reasons) for group in cluster.declared]


def _group(cluster: Cluster, group: NodeGroup, reasons: list[Finding]) -> Data:
    label, kind, default = group.label, group.kind, cluster.default_kind(group.node_ranks)
    data: Data = {"label": label, "node_ranks": ranks_to_data(group.node_ranks)}
    if "," in label or label != label.strip() or not label or label in RESERVED_LABELS:
        reasons.append(refusal(label, f"`{label}` cannot be the label of a node group of RLinf", "rename the node group"))
    if kind == NODE and default != NODE:
        data["ignore_hardware"] = True
    elif kind == ACCELERATOR and default != ACCELERATOR:
        data["hardware_type"] = ACCELERATOR
    elif kind not in (NODE, ACCELERATOR):
        if kind not in HARDWARE_TYPES:
            known = ", ".join(HARDWARE_TYPES)
            reasons.append(refusal(label, f"group `{label}` counts {kind}, a hardware that RLinf does not know", f"RLinf knows {known}"))
        data["hardware"] = {"type": kind, "configs": list(_devices(cluster, group))}
    if group.env_configs:
        data["env_configs"] = [_software(config) for config in group.env_configs]
    return data


def _devices(cluster: Cluster, group: NodeGroup) -> Iterator[Data]:
    for rank in group.node_ranks:
        for device in cluster.nodes[rank].hardware:
            if device.type == group.kind:
                yield {"node_rank": rank, **{key: _value(text) for key, text in device.config}}


def _value(text: str) -> object:
    """A setting as it was written: numbers, truth values and lists as such, nothing as null."""
    from ....text.tree import plain
    from ....text.yaml_reader import read_yaml

    return plain(read_yaml("", text)) if text else None


def _software(config: EnvConfig) -> Data:
    data: Data = {"node_ranks": ranks_to_data(config.node_ranks)}
    if config.env_vars:
        data["env_vars"] = [{name: value} for name, value in config.env_vars]
    if config.python_interpreter_path is not None:
        data["python_interpreter_path"] = config.python_interpreter_path
    return data
