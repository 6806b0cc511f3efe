"""Description of joined nodes by similar nodes of the cluster."""

from __future__ import annotations

from dataclasses import replace

from ....models.findings.wording import with_noun
from ....models.machines.changed import with_nodes
from ....models.machines.cluster import Cluster
from ....models.machines.node import Node
from ...port.node import RayNode
from ...world.found import machine_of, resource_of
from ...world.matching import count, has
from ...world.sources.model_names import same_model


def with_joined(cluster: Cluster, ray: RayNode) -> Cluster | None:
    """Return the cluster with the new node appended; None without a similar node (see `unlike`).

    The new node gets the physical ids, memory and node groups of the first similar node, and a name
    of its own.
    """
    like = next((node for node in cluster.nodes if not any(_difference(node, ray))), None)
    if like is None:
        return None
    wider = with_nodes(cluster, like, 1)
    named = replace(wider.nodes[-1], name=_name(cluster, ray))
    return replace(wider, nodes=(*wider.nodes[:-1], named))


def unlike(cluster: Cluster, ray: RayNode) -> str:
    """Explain why a joined node is not used, by comparison with the most similar node."""
    nearest = min(cluster.nodes, key=lambda node: abs(count(node) - _most(ray)))
    has_it, has_other = _difference(nearest, ray)
    return f"node `{_name(cluster, ray)}` joined and is not used: it has {has_it}; `{nearest.name}`, the most like it, has {has_other}"


def _difference(node: Node, ray: RayNode) -> tuple[str, str]:
    """Return (Ray node's value, cluster node's value) of a difference; empty texts if
    compatible.
    """
    if count(node) != has(node, ray) or _most(ray) != has(node, ray):
        return with_noun(_most(ray), "accelerator"), str(count(node))
    model = next((device.model for device in machine_of(ray).devices if not same_model(node.accelerator_model, device.model)), None)
    if model is not None:
        return f"{model} accelerators", node.accelerator_model
    if node.cpus is not None and ray.total.get("CPU", 0) < node.cpus:
        return f"{ray.total.get('CPU', 0):g} CPUs", str(node.cpus)
    return "", ""


def _most(ray: RayNode) -> int:
    """Return the number of accelerators of the node, of any maker."""
    return round(ray.total.get(resource_of(ray), 0.0))


def _name(cluster: Cluster, ray: RayNode) -> str:
    taken = {node.name for node in cluster.nodes}
    wanted = ray.name if ray.rank is None else f"node-{ray.rank}"
    return wanted if wanted not in taken else f"{wanted}-{ray.node_id[:8]}"
