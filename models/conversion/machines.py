"""Shortest data for a cluster: a shorthand if possible, else its nodes, equal ones grouped."""

from __future__ import annotations

from typing import Iterator

from ..findings.finding import UnusableInput
from ..machines.accelerators import accelerators
from ..machines.cluster import Cluster
from ..machines.node import Node
from ..machines.node_group import NODE, EnvConfig, NodeGroup
from ..machines.nodes import Alike, Nodes
from ..machines.shorthand import read_shorthand
from ..text.source import read_yaml
from ..text.tree import plain
from .hints import ranks_to_data


def shorthand_of(cluster: Cluster) -> str | None:
    """Return a shorthand such as ``2x8xH100+1x0``, or None if facts would be lost.

    Node groups are ignored.
    """
    parts: list[tuple[int, int, str]] = []
    for alike in cluster.alike:
        count, model = len(alike.node.accelerators), _model(alike.node)
        if parts and parts[-1][1:] == (count, model):
            parts[-1] = (parts[-1][0] + alike.count, count, model)
        else:
            parts.append((alike.count, count, model))
    text = "+".join(f"{nodes}x{count}" + (f"x{model}" if model not in ("", "GPU") else "") for nodes, count, model in parts)
    try:
        reread = read_shorthand(text)
    except ValueError:
        return None
    return text if isinstance(reread, Cluster) and reread.nodes == cluster.nodes else None


def cluster_to_data(cluster: Cluster) -> dict[str, object] | str:
    """Return the cluster as data of a native or cluster file.

    Reading the data gives an equal cluster.
    """
    text = shorthand_of(cluster)
    if text is not None and not cluster.declared:
        return text
    nodes = cluster.nodes if isinstance(cluster.nodes, Nodes) else Nodes(map(Alike, cluster.nodes))
    data: dict[str, object] = {"nodes": text or [node for alike in nodes.alike for node in _alike_to_data(alike)]}
    if cluster.declared:
        data["node_groups"] = [_group_to_data(cluster, group) for group in cluster.declared]
    return data


def _model(node: Node) -> str:
    """Return the model as `accelerators` takes it.

    The vendor is a prefix if the model does not imply it.
    """
    if not node.accelerators:
        return ""
    first = node.accelerators[0]
    usual = accelerators(1, first.model)[0] if first.model else None
    return first.model if usual and usual.vendor == first.vendor else f"{first.vendor}:{first.model}"


def _alike_to_data(alike: Alike) -> Iterator[dict[str, object]]:
    """Yield equal nodes: grouped if names are a prefix with a number, else singly."""
    node = alike.node
    rest = _node_to_data(node)
    names = [alike.name(offset) for offset in range(alike.count)]
    if names == [f"node-{node.rank + offset}" for offset in range(alike.count)]:
        yield {**({"repeat": alike.count} if alike.count > 1 else {}), **rest}
    elif alike.count > 1 and names == [f"{names[0][:-1]}{offset}" for offset in range(alike.count)]:
        yield {"name": names[0][:-1], "repeat": alike.count, **rest}
    else:
        yield from ({"name": name, **rest} for name in names)


def _node_to_data(node: Node) -> dict[str, object]:
    data: dict[str, object] = {}
    if node.accelerators:
        first, count = node.accelerators[0], len(node.accelerators)
        entry: dict[str, object] = {"count": count, "model": _model(node)}
        usual = accelerators(count, _model(node))
        if node.numa_domains > 1:
            entry["numa"] = node.numa_domains
        if first.memory is not None and first.memory != usual[0].memory:
            entry["memory"] = f"{first.memory}MiB"
        ids = [device.physical_id for device in node.accelerators]
        if ids != [device.physical_id for device in usual]:
            entry["ids"] = ids
        if node.taken:
            entry["taken"] = [index for index in range(count) if node.taken >> index & 1]
        data["accelerators"] = entry
    if node.hardware:
        data["hardware"] = [{"type": device.type, **{key: _setting(text) for key, text in device.config}} for device in node.hardware]
    if node.memory is not None:
        data["memory"] = f"{node.memory}MiB"
    plain_values = {"cpus": node.cpus, "labels": dict(node.labels), "topology": dict(node.topology)}
    return {**data, **{key: value for key, value in plain_values.items() if value}}


def _setting(text: str) -> object:
    """Parse a device setting into a list, map or number.

    The text itself if the parsed value would print otherwise.
    """
    if not text or "\n" in text:
        return text
    try:
        value = plain(read_yaml("", text))
    except UnusableInput:
        return text
    return value if str(value) == text else text


def _group_to_data(cluster: Cluster, group: NodeGroup) -> dict[str, object]:
    data: dict[str, object] = {"label": group.label, "node_ranks": ranks_to_data(group.node_ranks)}
    if group.kind != _default_kind(cluster, group):
        data["kind"] = group.kind
    if group.env_configs:
        data["env_configs"] = [_software_to_data(config) for config in group.env_configs]
    return data


def _default_kind(cluster: Cluster, group: NodeGroup) -> str:
    """Return the kind of resource that a group without `kind` has, as in cluster_file."""
    types = {device.type for alike, _ in cluster.alike_among(group.node_ranks) for device in alike.node.hardware}
    default = cluster.default_kind(group.node_ranks)
    return types.pop() if default == NODE and len(types) == 1 else default


def _software_to_data(config: EnvConfig) -> dict[str, object]:
    data: dict[str, object] = {"node_ranks": ranks_to_data(config.node_ranks)}
    if config.env_vars:
        data["env_vars"] = dict(config.env_vars)
    if config.python_interpreter_path is not None:
        data["python_interpreter_path"] = config.python_interpreter_path
    return data
