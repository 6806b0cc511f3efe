"""Discovered cluster: a table, the cluster file, JSON."""

from __future__ import annotations

from typing import Iterable

from ..models.findings.finding import Finding, Unchecked
from ..models.machines.cluster import Cluster
from ..models.machines.cluster_file import cluster_to_short_data as cluster_to_data
from ..models.machines.node import Node
from ..models.machines.topology import LEVELS
from ..models.quantity import write_memory
from ..models.ranks import merge, write_ranks
from ..models.text.edit import to_yaml
from .json import finding_to_data, unchecked_to_data, with_schema
from .table import table

MOST_ROWS = 200


def to_cluster_file(cluster: Cluster) -> str:
    """Format the shortest cluster file; reading it gives an equal cluster."""
    data = cluster_to_data(cluster)
    return f"nodes: {data}\n" if isinstance(data, str) else to_yaml(data)


def to_json(cluster: Cluster, notes: Iterable[Finding], unchecked: Iterable[Unchecked]) -> str:
    """Format the cluster file as JSON, with notes and unchecked facts."""
    data, findings, unchecked_data = cluster_to_data(cluster), map(finding_to_data, notes), map(unchecked_to_data, unchecked)
    content = {"nodes": data} if isinstance(data, str) else data
    return with_schema(cluster=content, findings=list(findings), unchecked=list(unchecked_data))


def nodes_table(cluster: Cluster) -> str:
    """Format the nodes in rank order, at most `MOST_ROWS`, without unknown columns."""
    head = ["rank", "node", "accelerators", "memory", "ids", "taken", "NUMA", "CPUs", "host memory", "hardware", "place", "labels"]
    count = len(cluster.nodes)
    rows = [_row(cluster.nodes[rank]) for rank in range(min(count, MOST_ROWS))]
    columns = [column for column in range(len(head)) if column < 3 or any(row[column] for row in rows)]
    body = [[row[column] or "-" for column in columns] for row in rows]
    right = tuple(position for position, column in enumerate(columns) if head[column] in ("rank", "NUMA", "CPUs"))
    more = f"\n... and {count - MOST_ROWS:,} more" if count > MOST_ROWS else ""
    return table([[head[column] for column in columns], *body], right=right) + more


def _row(node: Node) -> list[str]:
    ids = [device.physical_id for device in node.accelerators]
    plain = ids == [str(index) for index in range(len(ids))]
    occupied = [range(index, index + 1) for index in range(len(ids)) if node.taken >> index & 1]
    kinds = dict.fromkeys(device.type for device in node.hardware)
    return [
        str(node.rank), node.name, f"{len(ids)} {node.accelerator_model}".strip() if ids else "none",
        write_memory(node.accelerator_memory) if node.accelerator_memory else "", "" if plain else ",".join(ids),
        write_ranks(merge(occupied)) if occupied else "", str(node.numa_domains) if node.numa_domains > 1 else "",
        str(node.cpus or ""), write_memory(node.memory) if node.memory else "",
        ", ".join(f"{node.count(kind)} {kind}" for kind in kinds),
        " ".join(f"{level} {node.topology[level]}" for level in LEVELS if level in node.topology),
        ", ".join(f"{name}={text}" for name, text in node.labels.items()),
    ]  # fmt: skip
