"""Parts of a problem: given and searched bundles, and their possible nodes."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import AbstractSet as Set
from typing import Iterator, Mapping, Sequence

from ...models.component import BETWEEN_DOMAINS, NEAR, UNBOUNDED, WHOLE, Component, Keep
from ...models.job import Share
from ...models.machines.cluster import Cluster
from ...models.machines.node_group import ACCELERATOR, NODE, Numbering
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Assignment
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.sharing import find_around
from .bundle import Bundle, bundles_of, gaps

Nodes = frozenset[int]
"""Ranks of nodes."""


def bits(mask: int) -> Iterator[int]:
    """Yield the local indices of a bit mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def solid_range(free: int, size: int) -> int:
    """Return the mask of the lowest solid range of `size` free resources; 0 without any."""
    starts = free
    for offset in range(1, size):
        starts &= free >> offset
    return (starts & -starts) * ((1 << size) - 1)


def lowest(mask: int, count: int) -> int:
    """Return the lowest `count` bits of the mask, or all if there are fewer.

    0 for a count below 1.
    """
    return sum(1 << bit for bit in islice(bits(mask), max(0, count)))


class Neighbours:
    """Lowest node rank in the domain of every node, level by level."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lowest: dict[str, list[int]] = {}

    def _list_lowest(self, level: str) -> list[int]:
        if level not in self._lowest:
            first: dict[str, int] = {}
            lowest_ranks = self._lowest[level] = []
            for stretch in self._cluster.alike:
                lowest = first.setdefault(domain(stretch.node, level), stretch.node.rank)
                lowest_ranks += [lowest] * stretch.count
        return self._lowest[level]

    def of(self, level: str, node: int) -> int:
        """Return the lowest node rank in the node's domain.

        At node level, the node itself.
        """
        return node if level == NODE_LEVEL else self._list_lowest(level)[node]

    def nests(self, wide: str, narrow: str) -> bool:
        """Return True if every narrow domain is inside a single wide domain."""
        wide_of: dict[int, int] = {}
        return all(wide_of.setdefault(inner, around) == around for inner, around in zip(self._list_lowest(narrow), self._list_lowest(wide)))

    def stretches(self, level: str) -> list[tuple[int, range]]:
        """Return (lowest node rank of the domain, consecutive nodes), in node order."""
        runs: list[tuple[int, range]] = []
        for rank, name in enumerate(self._list_lowest(level)):
            if runs and runs[-1][0] == name:
                runs[-1] = (name, range(runs[-1][1].start, rank + 1))
            else:
                runs.append((name, range(rank, rank + 1)))
        return runs


def allowed_nodes(problem: Problem, component: Component) -> Nodes:
    """Return the nodes open to the component.

    Its given nodes, or those left by its groups, model and exclusions.
    """
    if component.runs is not None:
        assignment = Assignment({component.name: component.runs})
        return frozenset(node for ranges in assignment.node_ranges(component.name) for node in ranges)
    nodes = problem.cluster.members(component.node_groups).difference(component.excluded)
    model = component.accelerator_model if problem.kind(component) == ACCELERATOR else ""
    return frozenset(rank for rank in nodes if not model or problem.cluster.nodes[rank].accelerator_model == model)


def common_allowed_nodes(problem: Problem, component: Component) -> Nodes:
    """Return the nodes open to all components on the same accelerators."""
    members = next(members for members in problem.colocated_sets if component in members)
    return frozenset[int].intersection(*(allowed_nodes(problem, member) for member in members))


def is_given(problem: Problem, component: Component) -> bool:
    """Return True if the place of the component is given.

    By its own ranks, or by those of a component on the same accelerators.
    """
    return any(member.runs is not None for members in problem.colocated_sets if component in members for member in members)


def distinguished_nodes(problem: Problem) -> Iterator[Set[int]]:
    """Yield sets of nodes with different treatment by a rule.

    No cell has nodes both inside and outside such a set.
    """
    for component in problem.components:
        if component.excluded:
            yield frozenset(component.excluded)
        for pin in component.pins:
            yield frozenset(pin.nodes)
            if problem.job.capabilities.nodes_in_order:  # the amount on the nodes before counts
                yield from (frozenset(range(node)) for gap in gaps(pin.nodes, len(problem.cluster.nodes)) for node in (gap.start, gap.stop))
    for first, second, _ in _node_pairs(problem):
        yield common_allowed_nodes(problem, first)
        yield common_allowed_nodes(problem, second)


def list_single_cells(problem: Problem) -> Set[int]:
    """Return the nodes that must be cells of their own: a rule counts on them separately.

    Two components whose nodes are compared need this only where both may be. If one of them is
    given, and the other need not be wherever the given one is, it is enough to tell its nodes
    apart.
    """
    nodes: set[int] = set()
    for first, second, kind in _node_pairs(problem):
        are_given = [is_given(problem, component) for component in (first, second)]
        if not any(are_given) or (kind == NEAR and are_given == [True, False]):
            nodes |= common_allowed_nodes(problem, first) & common_allowed_nodes(problem, second)
    for component in problem.components:
        on_nodes = problem.kind(component) == NODE
        is_counted = any(_counts_nodes(component, keep) or (on_nodes and keep.level == NODE_LEVEL) for keep in component.keep)
        if is_counted or any(spread.level == NODE_LEVEL for spread in component.spread):
            nodes |= common_allowed_nodes(problem, component)
    return nodes


def _counts_nodes(component: Component, keep: Keep) -> bool:
    """Return True if a demand to keep together counts nodes.

    Not if each group, or the whole component, is a unit.
    """
    if keep.level != NODE_LEVEL:
        return False
    return not keep.required or (keep.unit == WHOLE and not (component.least == component.most and keep.domains == 1))


def _node_pairs(problem: Problem) -> Iterator[tuple[Component, Component, str]]:
    """Yield pairs of components whose nodes are compared, and the relation kind."""
    for kind in BETWEEN_DOMAINS:
        for relation in problem.find_relations(kind):
            if relation.level == NODE_LEVEL:
                first, second = (problem[name] for name in relation.components)
                yield first, second, kind


@dataclass(frozen=True, eq=False)
class Dealt:
    """Component with processes dealt out to nodes.

    Attributes
    ----------
    bundle : its processes as a bundle with units of one process.
    processes : most processes.
    fewest : fewest processes.
    nodes : ranks of the nodes left by its groups and exclusions.
    even : runs of an even spread, without other demands.
    """

    bundle: Bundle
    processes: int
    fewest: int
    nodes: frozenset[int]
    even: Sequence[Run]


def spread_over_nodes(cluster: Cluster, component: Component, shares: Sequence[Share] = ()) -> tuple[Run, ...]:
    """Return the runs of a component on nodes, spread evenly in node order.

    The component has as many processes as allowed. `shares`: amounts dealt out to it, which must
    come out even.
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
    """Return the most processes allowed, or the fewest if unbounded.

    With even shares, if some number gives even shares.
    """
    is_bounded = component.most < UNBOUNDED
    if shares:
        most = min(component.most, *(share.amount for share in shares))
        counts = [count for count in range(component.least, most + 1) if component.may_have(count)]
        even = (count for count in (reversed(counts) if is_bounded else counts) if all(share.divides(count) for share in shares))
        if (number := next(even, None)) is not None:
            return number
    return component.most if is_bounded else component.least


class BundleLayout:
    """Bundles of a problem, resources of given bundles, and free resources beside them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.bundles = bundles_of(problem)
        self.bundle_of = {component.name: bundle for bundle in self.bundles for component in bundle.components}
        self.on_nodes = self._list_node_runs()
        self.fixed = {bundle: self._masks(bundle) for bundle in self.bundles if bundle.fixed}
        self.free = self._free()
        self.hosts = self._hosts()
        self.enclosed = self._find_enclosed()
        self.dealt: dict[str, Dealt] = {}

    @cached_property
    def searched(self) -> tuple[Bundle, ...]:
        """Bundles with a place to search."""
        return tuple(bundle for bundle in self.bundles if not bundle.fixed)

    @cached_property
    def counted(self) -> tuple[Bundle, ...]:
        """Searched bundles counted into cells."""
        return tuple(bundle for bundle in self.searched if not bundle.contiguous)

    @cached_property
    def ranged(self) -> tuple[Bundle, ...]:
        """Searched contiguous bundles, decided by a start."""
        return tuple(bundle for bundle in self.searched if bundle.contiguous)

    def numbering(self, bundle: Bundle) -> Numbering:
        """Return the numbering of a contiguous bundle."""
        return self.problem.cluster.numbering(bundle.solid_in or bundle.components[0].node_groups)

    def find_known(self, bundle: Bundle) -> Mapping[int, int]:
        """Return node rank -> resources of the bundle known before the search."""
        return self.fixed[bundle] if bundle.fixed else self.enclosed.get(bundle, {})

    def _list_node_runs(self) -> dict[str, Sequence[Run]]:
        """Return the runs of components on nodes.

        They are spread evenly; there is something to search only if the spread matters.
        """
        runs: dict[str, Sequence[Run]] = {}
        for component in (component for component in self.problem.components if self.problem.kind(component) == NODE):
            shares = [share for share in self.problem.shares if share.component == component.name]
            spread = component.runs is None
            runs[component.name] = spread_over_nodes(self.problem.cluster, component, shares) if spread else component.runs or ()
        return runs

    def _masks(self, bundle: Bundle) -> dict[int, int]:
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def _free(self) -> dict[tuple[int, str], int]:
        kinds = dict.fromkeys(bundle.kind for bundle in self.bundles)
        free = {(node.rank, kind): node.free(kind) for node in self.problem.cluster.nodes for kind in kinds}
        given_runs = self.problem.build_given()
        for component in self.problem.components:
            if component.runs is not None:
                for (node, kind), mask in given_runs.masks(component.name).items():
                    if (node, kind) in free:
                        free[node, kind] &= ~mask
        return free

    def _hosts(self) -> dict[Bundle, tuple[Bundle, ...]]:
        """Return bundle -> enclosing bundles, direct or indirect."""
        outer = find_around(self.problem, self.problem.colocated_sets)
        hosts = {}
        for bundle in self.bundles:
            names = [members[0].name for members in outer[bundle.components[0].name]]
            hosts[bundle] = tuple(self.bundle_of[name] for name in names if name in self.bundle_of)
        return hosts

    def _find_enclosed(self) -> dict[Bundle, dict[int, int]]:
        """Return searched bundle -> node rank -> mask of given bundles inside."""
        inner_masks: dict[Bundle, dict[int, int]] = {}
        for bundle, masks in self.fixed.items():
            for host in (host for host in self.hosts[bundle] if not host.fixed):
                host_masks = inner_masks.setdefault(host, {})
                host_masks.update({node: mask | host_masks.get(node, 0) for node, mask in masks.items()})
        return inner_masks
