"""Which pools of resources a problem has, and which searched bundles compete for each."""

from __future__ import annotations

from typing import Iterator

from ...models.component import COLOCATED_OR_DISJOINT, DISJOINT
from ...models.machines.node_group import ACCELERATOR
from ..memory import peak
from .bundle import Bundle
from .parts import Parts
from .pool import Masks, Pool

__all__ = ["Masks", "Pool", "given_partners", "ground_of", "pools"]


def pools(parts: Parts) -> tuple[Pool, ...]:
    """Every pool with its bundles, those of the cluster first."""
    kinds = dict.fromkeys(bundle.kind for bundle in parts.searched)
    alone = [bundle for bundle in parts.searched if not parts.hosts[bundle]]
    found = []
    for kind in kinds:
        free = {node.rank: parts.free[node.rank, kind] for node in parts.problem.cluster.nodes}
        if its := tuple(bundle for bundle in alone if bundle.kind == kind):
            found.append(Pool(kind, its, free))
    inside: dict[object, list[Bundle]] = {}
    grounds: dict[object, Masks] = {}
    for bundle in parts.searched:
        if hosts := parts.hosts[bundle]:
            open_host = next((host for host in hosts if not host.fixed), None)
            ground = ground_of(parts, bundle) if open_host is None else {}
            key: object = open_host or (bundle.kind, tuple(sorted(ground.items())))
            inside.setdefault(key, []).append(bundle)
            grounds[key] = ground
    for key, bundles in inside.items():
        hosts, kind = parts.hosts[bundles[0]], bundles[0].kind
        open_host = next((host for host in hosts if not host.fixed), None)
        free = {node.rank: parts.free[node.rank, kind] for node in parts.problem.cluster.nodes}
        found.append(Pool(kind, tuple(bundles), free if open_host else grounds[key], hosts, open_host))
    return tuple(found)


def ground_of(parts: Parts, bundle: Bundle) -> dict[int, int]:
    """Node rank -> the resources that a bundle may use within given ones.

    Not where one is that it must be disjoint from, nor where the memory does not suffice beside those that are there.
    """
    hosts, ground = parts.hosts[bundle], dict[int, int]()
    for node, mask in parts.fixed[hosts[0]].items():
        for host in hosts[1:]:
            mask &= parts.fixed[host].get(node, 0)
        for other in given_partners(parts, bundle, DISJOINT):
            mask &= ~parts.fixed[other].get(node, 0)
        ground[node] = _with_memory(parts, bundle, node, mask)
    # What it could only have in part it can have nothing of; that may leave less of another.
    partners = list(given_partners(parts, bundle, COLOCATED_OR_DISJOINT))
    while partners:
        cut = next((other for other in partners if _in_part(parts.fixed[other], ground)), None)
        if cut is None:
            break
        partners.remove(cut)
        ground = {node: mask & ~parts.fixed[cut].get(node, 0) for node, mask in ground.items()}
    return {node: mask for node, mask in ground.items() if mask}


def given_partners(parts: Parts, bundle: Bundle, kind: str) -> Iterator[Bundle]:
    """The given bundles that a searched one has a relation of this kind with."""
    for relation in parts.problem.related(kind):
        pair = [parts.bundle_of.get(name) for name in relation.components]
        other = pair[1] if pair[0] is bundle else pair[0] if pair[1] is bundle else None
        if other is not None and other is not bundle and other.kind == bundle.kind and other.fixed:
            yield other


def _in_part(masks: Masks, ground: Masks) -> bool:
    """Is some of it in the ground, and some not?"""
    inside = any(mask & ground.get(node, 0) for node, mask in masks.items())
    return inside and any(mask & ~ground.get(node, 0) for node, mask in masks.items())


def _with_memory(parts: Parts, bundle: Bundle, node: int, mask: int) -> int:
    """Those of the resources whose memory suffices for the bundle and for all that is given there."""
    memory = parts.problem.cluster.nodes[node].accelerator_memory if bundle.kind == ACCELERATOR else None
    for index in range(mask.bit_length()) if memory is not None else ():
        there = (other for other, masks in parts.fixed.items() if other.kind == bundle.kind and masks.get(node, 0) >> index & 1)
        company = tuple(component for other in there for component in other.components)
        if memory is not None and peak((*company, *bundle.components)) > memory:
            mask &= ~(1 << index)
    return mask
