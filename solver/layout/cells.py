"""Cells: nodes that nothing tells apart, with one exact row for each size of group.

If the sizes form a divisor chain, groups fit on nodes with f_n free resources exactly if for every size s the groups of size s or more
take together, in pieces of s, no more than the sum of floor(f_n / s): placed largest first, a group of size t takes exactly t / s of the
pieces of s that there are, and a group of size s fits wherever one such piece is left.

Sizes that form no chain may be rounded up to some that do, where on these nodes that rules out nothing: beside groups of 3 a group of 8
takes all of a node of 8, and 9 of one of 12.

With NUMA domains there are two kinds of holders. A piece of size p that lies inside a NUMA domain is counted by the sum of
floor(f_d / p) over domains. That stays exact as long as whatever is placed before it takes exact multiples of p out of each domain: groups
that themselves consist of multiples of p inside domains do; others only where every domain has a multiple of p.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache, reduce
from operator import or_
from typing import Callable, Collection, Iterable, Iterator, Mapping, NamedTuple, Sequence

from ...models.component import Component
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.machines.topology import domain, numa_masks, path
from ...models.placements.assignment import Assignment
from ...models.record import dataclass
from .bundle import Bundle
from .parts import Neighbours, Parts, alone, lowest, told_apart
from .pools import Pool

Eligible = Mapping[Bundle, frozenset[int]]
"""Bundle -> the ranks of the nodes where it may be."""


@dataclass(frozen=True, eq=False)
class Cell:
    """Nodes that nothing in the problem tells apart. Two cells are the same only if they are the same object."""

    index: int
    nodes: tuple[Node, ...]

    @property
    def name(self) -> str:
        """A name for messages and logs."""
        first, last = self.nodes[0], self.nodes[-1]
        return first.name if first is last else f"{first.name}..{last.name}"

    def domain(self, level: str) -> str:
        """The domain of a topology level that all its nodes are in."""
        return domain(self.nodes[0], level)


def numa_domains(node: Node, kind: str) -> tuple[int, ...]:
    """The resources of each NUMA domain of a node as bit masks; what is no accelerator is in one domain."""
    return numa_masks(node) if kind == ACCELERATOR else (node.whole(kind),)


class Room:
    """What a pool has on some nodes: how many of its resources are on a node, or in a NUMA domain, and how often."""

    def __init__(self, pool: Pool, nodes: Iterable[Node]) -> None:
        self._pool, self._nodes = pool, tuple(nodes)
        self._on_nodes = Counter(pool.free.get(node.rank, 0).bit_count() for node in self._nodes)
        self._in_numa: Counter[int] | None = None

    @property
    def _numa(self) -> Counter[int]:
        if self._in_numa is None:
            free, kind = self._pool.free, self._pool.kind
            found = ((free.get(node.rank, 0) & mask).bit_count() for node in self._nodes for mask in numa_domains(node, kind))
            self._in_numa = Counter(found)
        return self._in_numa

    def pieces(self, size: int, inside_numa: bool = False) -> int:
        """How many pieces there is room for: the sum of floor(free / size)."""
        held = self._numa if inside_numa else self._on_nodes
        return sum(free // size * count for free, count in held.items())

    @property
    def free(self) -> Collection[int]:
        """How many resources are free on a node, every number that occurs."""
        return self._on_nodes.keys()

    def divides(self, size: int) -> bool:
        """Is what is free in every NUMA domain a multiple of the size?"""
        return not any(free % size for free in self._numa)


def is_chain(sizes: Iterable[int]) -> bool:
    """Does every size divide the next larger one?"""
    ordered = sorted(set(sizes))
    return all(large % small == 0 for small, large in zip(ordered, ordered[1:]))


def rounded(sizes: Iterable[int], free: Iterable[int]) -> Mapping[int, int] | None:
    """Round sizes up to a divisor chain that leaves all that fits on nodes with so much free; None if none does."""
    return _rounded(tuple(sorted(set(sizes))), tuple(sorted(set(free))))


@lru_cache(1024)
def _rounded(sizes: Sequence[int], free: Sequence[int]) -> Mapping[int, int] | None:
    room = free[-1] if free else 0
    small = [size for size in sizes if size <= room]
    chains = (dict(zip(small, chain)) for chain in _chains(small, 1, room))
    found = next((chain for chain in chains if all(_most(chain, each) <= each for each in free)), None)
    return None if found is None else {size: found.get(size, size) for size in sizes}


def _chains(sizes: Sequence[int], before: int, most: int) -> Iterator[tuple[int, ...]]:
    """All that ascending sizes can be rounded up to, each a multiple of the one before it, those that grow least first."""
    if not sizes:
        yield ()
        return
    for size in range(-(-sizes[0] // before) * before, most + 1, before):
        yield from ((size, *rest) for rest in _chains(sizes[1:], size, most))


def _most(chain: Mapping[int, int], free: int) -> int:
    """The most that groups which fit on a node take there once they are rounded up."""
    most = [0] * (free + 1)
    for room in range(1, free + 1):
        most[room] = max([most[room - 1], *(size + most[room - unit] for unit, size in chain.items() if unit <= room)])
    return most[free]


def is_exact(bundles: Sequence[Bundle], room: Room, ranged: bool, moved: bool = False) -> bool:
    """Do rows say exactly what fits of these counted bundles on several nodes together?

    Parameters
    ----------
    ranged : ranges may take any part of these nodes first.
    moved : so may groups that stay where they were.
    """
    pieces = sorted({bundle.piece for bundle in bundles if bundle.piece > 1})
    sizes = [*pieces, *(bundle.unit for bundle in bundles)]
    if not is_chain(sizes):
        return not (pieces or ranged or moved) and rounded(sizes, room.free) is not None
    for size in pieces:
        cut = [bundle for bundle in bundles if bundle.unit > size and bundle.piece % size]
        composed = [bundle for bundle in bundles if bundle.piece == size < bundle.unit]
        if (cut or composed) and (ranged or not room.divides(size)):
            return False
    return True


class Reserved:
    """The most that could be reserved on each node of something that processes need, if all its resources were used.

    Parameters
    ----------
    need : how much of it one process of a component needs.
    has : how much a node has; None if that is unknown.
    """

    def __init__(
        self,
        parts: Parts,
        need: Callable[[Component], int],
        has: Callable[[Node], int | None],
    ) -> None:
        self._parts, self._need, self._has = parts, need, has
        self._any = any(need(component) for component in parts.problem.components)
        self._nested = any(parts.hosts.values())
        self._known = {name: its for members in parts.problem.colocated_sets for name, its in self._counts(members)} if self._any else {}

    def _counts(self, members: tuple[Component, ...]) -> Iterator[tuple[str, dict[int, int]]]:
        """Component -> node rank -> processes, of those whose place is known."""
        for component in members:
            runs = component.runs if component.runs is not None else self._parts.on_nodes.get(component.name)
            if self._need(component) and runs is not None:
                yield component.name, Assignment({component.name: runs}).processes_on(component.name)

    def may_be_short(self, node: Node) -> bool:
        """Could what is placed on the node need more than it has?"""
        has = self._has(node)
        if has is None or not self._any:
            return False
        from fractions import Fraction

        known, densest = 0, dict[str, list[Fraction]]()
        for members in self._parts.problem.colocated_sets:
            its = [component for component in members if self._need(component)]
            known += sum(self._need(c) * self._known[c.name].get(node.rank, 0) for c in its if c.name in self._known)
            # all that are dealt out could be on one node
            known += sum(self._need(c) * self._parts.dealt[c.name].processes for c in its if c.name in self._parts.dealt)
            open_ = [c for c in its if c.name not in self._known and c.name not in self._parts.dealt]
            each = sum((Fraction(self._need(c), c.per_process) for c in open_), Fraction(0))
            densest.setdefault(self._parts.problem.kind(members[0]), []).append(each)
        # An accelerator is held by one of these sets, or by one and those that lie within it.
        most = [node.count(kind) * (sum(its) if self._nested else max(its)) for kind, its in densest.items()]
        return known + sum(most) > has


def reservations(parts: Parts) -> tuple[Reserved, Reserved]:
    """CPUs and host memory."""
    return (
        Reserved(parts, lambda component: component.cpus, lambda node: node.cpus),
        Reserved(parts, lambda component: component.host_memory, lambda node: node.memory),
    )


def cells_of(parts: Parts, pools: Sequence[Pool], eligible: Eligible) -> tuple[Cell, ...]:
    """The cells of a problem, in the order of their first nodes.

    Nodes of a cell have the same place in the topology, the same accelerators and the same memberships. A node is a cell of its own
    where a rule counts on it alone, or where rows over several nodes would not be exact.
    """
    single = alone(parts.problem) | {node for pool in shared(pools) for node, mask in pool.free.items() if mask}
    single |= {node for masks in parts.enclosed.values() for node in masks}
    reserved = reservations(parts)
    found: list[tuple[Node, ...]] = []
    for nodes in _alike(parts):
        together: list[Node] = []
        for node in nodes:
            if node.rank in single or any(each.may_be_short(node) for each in reserved):
                found.append((node,))
            else:
                together.append(node)
        found += _exact_cells(together, pools, eligible, parts.problem.previous is not None)
    found.sort(key=lambda nodes: nodes[0].rank)
    return tuple(Cell(index, nodes) for index, nodes in enumerate(found))


def _exact_cells(nodes: list[Node], pools: Sequence[Pool], eligible: Eligible, moved: bool) -> Iterator[tuple[Node, ...]]:
    """Nodes that nothing tells apart as one cell if rows over all of them are exact.

    Else those whose NUMA domains are even as one, the others that have equally much free as one each, or each alone.
    """
    if len(nodes) < 2 or all(_is_exact(pool, nodes, eligible, moved) for pool in pools):
        if nodes:
            yield tuple(nodes)
        return
    even = [node for node in nodes if all(_is_even(pool, node, eligible) for pool in pools)]
    if len(even) < 2 or not all(_is_exact(pool, even, eligible, moved) for pool in pools):
        even = []
    ranks = {node.rank for node in even}
    if even:
        yield tuple(even)
    by_room: dict[tuple[int, ...], list[Node]] = {}
    for node in (node for node in nodes if node.rank not in ranks):
        by_room.setdefault(tuple(pool.free.get(node.rank, 0).bit_count() for pool in pools), []).append(node)
    for its in by_room.values():
        if all(_is_exact(pool, its, eligible, moved) for pool in pools):
            yield tuple(its)
        else:
            yield from ((node,) for node in its)


def _is_even(pool: Pool, node: Node, eligible: Eligible) -> bool:
    """Has every NUMA domain of the node a multiple of all pieces that lie inside one?"""
    pieces = {bundle.piece for bundle in pool.counted if bundle.piece > 1 and node.rank in eligible[bundle]}
    room = Room(pool, [node])
    return all(room.divides(size) for size in pieces)


def _alike(parts: Parts) -> Iterator[tuple[Node, ...]]:
    problem = parts.problem
    groups = sorted({component.node_groups for component in problem.components})
    members = [*(problem.cluster.members(labels) for labels in groups), *told_apart(problem)]
    sets = [its for its in dict.fromkeys(members) if len(its) < len(problem.cluster.nodes)]
    in_order = list(_stretches(parts))
    keyed: dict[tuple[object, ...], list[Node]] = {}
    for node in problem.cluster.nodes:
        belongs = tuple(node.rank in its for its in sets)
        turns = tuple(number[node.rank] for number in in_order)
        key = (path(node), node.accelerator_model, node.accelerator_memory, len(node.accelerators) > 0, belongs, turns)
        keyed.setdefault(key, []).append(node)
    yield from map(tuple, keyed.values())


def _stretches(parts: Parts) -> Iterator[list[int]]:
    """For each level whose domains take turns where ranks must follow the nodes and are kept together in them: the turn of every node."""
    if not parts.problem.job.capabilities.nodes_in_order:
        return
    neighbours = Neighbours(parts.problem.cluster)
    for level in dict.fromkeys(level for bundle in parts.counted for level, _ in bundle.wholes):
        turns = [ranks for _, ranks in neighbours.stretches(level)]
        yield [number for number, ranks in enumerate(turns) for _ in ranks]


def _is_exact(pool: Pool, nodes: Sequence[Node], eligible: Eligible, moved: bool) -> bool:
    """Do rows over all these nodes say exactly what of the pool fits on them?"""
    rank = nodes[0].rank
    if pool.host is not None:  # it is searched where the host itself is
        return rank not in eligible[pool.host]
    here = [bundle for bundle in pool.counted if rank in eligible[bundle]]
    return is_exact(here, Room(pool, nodes), any(rank in eligible[bundle] for bundle in pool.ranged), moved)


class SharedRoom(NamedTuple):
    """Some resources of a node, or those of them that a range has.

    Attributes
    ----------
    mask : which these are.
    around : the range whose they are; None for all of them.
    inner : the bundles inside no smaller range that can be on no others of the node, and lie within none such.
    ranges : those that are one range, may be on others too, and lie inside no smaller range.
    """

    mask: int
    around: Bundle | None
    inner: tuple[Bundle, ...]
    ranges: tuple[Bundle, ...]


def shared(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """The pools of the kinds of which some may use given resources in part, or of which ranges lie within what is counted."""
    kinds = {pool.kind for pool in pools if (pool.host is not None and not pool.host.contiguous and pool.ranged) or _partly(pool, pools)}
    return tuple(pool for pool in pools if pool.kind in kinds)


def _partly(pool: Pool, pools: Sequence[Pool]) -> bool:
    """May others use some of its resources, and not just the same?"""
    others = (each for each in pools if each.kind == pool.kind and each.free != pool.free)
    return any(mask & each.free.get(node, 0) for each in others for node, mask in pool.free.items())


def is_countable(one: Pool, other: Pool) -> bool:
    """Do numbers say what fits beside ranges? On each node the resources of one must be among those of the other, or none; no NUMA domains."""
    solid = any(bundle.piece > 1 for pool in (one, other) for bundle in pool.bundles)
    return not solid and all((mask & (its := other.free.get(node, 0))) in (0, mask, its) for node, mask in one.free.items())


def ring_of(of: Mapping[Bundle, Pool], bundle: Bundle) -> Bundle | None:
    """The smallest range that a bundle lies within."""
    host = of[bundle].host
    while host is not None and not host.contiguous:
        host = of[host].host
    return host


def rooms(pools: Sequence[Pool], node: int) -> Iterator[SharedRoom]:
    """The sets of resources of a node that bundles of shared pools may use, the fewest first, and what ranges have of each.

    If in each of them the ranges and the bundles that can be on no others have together no more than there is, and what lies within a
    bundle no more than that has, all fit: after the ranges the others take what they may use, those first that may use the fewest.
    Each finds there what is held by then of what lies within it, and as many more as it needs that nobody has.
    """
    of = {bundle: pool for pool in pools for bundle in pool.bundles}
    ring = {bundle: ring_of(of, bundle) for bundle in of}
    for mask in sorted({pool.free.get(node, 0) for pool in pools} - {0}, key=lambda its: (its.bit_count(), its)):
        may = {bundle for bundle, pool in of.items() if not pool.free.get(node, 0) & ~mask}
        for around in dict.fromkeys(ring.values()):
            its = [bundle for bundle in of if ring[bundle] is around]
            inner = tuple(bundle for bundle in its if bundle in may and of[bundle].host not in may)
            yield SharedRoom(mask, around, inner, tuple(bundle for bundle in its if bundle.contiguous and bundle not in may))


def held_on(pools: Sequence[Pool], node: int, wanted: Mapping[Bundle, int], ranges: Mapping[Bundle, int]) -> dict[Bundle, int] | None:
    """What each bundle of shared pools holds of a node, as a bit mask; None where it does not fit.

    `wanted` : how much each counted one holds there.
    `ranges` : what each of the others does.
    """
    of = {bundle: pool for pool in pools for bundle in pool.bundles}
    held = {bundle: ranges.get(bundle, 0) for bundle in of}

    def inside(bundle: Bundle) -> int:
        """What is held by then of what lies within a bundle."""
        return reduce(or_, (held[inner] | inside(inner) for inner, pool in of.items() if pool.host is bundle), 0)

    def take(bundle: Bundle, left: int) -> None:
        """What is held within it already, and the lowest of what is left; then those take theirs that may use the same and lie within it."""
        if not bundle.contiguous:
            its = inside(bundle)
            held[bundle] = its | lowest(left & ~its, wanted.get(bundle, 0) - its.bit_count())
        for inner, pool in of.items():
            if pool.host is bundle and pool.free.get(node, 0) == of[bundle].free.get(node, 0):
                take(inner, held[bundle] & ~inside(bundle))

    for mask, around, outermost, _ in rooms(pools, node):
        for bundle in (each for each in outermost if of[each].free.get(node, 0) == mask):
            taken = (held[each] for each, pool in of.items() if each.contiguous or not pool.free.get(node, 0) & ~mask)
            left = ~reduce(or_, taken, 0) if around is None else held[around] & ~inside(around)
            take(bundle, mask & left)
    return held if all(held[bundle].bit_count() == wanted.get(bundle, 0) for bundle in of if not bundle.contiguous) else None
