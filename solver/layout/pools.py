"""Pools of resources, and the bundles that compete for each."""

from __future__ import annotations

from functools import cached_property
from typing import Iterable, Iterator, Mapping, Sequence

from ...models.component import DISJOINT, Component
from ...models.machines.node_group import ACCELERATOR
from ...models.problem import Problem
from ...models.record import dataclass
from ..memory import peak
from .bundle import Bundle
from .parts import Parts

Masks = Mapping[int, int]
"""node rank -> local resources, as a bit mask."""


__all__ = ["Masks", "Pool", "ground_of", "pools"]


@dataclass(frozen=True, eq=False)
class Pool:
    """Resources of one kind, and the searched bundles that are placed on them, each on resources of its own.

    Attributes
    ----------
    free : what there is, beside what given ones within its bundles hold.
    hosts : what its bundles lie within; none if it is the cluster.
    host : the one of them whose own place is searched: then only what it takes of `free` can be used.
    """

    kind: str
    bundles: tuple[Bundle, ...]
    free: Masks
    hosts: tuple[Bundle, ...] = ()
    host: Bundle | None = None

    @cached_property
    def counted(self) -> tuple[Bundle, ...]:
        """Those of its bundles that are counted into cells."""
        return tuple(bundle for bundle in self.bundles if not bundle.contiguous)

    @cached_property
    def ranged(self) -> tuple[Bundle, ...]:
        """Those that have a start instead."""
        return tuple(bundle for bundle in self.bundles if bundle.contiguous)


def open_hosts(parts: Parts, bundle: Bundle) -> tuple[Bundle, ...]:
    """Searched bundles around a bundle, directly or not, but for those around given bundles that it lies within."""
    given = [host for host in parts.hosts[bundle] if host.fixed]
    return tuple(host for host in parts.hosts[bundle] if not host.fixed and not any(host in parts.hosts[each] for each in given))


def innermost(parts: Parts, bundle: Bundle) -> Bundle | None:
    """The one of these that lies within all others of them; None if there are none, or if they do not lie one inside another."""
    hosts = open_hosts(parts, bundle)
    if bundle in hosts:
        return None
    return next((host for host in hosts if all(other is host or other in parts.hosts[host] for other in hosts)), None)


def company(parts: Parts, bundle: Bundle) -> tuple[Component, ...]:
    """The components that are wherever a searched bundle is: its own, and those of what it lies within if that is searched too."""
    hosts = (host for host in parts.hosts[bundle] if not host.fixed and host is not bundle)
    return (*bundle.components, *(component for host in hosts for component in host.components))


def pools(parts: Parts) -> tuple[Pool, ...]:
    """Every pool with its bundles, those of the cluster first; what lies within a searched bundle after that one."""
    kinds = dict.fromkeys(bundle.kind for bundle in parts.searched)
    alone = [bundle for bundle in parts.searched if not parts.hosts[bundle]]
    found = []
    for kind in kinds:
        if its := tuple(bundle for bundle in alone if bundle.kind == kind):
            found.append(Pool(kind, its, _free(parts, kind)))
    inside: dict[tuple[object, ...], list[Bundle]] = {}
    for bundle in sorted(parts.searched, key=lambda each: len(open_hosts(parts, each))):
        if parts.hosts[bundle]:
            ground = ground_of(parts, bundle)
            key = (innermost(parts, bundle), bundle.kind, tuple(sorted(ground.items())))
            inside.setdefault(key, []).append(bundle)
    for bundles in inside.values():
        first = bundles[0]
        found.append(Pool(first.kind, tuple(bundles), ground_of(parts, first), parts.hosts[first], innermost(parts, first)))
    return tuple(found)


def ground_of(parts: Parts, bundle: Bundle) -> dict[int, int]:
    """Node rank -> the resources that a bundle within others may use: of those that are searched it is not known yet which they have.

    Not where one is that it must be disjoint from, nor where the memory does not suffice beside those that are there.
    """
    given, ground = [host for host in parts.hosts[bundle] if host.fixed], _free(parts, bundle.kind)
    if given:
        ground = {node: _within(parts, bundle, given, node) for node in parts.fixed[given[0]]}
    if (host := innermost(parts, bundle)) is not None and any(each.fixed for each in parts.hosts[host]):
        around = ground_of(parts, host)
        ground = {node: mask & around.get(node, 0) for node, mask in ground.items()}
    if not given:
        return ground
    return {node: mask for node, mask in ground.items() if mask}


def _free(parts: Parts, kind: str) -> dict[int, int]:
    """What nothing that is given holds."""
    return {node.rank: parts.free[node.rank, kind] for node in parts.problem.cluster.nodes}


def _within(parts: Parts, bundle: Bundle, given: Sequence[Bundle], node: int) -> int:
    """What all given ones that it lies within hold of a node, without what it must not share or has not enough memory for."""
    mask = parts.fixed[given[0]].get(node, 0)
    for host in given[1:]:
        mask &= parts.fixed[host].get(node, 0)
    for other in (*given_partners(parts, bundle, DISJOINT), *_strangers(parts, bundle)):
        mask &= ~parts.fixed[other].get(node, 0)
    for host, enclosed in parts.enclosed.items():
        if host is bundle or (host not in parts.hosts[bundle] and bundle not in parts.hosts[host]):
            mask &= ~enclosed.get(node, 0)
    return _with_memory(parts, bundle, node, mask)


def given_partners(parts: Parts, bundle: Bundle, kind: str) -> Iterator[Bundle]:
    """The given bundles that a searched one has a relation of this kind with."""
    for relation in parts.problem.related(kind):
        pair = [parts.bundle_of.get(name) for name in relation.components]
        other = pair[1] if pair[0] is bundle else pair[0] if pair[1] is bundle else None
        if other is not None and other is not bundle and other.kind == bundle.kind and other.fixed:
            yield other


def _strangers(parts: Parts, bundle: Bundle) -> Iterator[Bundle]:
    """The given bundles that a searched one shares nothing with, also where both lie within the same: neither lies within the other.

    Where a dialect says colocation by overlapping ranks, what lies within some given one may share with all of them.
    """
    if not parts.problem.job.capabilities.shares_accelerators:
        its = (other for other in parts.fixed if other is not bundle and other.kind == bundle.kind)
        yield from (other for other in its if other not in parts.hosts[bundle] and bundle not in parts.hosts[other])


def _with_memory(parts: Parts, bundle: Bundle, node: int, mask: int) -> int:
    """Those of the resources whose memory suffices for the bundle and for all that is given there."""
    memory = parts.problem.cluster.nodes[node].accelerator_memory if bundle.kind == ACCELERATOR else None
    for index in range(mask.bit_length()) if memory is not None else ():
        there = (other for other, masks in parts.fixed.items() if other.kind == bundle.kind and masks.get(node, 0) >> index & 1)
        others = tuple(component for other in there for component in other.components)
        if memory is not None and peak((*others, *company(parts, bundle)), memory) > memory:
            mask &= ~(1 << index)
    return mask


def nodes_in_reach(parts: Parts, bundle: Bundle) -> frozenset[int]:
    """The nodes that groups, models and exclusions leave to all its company, whatever their memory."""
    return _allowed(parts.problem, bundle.kind, company(parts, bundle), False)


def eligible_nodes(parts: Parts, bundle: Bundle) -> frozenset[int]:
    """Those whose accelerators have the memory that all its company needs together."""
    return _allowed(parts.problem, bundle.kind, company(parts, bundle), True)


def _allowed(problem: Problem, kind: str, members: Iterable[Component], heeds_memory: bool) -> frozenset[int]:
    members = tuple(members)
    nodes = frozenset[int].intersection(*(problem.cluster.members(labels) for labels in {c.node_groups: None for c in members}))
    nodes = nodes.difference(*(component.excluded for component in members))
    if kind != ACCELERATOR:
        return nodes
    models = {component.accelerator_model for component in members if component.accelerator_model}
    unfit, needs = set[int](), dict[int | None, int]()
    for alike in problem.cluster.alike:
        has = alike.node.accelerator_memory
        if heeds_memory and has not in needs:
            needs[has] = peak(members, has)
        small = heeds_memory and has is not None and has < needs[has]
        if not alike.node.accelerators or not models <= {alike.node.accelerator_model} or small:
            unfit.update(range(alike.node.rank, alike.stop))
    return nodes - unfit
