"""What the ranks of a placement number: how many of what, in which node groups."""

from __future__ import annotations

from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from .placement_text import Numbered


def is_counted(cluster: Cluster, labels: tuple[str, ...]) -> bool:
    """Is it known how many resources the groups have?"""
    return cluster.counted or all(cluster.groups[label].kind != ACCELERATOR for label in labels)


def numbered(cluster: Cluster, labels: tuple[str, ...], most: int | None = None) -> Numbered:
    """The resources of these groups in one numbering; `most` cuts it short."""
    where = ", ".join(f"`{label}`" for label in labels)
    kind = cluster.kind(labels)
    what = {ACCELERATOR: "accelerator", NODE: "node"}.get(kind, kind)
    if not is_counted(cluster, labels):
        return Numbered(None, what, where, "")
    numbering = cluster.numbering(labels)
    size = numbering.size if most is None else min(numbering.size, most)
    if not size:
        return Numbered(0, what, where, f"there is no {what}")
    exist = "only rank 0 exists" if size == 1 else f"ranks 0-{size - 1} exist"
    counts = {stretch.count for stretch in numbering.wide}
    nodes = numbering.nodes
    each = counts.pop() if len(counts) == 1 else 0
    amount = with_noun(nodes, "node")
    if kind != NODE:
        amount += f" x {with_noun(each, what)}" if each else f", {size} {what}s"
    return Numbered(size, what, where, f"{amount}, {exist}")
