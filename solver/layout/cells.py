"""Cells of interchangeable nodes, with an exact capacity row per group size.

If the sizes form a divisor chain, groups fit on nodes with f_n free resources exactly if for every
size s the groups of size s or more together take, in pieces of s, at most the sum of floor(f_n /
s). Placed largest first, a group of size t takes exactly t / s pieces of s, and a group of size s
fits wherever such a piece is left.

Sizes without a chain may be rounded up to a chain if that rules out nothing on these nodes: beside
groups of 3, a group of 8 takes all of a node of 8, and 9 of a node of 12.

NUMA domains add a second kind of holder. A piece of size p inside a NUMA domain is counted by the
sum of floor(f_d / p) over domains. The count stays exact as long as everything placed before takes
exact multiples of p out of each domain. Groups made of multiples of p inside domains do so; others
only if every domain has a multiple of p.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Callable, Collection, Iterable, Iterator, Mapping, NamedTuple, Sequence

from ...models.component import Component
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.machines.topology import domain, numa_masks, path
from ...models.placements.assignment import Assignment
from ...models.record import dataclass
from .bundle import Bundle
from .parts import BundleLayout, distinguished_nodes, list_single_cells, lowest
from .pools import NodePool
from .previous import movable, survivors

if TYPE_CHECKING:
    from fractions import Fraction

Eligible = Mapping[Bundle, frozenset[int]]
"""Bundle -> ranks of the eligible nodes."""


@dataclass(frozen=True, eq=False)
class Cell:
    """Interchangeable nodes of a problem.

    Two cells are equal only if they are the same object.
    """

    index: int
    nodes: tuple[Node, ...]

    @property
    def name(self) -> str:
        """Name for messages and logs."""
        first, last = self.nodes[0], self.nodes[-1]
        return first.name if first is last else f"{first.name}..{last.name}"

    def domain(self, level: str) -> str:
        """Return the domain of all nodes at a topology level."""
        return domain(self.nodes[0], level)


def numa_domains(node: Node, kind: str) -> tuple[int, ...]:
    """Return the resources of a node's NUMA domains as bit masks.

    Resources other than accelerators are in a single domain.
    """
    return numa_masks(node) if kind == ACCELERATOR else (node.whole(kind),)


class CellCapacity:
    """Free resources of a pool on some nodes, per node and per NUMA domain."""

    def __init__(self, pool: NodePool, nodes: Iterable[Node]) -> None:
        self._pool, self._nodes = pool, tuple(nodes)
        self._on_nodes = Counter(pool.free.get(node.rank, 0).bit_count() for node in self._nodes)
        self._in_numa: Counter[int] | None = None

    @property
    def _numa(self) -> Counter[int]:
        if self._in_numa is None:
            free, kind = self._pool.free, self._pool.kind
            counts = ((free.get(node.rank, 0) & mask).bit_count() for node in self._nodes for mask in numa_domains(node, kind))
            self._in_numa = Counter(counts)
        return self._in_numa

    def pieces(self, size: int, inside_numa: bool = False) -> int:
        """Return the number of slots: the sum of floor(free / size)."""
        counts = self._numa if inside_numa else self._on_nodes
        return sum(free // size * count for free, count in counts.items())

    @property
    def free(self) -> Collection[int]:
        """Distinct numbers of free resources on a node."""
        return self._on_nodes.keys()

    def divides(self, size: int) -> bool:
        """Return True if the free resources of every NUMA domain are multiples of the size."""
        return not any(free % size for free in self._numa)


def is_chain(sizes: Iterable[int]) -> bool:
    """Return True if every size divides the next larger size."""
    order = sorted(set(sizes))
    return all(large % small == 0 for small, large in zip(order, order[1:]))


def round_sizes(sizes: Iterable[int], free: Iterable[int]) -> Mapping[int, int] | None:
    """Return sizes rounded up to a divisor chain with the same fit; None without any.

    The fit is checked for nodes with these numbers of free resources.
    """
    return _round_sizes(tuple(sorted(set(sizes))), tuple(sorted(set(free))))


@lru_cache(1024)
def _round_sizes(sizes: Sequence[int], free: Sequence[int]) -> Mapping[int, int] | None:
    largest = free[-1] if free else 0
    small = [size for size in sizes if size <= largest]
    chains = (dict(zip(small, chain)) for chain in _chains(small, 1, largest))
    best = next((chain for chain in chains if all(_most(chain, amount) <= amount for amount in free)), None)
    return None if best is None else {size: best.get(size, size) for size in sizes}


def _chains(sizes: Sequence[int], before: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield chains for ascending sizes rounded up, smallest growth first.

    Every entry is a multiple of the entry before.
    """
    if not sizes:
        yield ()
        return
    for size in range(-(-sizes[0] // before) * before, most + 1, before):
        yield from ((size, *rest) for rest in _chains(sizes[1:], size, most))


def _most(chain: Mapping[int, int], free: int) -> int:
    """Return the largest rounded load of groups that fit on a node."""
    most = [0] * (free + 1)
    for amount in range(1, free + 1):
        most[amount] = max([most[amount - 1], *(size + most[amount - unit] for unit, size in chain.items() if unit <= amount)])
    return most[free]


def is_exact(bundles: Sequence[Bundle], capacity: CellCapacity, has_ranges: bool) -> bool:
    """Return True if rows over several nodes say exactly which counted bundles fit.

    `has_ranges` is True if ranges may take any part of the nodes first.
    """
    pieces = sorted({bundle.piece for bundle in bundles if bundle.piece > 1})
    sizes = [*pieces, *(bundle.unit for bundle in bundles)]
    if not is_chain(sizes):
        return not (pieces or has_ranges) and round_sizes(sizes, capacity.free) is not None
    for size in pieces:
        cut = [bundle for bundle in bundles if bundle.unit > size and bundle.piece % size]
        compounds = [bundle for bundle in bundles if bundle.piece == size < bundle.unit]
        if (cut or compounds) and (has_ranges or not capacity.divides(size)):
            return False
    return True


class ReservationBound:
    """Upper bound per node on a reserved quantity, with all resources in use.

    Parameters
    ----------
    need : quantity for one process of a component.
    has : quantity of a node; None if unknown.
    """

    def __init__(self, parts: BundleLayout, need: Callable[[Component], int], has: Callable[[Node], int | None]) -> None:
        self._parts, self._need, self._has = parts, need, has
        self._any = any(need(component) for component in parts.problem.components)
        self._nested = any(parts.hosts.values())
        self._known = dict(self._counts())

    def _counts(self) -> Iterator[tuple[str, tuple[int, dict[int, int]]]]:
        """Yield (component, (need of a process, node -> processes)) of known places."""
        for component in self._parts.problem.components:
            runs = component.runs if component.runs is not None else self._parts.on_nodes.get(component.name)
            if self._need(component) and runs is not None:
                yield component.name, (self._need(component), Assignment({component.name: runs}).processes_on(component.name))

    def may_be_short(self, node: Node) -> bool:
        """Return True if processes on the node could need more than the node has."""
        has = self._has(node)
        if has is None or not self._any:
            return False
        total = sum(need * processes.get(node.rank, 0) for need, processes in self._known.values())
        return total + self._dealt + sum(node.count(kind) * density for kind, density in self._densest.items()) > has

    @cached_property
    def _dealt(self) -> int:
        """Need of all dealt processes, which could be on one node."""
        dealt = self._parts.dealt
        return sum(self._need(c) * dealt[c.name].processes for c in self._parts.problem.components if c.name in dealt)

    @cached_property
    def _densest(self) -> dict[str, Fraction]:
        """Kind of resource -> largest need of open components for one resource."""
        from fractions import Fraction

        densities: dict[str, list[Fraction]] = {}
        for members in self._parts.problem.colocated_sets:
            open_ = [c for c in members if c.name not in self._known and c.name not in self._parts.dealt]
            density = sum((Fraction(self._need(c), c.per_process) for c in open_), Fraction(0))
            densities.setdefault(self._parts.problem.kind(members[0]), []).append(density)
        # An accelerator is held by a single set, or by a set and the sets inside it.
        return {kind: sum(of_kind, Fraction(0)) if self._nested else max(of_kind) for kind, of_kind in densities.items()}


def reservations(parts: BundleLayout) -> tuple[ReservationBound, ReservationBound]:
    """Return the reservations of CPUs and of host memory."""
    return (
        ReservationBound(parts, lambda component: component.cpus, lambda node: node.cpus),
        ReservationBound(parts, lambda component: component.host_memory, lambda node: node.memory),
    )


def cells_of(parts: BundleLayout, pools: Sequence[NodePool], eligible: Eligible) -> tuple[Cell, ...]:
    """Return the cells of a problem in the order of their first nodes.

    Nodes of a cell have the same place in the topology, the same accelerators and the same
    memberships. A node is a cell of its own if a rule counts on it alone, or if rows over several
    nodes would not be exact.
    """
    single = list_single_cells(parts.problem) | {node for pool in find_shared_pools(pools) for node, mask in pool.free.items() if mask}
    single |= {node for masks in parts.enclosed.values() for node in masks}
    if parts.problem.previous is not None:
        candidates = (members for members in movable(parts.problem) if parts.problem.solid_in(members) is None)
        single |= {node for members in candidates for node, _ in survivors(parts.problem, members).at}
    reserves = reservations(parts)
    groups: list[tuple[Node, ...]] = []
    for nodes in _group_alike(parts):
        group: list[Node] = []
        for node in nodes:
            if node.rank in single or any(reservation.may_be_short(node) for reservation in reserves):
                groups.append((node,))
            else:
                group.append(node)
        groups += _exact_cells(group, pools, eligible)
    groups.sort(key=lambda nodes: nodes[0].rank)
    return tuple(Cell(index, nodes) for index, nodes in enumerate(groups))


def _exact_cells(nodes: list[Node], pools: Sequence[NodePool], eligible: Eligible) -> Iterator[tuple[Node, ...]]:
    """Yield identical nodes as cells with exact rows.

    All nodes form one cell if rows over all of them are exact. Otherwise nodes with even NUMA
    domains form one cell, and the others one cell per number of free resources, or cells of their
    own.
    """
    if len(nodes) < 2 or all(_is_exact(pool, nodes, eligible) for pool in pools):
        if nodes:
            yield tuple(nodes)
        return
    even = [node for node in nodes if all(_is_even(pool, node, eligible) for pool in pools)]
    if len(even) < 2 or not all(_is_exact(pool, even, eligible) for pool in pools):
        even = []
    ranks = {node.rank for node in even}
    if even:
        yield tuple(even)
    by_room: dict[tuple[int, ...], list[Node]] = {}
    for node in (node for node in nodes if node.rank not in ranks):
        by_room.setdefault(tuple(pool.free.get(node.rank, 0).bit_count() for pool in pools), []).append(node)
    for similar in by_room.values():
        if all(_is_exact(pool, similar, eligible) for pool in pools):
            yield tuple(similar)
        else:
            yield from ((node,) for node in similar)


def _is_even(pool: NodePool, node: Node, eligible: Eligible) -> bool:
    """Return True if the pool's pieces divide the free resources of every NUMA domain."""
    pieces = {bundle.piece for bundle in pool.counted if bundle.piece > 1 and node.rank in eligible[bundle]}
    capacity = CellCapacity(pool, [node])
    return all(capacity.divides(size) for size in pieces)


def _group_alike(parts: BundleLayout) -> Iterator[tuple[Node, ...]]:
    problem = parts.problem
    groups = sorted({component.node_groups for component in problem.components})
    members = [*(problem.cluster.members(labels) for labels in groups), *distinguished_nodes(problem)]
    sets = [node_set for node_set in dict.fromkeys(members) if len(node_set) < len(problem.cluster.nodes)]
    by_key: dict[tuple[object, ...], list[Node]] = {}
    for node in problem.cluster.nodes:
        belongs = tuple(node.rank in node_set for node_set in sets)
        key = (path(node), node.accelerator_model, node.accelerator_memory, len(node.accelerators) > 0, belongs)
        by_key.setdefault(key, []).append(node)
    yield from map(tuple, by_key.values())


def _is_exact(pool: NodePool, nodes: Sequence[Node], eligible: Eligible) -> bool:
    """Return True if rows over all nodes say exactly how the pool's bundles fit."""
    rank = nodes[0].rank
    if pool.host is not None:  # inner bundles need single nodes wherever the host may be
        return rank not in eligible[pool.host]
    bundles = [bundle for bundle in pool.counted if rank in eligible[bundle]]
    return is_exact(bundles, CellCapacity(pool, nodes), any(rank in eligible[bundle] for bundle in pool.ranged))


class SharedResources(NamedTuple):
    """Resources of a node, or the part of them in a range.

    Attributes
    ----------
    mask : the resources.
    around : the range that has them; None for all of them.
    inner : bundles inside no smaller range that can use nothing else of the node, and lie within no
        such bundle.
    ranges : ranges that may use other resources too, and lie inside no smaller range.
    """

    mask: int
    around: Bundle | None
    inner: tuple[Bundle, ...]
    ranges: tuple[Bundle, ...]


def find_shared_pools(pools: Sequence[NodePool]) -> tuple[NodePool, ...]:
    """Return the pools of kinds with partly shared resources, or ranges in counted bundles."""
    kinds = {pool.kind for pool in pools if (pool.host is not None and not pool.host.contiguous and pool.ranged) or _partly(pool, pools)}
    return tuple(pool for pool in pools if pool.kind in kinds)


def _partly(pool: NodePool, pools: Sequence[NodePool]) -> bool:
    """Return True if the pool shares part of its resources with a different pool."""
    different = (candidate for candidate in pools if candidate.kind == pool.kind and candidate.free != pool.free)
    return any(mask & candidate.free.get(node, 0) for candidate in different for node, mask in pool.free.items())


def is_countable(first: NodePool, second: NodePool) -> bool:
    """Return True if counts decide the fit beside ranges.

    On each node the resources of the two pools must be disjoint or nested, without NUMA domains.
    """
    solid = any(bundle.piece > 1 for pool in (first, second) for bundle in pool.bundles)
    return not solid and all(
        (mask & (second_mask := second.free.get(node, 0))) in (0, mask, second_mask) for node, mask in first.free.items()
    )


def enclosing_range(of: Mapping[Bundle, NodePool], bundle: Bundle) -> Bundle | None:
    """Return the smallest range around a bundle."""
    host = of[bundle].host
    while host is not None and not host.contiguous:
        host = of[host].host
    return host


def shared_resources(pools: Sequence[NodePool], node: int) -> Iterator[SharedResources]:
    """Yield sets of resources of a node for shared pools, smallest first, per range.

    In each set the ranges, and the bundles that can use nothing else, must hold together at most
    its resources; everything inside a bundle at most the resources of that bundle. Then all fit:
    after the ranges, the other bundles take what they may use, those with the fewest options first.
    Such a bundle finds there the resources already held inside it, and as many free ones as it
    still needs.
    """
    pool_of = {bundle: pool for pool in pools for bundle in pool.bundles}
    ring = {bundle: enclosing_range(pool_of, bundle) for bundle in pool_of}
    for mask in sorted({pool.free.get(node, 0) for pool in pools} - {0}, key=lambda value: (value.bit_count(), value)):
        may = {bundle for bundle, pool in pool_of.items() if not pool.free.get(node, 0) & ~mask}
        for around in dict.fromkeys(ring.values()):
            bundles_here = [bundle for bundle in pool_of if ring[bundle] is around]
            inner = tuple(bundle for bundle in bundles_here if bundle in may and pool_of[bundle].host not in may)
            yield SharedResources(mask, around, inner, tuple(bundle for bundle in bundles_here if bundle.contiguous and bundle not in may))


def masks_on_node(
    pools: Sequence[NodePool], node: int, demand: Mapping[Bundle, int], ranges: Mapping[Bundle, int]
) -> dict[Bundle, int] | None:
    """Return the masks of shared pools' bundles on a node; None without a fit.

    `demand`: resources of the counted bundles there. `ranges`: masks of the others.
    """
    pool_of = {bundle: pool for pool in pools for bundle in pool.bundles}
    masks = {bundle: ranges.get(bundle, 0) for bundle in pool_of}

    def inside(bundle: Bundle) -> int:
        """Return the resources already held inside a bundle."""
        return reduce(or_, (masks[inner] | inside(inner) for inner, pool in pool_of.items() if pool.host is bundle), 0)

    def take(bundle: Bundle, free_mask: int) -> None:
        """Take the resources held inside the bundle, then the lowest of those left.

        Bundles inside it with the same options take theirs next.
        """
        if not bundle.contiguous:
            held_inside = inside(bundle)
            masks[bundle] = held_inside | lowest(free_mask & ~held_inside, demand.get(bundle, 0) - held_inside.bit_count())
        for inner, pool in pool_of.items():
            if pool.host is bundle and pool.free.get(node, 0) == pool_of[bundle].free.get(node, 0):
                take(inner, masks[bundle] & ~inside(bundle))

    for mask, around, outermost, _ in shared_resources(pools, node):
        for bundle in (candidate for candidate in outermost if pool_of[candidate].free.get(node, 0) == mask):
            holder_masks = (masks[holder] for holder, pool in pool_of.items() if holder.contiguous or not pool.free.get(node, 0) & ~mask)
            free_mask = ~reduce(or_, holder_masks, 0) if around is None else masks[around] & ~inside(around)
            take(bundle, mask & free_mask)
    return masks if all(masks[bundle].bit_count() == demand.get(bundle, 0) for bundle in pool_of if not bundle.contiguous) else None
