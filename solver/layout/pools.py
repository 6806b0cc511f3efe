"""Pools of resources, and the bundles in competition for them."""

from __future__ import annotations

from functools import cached_property
from typing import Iterable, Iterator, Mapping, Sequence

from ...models.component import DISJOINT, Component
from ...models.machines.node_group import ACCELERATOR
from ...models.problem import Problem
from ...models.record import dataclass
from ..memory import peak
from .bundle import Bundle
from .parts import BundleLayout

Masks = Mapping[int, int]
"""Node rank -> local resources as a bit mask."""


__all__ = ["Masks", "NodePool", "usable_resources", "pools"]


@dataclass(frozen=True, eq=False)
class NodePool:
    """Resources of a kind, and the searched bundles placed on them without overlap.

    Attributes
    ----------
    free : free resources, without those of given bundles inside its bundles.
    hosts : bundles around its bundles; empty for the cluster.
    host : the innermost host with a searched place: only its part of `free` can be used.
    """

    kind: str
    bundles: tuple[Bundle, ...]
    free: Masks
    hosts: tuple[Bundle, ...] = ()
    host: Bundle | None = None

    @cached_property
    def counted(self) -> tuple[Bundle, ...]:
        """Bundles counted into cells."""
        return tuple(bundle for bundle in self.bundles if not bundle.contiguous)

    @cached_property
    def ranged(self) -> tuple[Bundle, ...]:
        """Contiguous bundles, decided by a start."""
        return tuple(bundle for bundle in self.bundles if bundle.contiguous)


def open_hosts(parts: BundleLayout, bundle: Bundle) -> tuple[Bundle, ...]:
    """Return the searched hosts of a bundle, direct or indirect.

    Hosts of a given bundle around it are left out.
    """
    fixed_hosts = [host for host in parts.hosts[bundle] if host.fixed]
    return tuple(host for host in parts.hosts[bundle] if not host.fixed and not any(host in parts.hosts[inner] for inner in fixed_hosts))


def innermost(parts: BundleLayout, bundle: Bundle) -> Bundle | None:
    """Return the open host inside all further open hosts; None without any.

    None also if the hosts are not nested.
    """
    hosts = open_hosts(parts, bundle)
    if bundle in hosts:
        return None
    return next((host for host in hosts if all(second is host or second in parts.hosts[host] for second in hosts)), None)


def company(parts: BundleLayout, bundle: Bundle) -> tuple[Component, ...]:
    """Return the components present wherever a searched bundle is.

    Its own, and those of its searched hosts.
    """
    hosts = (host for host in parts.hosts[bundle] if not host.fixed and host is not bundle)
    return (*bundle.components, *(component for host in hosts for component in host.components))


def pools(parts: BundleLayout) -> tuple[NodePool, ...]:
    """Return every pool with its bundles: cluster pools first, inner pools after their hosts."""
    kinds = dict.fromkeys(bundle.kind for bundle in parts.searched)
    outermost = [bundle for bundle in parts.searched if not parts.hosts[bundle]]
    result = []
    for kind in kinds:
        if on_cluster := tuple(bundle for bundle in outermost if bundle.kind == kind):
            result.append(NodePool(kind, on_cluster, _free(parts, kind)))
    inner_bundles: dict[tuple[object, ...], list[Bundle]] = {}
    for bundle in sorted(parts.searched, key=lambda bundle: len(open_hosts(parts, bundle))):
        if parts.hosts[bundle]:
            ground = usable_resources(parts, bundle)
            key = (innermost(parts, bundle), bundle.kind, tuple(sorted(ground.items())))
            inner_bundles.setdefault(key, []).append(bundle)
    for bundles in inner_bundles.values():
        first = bundles[0]
        result.append(NodePool(first.kind, tuple(bundles), usable_resources(parts, first), parts.hosts[first], innermost(parts, first)))
    return tuple(result)


def usable_resources(parts: BundleLayout, bundle: Bundle) -> dict[int, int]:
    """Return node rank -> resources open to a bundle inside others.

    It is not yet known which resources searched hosts have. Left out are resources of bundles that
    it must be disjoint from, and those with too little memory beside the components there.
    """
    fixed_hosts, ground = [host for host in parts.hosts[bundle] if host.fixed], _free(parts, bundle.kind)
    if fixed_hosts:
        ground = {node: _within(parts, bundle, fixed_hosts, node) for node in parts.fixed[fixed_hosts[0]]}
    if (host := innermost(parts, bundle)) is not None and any(member.fixed for member in parts.hosts[host]):
        around = usable_resources(parts, host)
        ground = {node: mask & around.get(node, 0) for node, mask in ground.items()}
    if not fixed_hosts:
        return ground
    return {node: mask for node, mask in ground.items() if mask}


def _free(parts: BundleLayout, kind: str) -> dict[int, int]:
    """Return node rank -> resources held by no given component."""
    return {node.rank: parts.free[node.rank, kind] for node in parts.problem.cluster.nodes}


def _within(parts: BundleLayout, bundle: Bundle, fixed_hosts: Sequence[Bundle], node: int) -> int:
    """Return a node's resources open to a bundle inside all its given hosts.

    Without resources that it must not share, or with too little memory.
    """
    mask = parts.fixed[fixed_hosts[0]].get(node, 0)
    for host in fixed_hosts[1:]:
        mask &= parts.fixed[host].get(node, 0)
    for rival in (*given_partners(parts, bundle, DISJOINT), *_strangers(parts, bundle)):
        mask &= ~parts.fixed[rival].get(node, 0)
    for host, inner_masks in parts.enclosed.items():
        if host is bundle or (host not in parts.hosts[bundle] and bundle not in parts.hosts[host]):
            mask &= ~inner_masks.get(node, 0)
    return _with_memory(parts, bundle, node, mask)


def given_partners(parts: BundleLayout, bundle: Bundle, kind: str) -> Iterator[Bundle]:
    """Yield the given bundles in a relation of this kind with a searched bundle."""
    for relation in parts.problem.find_relations(kind):
        pair = [parts.bundle_of.get(name) for name in relation.components]
        partner = pair[1] if pair[0] is bundle else pair[0] if pair[1] is bundle else None
        if partner is not None and partner is not bundle and partner.kind == bundle.kind and partner.fixed:
            yield partner


def _strangers(parts: BundleLayout, bundle: Bundle) -> Iterator[Bundle]:
    """Yield the given bundles that share nothing with a searched bundle.

    Also if both lie within the same host: neither is within the other. If a dialect expresses
    colocation by overlapping ranks, a bundle inside a given one may share with all given ones.
    """
    if not parts.problem.job.capabilities.shares_accelerators:
        candidates = (candidate for candidate in parts.fixed if candidate is not bundle and candidate.kind == bundle.kind)
        yield from (candidate for candidate in candidates if candidate not in parts.hosts[bundle] and bundle not in parts.hosts[candidate])


def _with_memory(parts: BundleLayout, bundle: Bundle, node: int, mask: int) -> int:
    """Return the resources with enough memory for the bundle and given ones there."""
    memory = parts.problem.cluster.nodes[node].accelerator_memory if bundle.kind == ACCELERATOR else None
    for index in range(mask.bit_length()) if memory is not None else ():
        holders = (holder for holder, masks in parts.fixed.items() if holder.kind == bundle.kind and masks.get(node, 0) >> index & 1)
        given_components = tuple(component for holder in holders for component in holder.components)
        if memory is not None and peak((*given_components, *company(parts, bundle)), memory) > memory:
            mask &= ~(1 << index)
    return mask


def nodes_in_reach(parts: BundleLayout, bundle: Bundle) -> frozenset[int]:
    """Return the nodes open to a bundle and its hosts, at any memory.

    Groups, models and exclusions decide.
    """
    return _find_allowed(parts.problem, bundle.kind, company(parts, bundle), False)


def eligible_nodes(parts: BundleLayout, bundle: Bundle) -> frozenset[int]:
    """Return the nodes in reach with enough memory for bundle and hosts together."""
    return _find_allowed(parts.problem, bundle.kind, company(parts, bundle), True)


def _find_allowed(problem: Problem, kind: str, members: Iterable[Component], heeds_memory: bool) -> frozenset[int]:
    members = tuple(members)
    nodes = frozenset[int].intersection(*(problem.cluster.members(labels) for labels in {c.node_groups: None for c in members}))
    nodes = nodes.difference(*(component.excluded for component in members))
    if kind != ACCELERATOR:
        return nodes
    models = {component.accelerator_model for component in members if component.accelerator_model}
    unfit, needs = set[int](), dict[int | None, int]()
    for stretch in problem.cluster.alike:
        has = stretch.node.accelerator_memory
        if heeds_memory and has not in needs:
            needs[has] = peak(members, has)
        small = heeds_memory and has is not None and has < needs[has]
        if not stretch.node.accelerators or not models <= {stretch.node.accelerator_model} or small:
            unfit.update(range(stretch.node.rank, stretch.stop))
    return nodes - unfit
