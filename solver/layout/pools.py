"""What searched bundles compete for: the free resources of the cluster, or those of what they lie within."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, Mapping

from ...models.component import COLOCATED_OR_DISJOINT, DISJOINT
from ...models.machines.node_group import ACCELERATOR
from ...models.sharing import around
from ..memory import peak

if TYPE_CHECKING:
    from .layout import Bundle, Layout

Masks = Mapping[int, int]
"""node rank -> local resources, as a bit mask."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Resources of one kind, and the searched bundles that are placed on them, each on resources of its own.

    Attributes
    ----------
    free : what there is.
    hosts : what its bundles lie within; none if it is the cluster.
    host : the one of them whose own place is searched: then only what it takes of `free` can be used.
    """

    kind: str
    bundles: tuple[Bundle, ...]
    free: Masks
    hosts: tuple[Bundle, ...] = ()
    host: Bundle | None = None


def hosts_of(layout: Layout) -> dict[Bundle, tuple[Bundle, ...]]:
    """Bundle -> those that it lies within, directly or not."""
    outer = around(layout.problem, layout.problem.colocated_sets)
    found = {}
    for bundle in layout.bundles:
        names = [members[0].name for members in outer[bundle.components[0].name]]
        found[bundle] = tuple(layout.bundle_of[name] for name in names if name in layout.bundle_of)
    return found


def pools(layout: Layout) -> tuple[Pool, ...]:
    """Every pool with its bundles, those of the cluster first."""
    kinds = dict.fromkeys(bundle.kind for bundle in layout.searched)
    alone = [bundle for bundle in layout.searched if not layout.hosts[bundle]]
    found = []
    for kind in kinds:
        free = {node.rank: layout.free[node.rank, kind] for node in layout.problem.cluster.nodes}
        if its := tuple(bundle for bundle in alone if bundle.kind == kind):
            found.append(Pool(kind, its, free))
    inside: dict[object, list[Bundle]] = {}
    grounds: dict[object, Masks] = {}
    for bundle in layout.searched:
        if hosts := layout.hosts[bundle]:
            open_host = next((host for host in hosts if not host.fixed), None)
            ground = ground_of(layout, bundle) if open_host is None else {}
            key: object = open_host or (bundle.kind, tuple(sorted(ground.items())))
            inside.setdefault(key, []).append(bundle)
            grounds[key] = ground
    for key, bundles in inside.items():
        hosts, kind = layout.hosts[bundles[0]], bundles[0].kind
        open_host = next((host for host in hosts if not host.fixed), None)
        free = {node.rank: layout.free[node.rank, kind] for node in layout.problem.cluster.nodes}
        found.append(Pool(kind, tuple(bundles), free if open_host else grounds[key], hosts, open_host))
    return tuple(found)


def ground_of(layout: Layout, bundle: Bundle) -> dict[int, int]:
    """Node rank -> the resources that a bundle may use within given ones.

    Not where one is that it must be disjoint from, nor where the memory does not suffice beside those that are there.
    """
    hosts, ground = layout.hosts[bundle], dict[int, int]()
    for node, mask in layout.fixed[hosts[0]].items():
        for host in hosts[1:]:
            mask &= layout.fixed[host].get(node, 0)
        for other in given_partners(layout, bundle, DISJOINT):
            mask &= ~layout.fixed[other].get(node, 0)
        ground[node] = _with_memory(layout, bundle, node, mask)
    # What it could only have in part it can have nothing of; that may leave less of another.
    partners = list(given_partners(layout, bundle, COLOCATED_OR_DISJOINT))
    while partners:
        cut = next((other for other in partners if _in_part(layout.fixed[other], ground)), None)
        if cut is None:
            break
        partners.remove(cut)
        ground = {node: mask & ~layout.fixed[cut].get(node, 0) for node, mask in ground.items()}
    return {node: mask for node, mask in ground.items() if mask}


def given_partners(layout: Layout, bundle: Bundle, kind: str) -> Iterator[Bundle]:
    """The given bundles that a searched one has a relation of this kind with."""
    for relation in layout.problem.related(kind):
        pair = [layout.bundle_of.get(name) for name in relation.components]
        other = pair[1] if pair[0] is bundle else pair[0] if pair[1] is bundle else None
        if other is not None and other is not bundle and other.kind == bundle.kind and other.fixed:
            yield other


def _in_part(masks: Masks, ground: Masks) -> bool:
    """Is some of it in the ground, and some not?"""
    inside = any(mask & ground.get(node, 0) for node, mask in masks.items())
    return inside and any(mask & ~ground.get(node, 0) for node, mask in masks.items())


def _with_memory(layout: Layout, bundle: Bundle, node: int, mask: int) -> int:
    """Those of the resources whose memory suffices for the bundle and for all that is given there."""
    memory = layout.problem.cluster.nodes[node].accelerator_memory if bundle.kind == ACCELERATOR else None
    for index in range(mask.bit_length()) if memory is not None else ():
        there = (other for other, masks in layout.fixed.items() if other.kind == bundle.kind and masks.get(node, 0) >> index & 1)
        company = tuple(component for other in there for component in other.components)
        if memory is not None and peak((*company, *bundle.components)) > memory:
            mask &= ~(1 << index)
    return mask
