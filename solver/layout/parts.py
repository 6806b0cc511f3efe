"""Parts of a problem: given and searched bundles, and where each may be."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import AbstractSet as Set
from typing import Iterator, Mapping, Sequence

from ...models.component import BETWEEN_DOMAINS, NEAR, UNBOUNDED, Component
from ...models.locality import WHOLE, Keep
from ...models.machines.cluster import Cluster
from ...models.machines.node_group import ACCELERATOR, NODE, Numbering
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Assignment
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.share import Share
from ...models.sharing import around
from . import bundle as grain
from .bundle import Bundle, gaps

Nodes = frozenset[int]
"""Ranks of nodes."""


def bits(mask: int) -> Iterator[int]:
    """The local indices of a bit mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def solid_range(free: int, size: int) -> int:
    """The lowest solid range of so many free resources; 0 if there is none."""
    starts = free
    for offset in range(1, size):
        starts &= free >> offset
    return (starts & -starts) * ((1 << size) - 1)


def lowest(mask: int, count: int) -> int:
    """So many of its bits, the lowest; all of them if there are fewer, none if fewer than one are asked for."""
    return sum(1 << bit for bit in islice(bits(mask), max(0, count)))


class Neighbours:
    """For every node the lowest rank of a node that is in the same domain, level by level."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lowest: dict[str, list[int]] = {}

    def _of(self, level: str) -> list[int]:
        if level not in self._lowest:
            first: dict[str, int] = {}
            found = self._lowest[level] = []
            for alike in self._cluster.alike:
                lowest = first.setdefault(domain(alike.node, level), alike.node.rank)
                found += [lowest] * alike.count
        return self._lowest[level]

    def of(self, level: str, node: int) -> int:
        """The lowest rank of a node in the same domain of a level, not below the node, as this one."""
        return node if level == NODE_LEVEL else self._of(level)[node]

    def nests(self, wide: str, narrow: str) -> bool:
        """Is every domain of the one level inside one domain of the other?"""
        inside: dict[int, int] = {}
        return all(inside.setdefault(its, around) == around for its, around in zip(self._of(narrow), self._of(wide)))

    def stretches(self, level: str) -> list[tuple[int, range]]:
        """(the lowest rank of a node in the domain, the ranks of nodes on end that are in it), in the order of the nodes."""
        found: list[tuple[int, range]] = []
        for rank, name in enumerate(self._of(level)):
            if found and found[-1][0] == name:
                found[-1] = (name, range(found[-1][1].start, rank + 1))
            else:
                found.append((name, range(rank, rank + 1)))
        return found


def may_be(problem: Problem, component: Component) -> Nodes:
    """The nodes that the component is given, or that its groups, its model and what is excluded leave it."""
    if component.runs is not None:
        given = Assignment({component.name: component.runs})
        return frozenset(node for ranges in given.node_ranges(component.name) for node in ranges)
    nodes = problem.cluster.members(component.node_groups).difference(component.excluded)
    model = component.accelerator_model if problem.kind(component) == ACCELERATOR else ""
    return frozenset(rank for rank in nodes if not model or problem.cluster.nodes[rank].accelerator_model == model)


def set_may_be(problem: Problem, component: Component) -> Nodes:
    """The nodes where the component and all that share its accelerators may be."""
    members = next(members for members in problem.colocated_sets if component in members)
    return frozenset[int].intersection(*(may_be(problem, each) for each in members))


def is_given(problem: Problem, component: Component) -> bool:
    """Is its place given, by its own ranks or by those of what shares its accelerators?"""
    return any(each.runs is not None for members in problem.colocated_sets if component in members for each in members)


def told_apart(problem: Problem) -> Iterator[Set[int]]:
    """Sets of nodes that a rule treats otherwise than the others: no cell holds both nodes of such a set and others."""
    for component in problem.components:
        if component.excluded:
            yield frozenset(component.excluded)
        for pin in component.pins:
            yield frozenset(pin.nodes)
            if problem.job.capabilities.nodes_in_order:  # then what counts is how much is on the nodes before
                yield from (frozenset(range(node)) for gap in gaps(pin.nodes, len(problem.cluster.nodes)) for node in (gap.start, gap.stop))
    for one, other, _ in _node_pairs(problem):
        yield set_may_be(problem, one)
        yield set_may_be(problem, other)


def alone(problem: Problem) -> Set[int]:
    """The nodes that must each be a cell of their own, since a rule counts on every one of them.

    Two components whose nodes are compared need that only where both may be; where one of them is given, and the other need not be
    wherever it is, it is enough that its nodes are told apart from the others.
    """
    found: set[int] = set()
    for one, other, kind in _node_pairs(problem):
        given = [is_given(problem, each) for each in (one, other)]
        if not any(given) or (kind == NEAR and given == [True, False]):
            found |= set_may_be(problem, one) & set_may_be(problem, other)
    for component in problem.components:
        on_nodes = problem.kind(component) == NODE
        kept = any(_counts_nodes(component, keep) or (on_nodes and keep.level == NODE_LEVEL) for keep in component.keep)
        if kept or any(spread.level == NODE_LEVEL for spread in component.spread):
            found |= set_may_be(problem, component)
    return found


def _counts_nodes(component: Component, keep: Keep) -> bool:
    """Does a demand to keep something together count nodes? Not where each group, or all of the component, is a unit of its own."""
    if keep.level != NODE_LEVEL:
        return False
    return not keep.required or (keep.what == WHOLE and not (component.least == component.most and keep.domains == 1))


def _node_pairs(problem: Problem) -> Iterator[tuple[Component, Component, str]]:
    """Pairs of components whose nodes are compared, and how."""
    for kind in BETWEEN_DOMAINS:
        for relation in problem.related(kind):
            if relation.level == NODE_LEVEL:
                one, other = (problem[name] for name in relation.components)
                yield one, other, kind


@dataclass(frozen=True, eq=False)
class Dealt:
    """A component whose processes are dealt out to nodes.

    Attributes
    ----------
    bundle : what its processes are counted as, one a unit.
    processes : how many there are at most.
    fewest : how many there are at least.
    nodes : the ranks of the nodes that its groups and what is excluded leave it.
    even : its runs if nothing else mattered.
    """

    bundle: Bundle
    processes: int
    fewest: int
    nodes: frozenset[int]
    even: Sequence[Run]


def spread_over_nodes(cluster: Cluster, component: Component, shares: Sequence[Share] = ()) -> tuple[Run, ...]:
    """The runs of a component whose resource is the node: as many processes as it may have, in the order of the nodes.

    `shares`: what is dealt out to it, and must come out even.
    """
    nodes = sorted(cluster.members(component.node_groups).difference(component.excluded))
    share, rest = divmod(_processes(component, shares), len(nodes)) if nodes else (0, 0)
    labels = {node: label for label in reversed(component.node_groups) for node in cluster.groups[label].node_ranks}
    runs, rank = [], 0
    for position, node in enumerate(nodes):
        size = share + (position < rest)
        if size:
            runs.append(Run(range(rank, rank + size), node, NODE, each=0, pitch=0, node_group=labels[node]))
            rank += size
    return tuple(runs)


def _processes(component: Component, shares: Sequence[Share]) -> int:
    """The most processes that it may have, the fewest where nobody says how many; with these shares even, if any number does that."""
    bounded = component.most < UNBOUNDED
    if shares:
        most = min(component.most, *(share.amount for share in shares))
        counts = [count for count in range(component.least, most + 1) if component.may_have(count)]
        even = (count for count in (reversed(counts) if bounded else counts) if all(share.divides(count) for share in shares))
        if (found := next(even, None)) is not None:
            return found
    return component.most if bounded else component.least


class Parts:
    """The bundles of a problem, what the given ones hold, and what is free beside them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        placed = [members for members in problem.colocated_sets if problem.kind(members[0]) != NODE]
        self.bundles = tuple(self._bundle(members) for members in placed)
        self.bundle_of = {component.name: bundle for bundle in self.bundles for component in bundle.components}
        self.on_nodes = self._on_nodes()
        self.fixed = {bundle: self._masks(bundle) for bundle in self.bundles if bundle.fixed}
        self.free = self._free()
        self.hosts = self._hosts()
        self.enclosed = self._enclosed()
        self.dealt: dict[str, Dealt] = {}

    def _bundle(self, members: tuple[Component, ...]) -> Bundle:
        problem = self.problem
        return Bundle(
            members, problem.kind(members[0]), grain.unit(problem, members), grain.piece(problem, members), grain.wholes(problem, members),
            problem.solid_in(members), grain.is_single(members),
        )  # fmt: skip

    @cached_property
    def searched(self) -> tuple[Bundle, ...]:
        """The bundles whose place is to be found."""
        return tuple(bundle for bundle in self.bundles if not bundle.fixed)

    @cached_property
    def counted(self) -> tuple[Bundle, ...]:
        """Those that are counted into cells."""
        return tuple(bundle for bundle in self.searched if not bundle.contiguous)

    @cached_property
    def ranged(self) -> tuple[Bundle, ...]:
        """Those that have a start instead."""
        return tuple(bundle for bundle in self.searched if bundle.contiguous)

    def numbering(self, bundle: Bundle) -> Numbering:
        """The numbering in which a contiguous bundle is one range."""
        return self.problem.cluster.numbering(bundle.solid_in or bundle.components[0].node_groups)

    def known(self, bundle: Bundle) -> Mapping[int, int]:
        """Node rank -> the resources that a bundle is known to hold there, whatever the answer is."""
        return self.fixed[bundle] if bundle.fixed else self.enclosed.get(bundle, {})

    def _on_nodes(self) -> dict[str, Sequence[Run]]:
        """The components that nodes are the resource of: they are spread evenly, and only where that matters is there something to search."""
        members = [c for c in self.problem.components if self.problem.kind(c) == NODE]
        return {c.name: c.runs if c.runs is not None else self._spread(c) for c in members}

    def _spread(self, component: Component) -> Sequence[Run]:
        shares = [share for share in self.problem.shares if share.component == component.name]
        return spread_over_nodes(self.problem.cluster, component, shares)

    def _masks(self, bundle: Bundle) -> dict[int, int]:
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def _free(self) -> dict[tuple[int, str], int]:
        kinds = dict.fromkeys(bundle.kind for bundle in self.bundles)
        free = {(node.rank, kind): node.free(kind) for node in self.problem.cluster.nodes for kind in kinds}
        given = self.problem.given()
        for component in self.problem.components:
            if component.runs is not None:
                for (node, kind), mask in given.masks(component.name).items():
                    if (node, kind) in free:
                        free[node, kind] &= ~mask
        return free

    def _hosts(self) -> dict[Bundle, tuple[Bundle, ...]]:
        """Bundle -> those that it lies within, directly or not."""
        outer = around(self.problem, self.problem.colocated_sets)
        found = {}
        for bundle in self.bundles:
            names = [members[0].name for members in outer[bundle.components[0].name]]
            found[bundle] = tuple(self.bundle_of[name] for name in names if name in self.bundle_of)
        return found

    def _enclosed(self) -> dict[Bundle, dict[int, int]]:
        """Resources of given bundles within searched ones: searched bundle -> node rank -> bit mask."""
        found: dict[Bundle, dict[int, int]] = {}
        for given, masks in self.fixed.items():
            for host in (each for each in self.hosts[given] if not each.fixed):
                held = found.setdefault(host, {})
                held.update({node: mask | held.get(node, 0) for node, mask in masks.items()})
        return found
