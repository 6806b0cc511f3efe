"""A cluster as JSON data, in the form that cluster_file reads."""

from __future__ import annotations

from typing import Sequence

from .cluster import Cluster, Node
from .node_group import EnvConfig, NodeGroup


def cluster_to_data(cluster: Cluster) -> dict[str, object]:
    """The cluster as JSON data in the form of ClusterForm, reading it gives an equal cluster."""
    nodes: list[dict[str, object]] = []
    for node in cluster.nodes:
        data = _node_to_data(node)
        data["name"] = node.name
        nodes.append(data)
    groups = [_group_to_data(group) for group in cluster.declared]
    return {"nodes": nodes, "node_groups": groups}


def _node_to_data(node: Node) -> dict[str, object]:
    data: dict[str, object] = {}
    if node.accelerators:
        first = node.accelerators[0]
        its: dict[str, object] = {"count": len(node.accelerators), "model": f"{first.vendor}:{first.model}"}
        its["ids"] = [device.physical_id for device in node.accelerators]
        if first.memory is not None:
            its["memory"] = f"{first.memory}MiB"
        if node.numa_domains > 1:
            its["numa"] = node.numa_domains
        if node.taken:
            its["taken"] = [index for index in range(len(node.accelerators)) if node.taken >> index & 1]
        data["accelerators"] = its
    if node.hardware:
        data["hardware"] = [{"type": device.type, **dict(device.config)} for device in node.hardware]
    if node.memory is not None:
        data["memory"] = f"{node.memory}MiB"
    plain = {"cpus": node.cpus, "labels": dict(node.labels), "topology": dict(node.topology)}
    return {**data, **{key: value for key, value in plain.items() if value}}


def _group_to_data(group: NodeGroup) -> dict[str, object]:
    data: dict[str, object] = {"label": group.label, "node_ranks": _ranks(group.node_ranks), "kind": group.kind}
    if group.env_configs:
        data["env_configs"] = [_software_to_data(config) for config in group.env_configs]
    return data


def _software_to_data(config: EnvConfig) -> dict[str, object]:
    data: dict[str, object] = {"node_ranks": _ranks(config.node_ranks), "env_vars": dict(config.env_vars)}
    if config.python_interpreter_path is not None:
        data["python_interpreter_path"] = config.python_interpreter_path
    return data


def _ranks(ranks: Sequence[int]) -> str:
    return ",".join(map(str, ranks))
