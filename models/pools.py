"""Pools of accelerators in node-local parts, as in verl, and their layout on nodes.

Parts are placed in the scheduler's order and preference. Cost grows with stretches of alike nodes and
with sizes of parts, not with accelerators or nodes.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Iterator, Mapping, Sequence

from .findings.span import Span
from .machines.cluster import Cluster
from .machines.node import GENERIC, Node, Nodes, accelerators, numbered_nodes
from .machines.node_group import ACCELERATOR
from .machines.shorthand import DeclaredNodes
from .placements.run import Repeat, Run, Runs
from .record import dataclass


@dataclass(frozen=True, slots=True)
class PoolParts:
    """`count` parts of `size` accelerators; a part lies on a single node."""

    size: int
    count: int = 1

    def __str__(self) -> str:
        return f"{self.count} x {self.size}"


@dataclass(frozen=True, slots=True)
class Pool:
    """Accelerators reserved together, without named nodes.

    Attributes
    ----------
    parts : parts in order, equal neighbours merged.
    cpus : CPUs reserved with each accelerator.
    accelerators_key, nodes_key : keys of the part size and the part count; "" if a list states
        both.
    spans : places of the numbers: ``size``, ``count``, else the ``name``.
    """

    name: str
    parts: tuple[PoolParts, ...]
    cpus: int = 0
    components: tuple[str, ...] = ()
    accelerators_key: str = ""
    nodes_key: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)

    @property
    def size(self) -> int:
        """Number of accelerators: the world size."""
        return sum(parts.size * parts.count for parts in self.parts)

    @property
    def count(self) -> int:
        """Number of parts."""
        return sum(parts.count for parts in self.parts)

    @property
    def even(self) -> bool:
        """True if all parts have the same size."""
        return len({parts.size for parts in self.parts if parts.count}) <= 1

    def span(self, name: str) -> Span | None:
        """Return the place of a number; the place of the pool if unwritten."""
        return self.spans.get(name) or self.spans.get("name")

    @property
    def sizes(self) -> str:
        """Text of the parts: ``2 x 8``, or ``[4, 2]`` if sizes differ."""
        if self.even:
            return str(PoolParts(self.parts[0].size, self.count)) if self.parts else "0 x 0"
        sizes = [parts.size for parts in self.parts for _ in range(min(parts.count, 8))]
        return f"[{', '.join(map(str, sizes[:8]))}{', ...' if self.count > 8 else ''}]"


@dataclass(frozen=True, slots=True)
class Reserve:
    """Processes outside of the pools with reserved CPUs on any node.

    `spreads`: Ray spreads them over the nodes; else it takes the first node with enough.
    """

    name: str
    cpus: int
    count: int = 1
    spreads: bool = False


UNKNOWN_CPUS = 1 << 30
"""CPUs of a node with an unknown number of CPUs."""
MAX_RESERVED = 4_096
"""Most processes of a reserve that are placed one by one."""


@dataclass(frozen=True, slots=True)
class FreeNodes:
    """Free capacity per node of several alike nodes: accelerator bit mask and CPUs."""

    nodes: range
    free: int
    cpus: int = UNKNOWN_CPUS

    def largest(self, cpus: int) -> int:
        """Return the largest part that fits, with `cpus` CPUs per accelerator."""
        count = self.free.bit_count()
        return min(count, self.cpus // cpus) if cpus else count


@dataclass(frozen=True, slots=True)
class UnplacedPart:
    """Part without a fitting node: index in the pool (from 0), and the best node."""

    pool: Pool
    part: int
    size: int
    best: FreeNodes | None


@dataclass(frozen=True)
class PoolLayout:
    """Places of the parts.

    Attributes
    ----------
    placed : pool -> (nodes, bit mask of accelerators on each of them), in the order of placing.
    short : first part that did not fit; None if all fit.
    """

    placed: dict[str, list[tuple[range, int]]]
    left: tuple[FreeNodes, ...]
    short: UnplacedPart | None = None

    def runs(self, pool: str) -> Runs:
        """Return a process per accelerator of a pool, by node and order of placing."""
        parts = self.placed[pool]
        cuts = sorted({edge for nodes, _ in parts for edge in (nodes.start, nodes.stop)})
        repeats, rank = [], 0
        for start, stop in zip(cuts, cuts[1:]):
            runs, first = list[Run](), rank
            for nodes, mask in parts:
                if nodes.start <= start < nodes.stop:
                    for low, count in _solid(mask):
                        runs.append(Run(range(rank, rank + count), start, first=low))
                        rank += count
            if runs:
                repeats.append(Repeat(tuple(runs), stop - start))
                rank = first + (rank - first) * (stop - start)
        return Runs(repeats)


def rooms_of(cluster: Cluster) -> tuple[FreeNodes, ...]:
    """Return the free capacity of all nodes, in rank order."""
    return tuple(
        FreeNodes(
            range(stretch.node.rank, stretch.stop),
            stretch.node.free(ACCELERATOR),
            UNKNOWN_CPUS if stretch.node.cpus is None else stretch.node.cpus,
        )
        for stretch in cluster.alike
    )


def lay_out(pools: Sequence[Pool], rooms: Sequence[FreeNodes], reserves: Sequence[Reserve] = ()) -> PoolLayout:
    """Place every part in turn on the node with most capacity, the first of equals.

    Source: Ray, src/ray/raylet/scheduling/policy (STRICT_PACK takes the node that scores best,
    LeastResourceScorer the one with most left); the processes outside of the pools start first.
    """
    free_nodes = list(rooms)
    for reserve in reserves:
        for _ in range(min(reserve.count, MAX_RESERVED)):
            if not _reserve(free_nodes, reserve):
                break
    nodes_of_pools: dict[str, list[tuple[range, int]]] = {pool.name: [] for pool in pools}
    for pool in pools:
        count_before = 0
        for parts in pool.parts:
            remaining = parts.count
            while remaining and parts.size:
                position = max(range(len(free_nodes)), key=lambda index: free_nodes[index].largest(pool.cpus), default=-1)
                if position < 0 or free_nodes[position].largest(pool.cpus) < parts.size:
                    best = free_nodes[position] if position >= 0 else None
                    return PoolLayout(
                        nodes_of_pools, tuple(free_nodes), UnplacedPart(pool, count_before + parts.count - remaining, parts.size, best)
                    )
                remaining -= _take_parts(free_nodes, position, parts.size, pool.cpus, remaining, nodes_of_pools[pool.name])
            count_before += parts.count
    return PoolLayout(nodes_of_pools, tuple(free_nodes))


def _reserve(free_nodes: list[FreeNodes], reserve: Reserve) -> bool:
    """Take the CPUs of a process from a node with enough. False if there is none."""
    for position, room in sorted(enumerate(free_nodes), key=lambda item: -item[1].cpus if reserve.spreads else 0):
        if room.cpus >= reserve.cpus:
            if room.cpus < UNKNOWN_CPUS:
                first_node = FreeNodes(room.nodes[:1], room.free, room.cpus - reserve.cpus)
                free_nodes[position : position + 1] = [first_node, *_rest(room, 1)]
            return True
    return False


def _take_parts(free_nodes: list[FreeNodes], position: int, size: int, cpus: int, remaining: int, into: list[tuple[range, int]]) -> int:
    """Put parts on up to `remaining` nodes of a stretch; return their number."""
    room = free_nodes[position]
    count = min(remaining, len(room.nodes))
    mask = lowest(room.free, size)
    cpus_left = room.cpus if room.cpus >= UNKNOWN_CPUS else room.cpus - size * cpus
    free_nodes[position : position + 1] = [FreeNodes(room.nodes[:count], room.free & ~mask, cpus_left), *_rest(room, count)]
    into.append((room.nodes[:count], mask))
    return count


def _rest(room: FreeNodes, count: int) -> list[FreeNodes]:
    return [FreeNodes(room.nodes[count:], room.free, room.cpus)] if len(room.nodes) > count else []


def lowest(mask: int, count: int) -> int:
    """Return the lowest `count` bits of a mask."""
    bits = 0
    for _ in range(count):
        bit = mask & -mask
        bits, mask = bits | bit, mask & ~bit
    return bits


def _solid(mask: int) -> list[tuple[int, int]]:
    """Return (first, count) of every stretch of bits, ascending."""
    stretches = []
    while mask:
        low = (mask & -mask).bit_length() - 1
        count = (~(mask >> low) & (mask >> low) + 1).bit_length() - 1
        stretches.append((low, count))
        mask &= ~(((1 << count) - 1) << low)
    return stretches


def cut(runs: Runs, first: int, last: int) -> Runs:
    """Return the processes of a range of ranks, renumbered from 0."""
    repeats = []
    for run in runs:
        start, stop = max(run.ranks.start, first), min(run.ranks.stop, last + 1)
        if start < stop:
            repeats.append(Repeat((replace(run, ranks=range(start - first, stop - first), first=run.first + start - run.ranks.start),)))
    return Runs(repeats)


def machines_for(pools: Sequence[Pool], size: int, minimum: int | None = None) -> int:
    """Return the number of nodes of `size` accelerators for all parts.

    Each pool has as few parts per node as possible. The minimum is the part count of the largest
    pool, or `minimum`; more nodes only if parts do not fit. 0 if a part is larger than a node.
    """
    maximum = sum(pool.count for pool in pools)
    minimum = max((pool.count for pool in pools), default=0) if minimum is None else min(minimum, maximum)
    if any(parts.size > size for pool in pools for parts in pool.parts):
        return 0
    while minimum < maximum:
        middle = (minimum + maximum) // 2
        if lay_out(pools, [FreeNodes(range(middle), (1 << size) - 1)]).short:
            minimum = middle + 1
        else:
            maximum = middle
    return minimum


Ranges = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class DeclaredPools:
    """Pools of a job, in the framework's order of creation.

    Attributes
    ----------
    nodes : machines that the file states; () without any.
    ranges : first and last rank of components that run on a part of their pool.
    """

    pools: tuple[Pool, ...]
    nodes: tuple[PoolParts, ...] = ()
    ranges: Ranges = field(default_factory=dict)

    def size(self, component: str, pool: Pool) -> int:
        """Return the number of ranks of a component in a pool."""
        first, last = self.ranges.get(component, (0, pool.size - 1))
        return last - first + 1

    def runs(self, layout: PoolLayout) -> dict[str, Runs]:
        """Return component -> ranks in a layout."""
        return {
            name: cut(layout.runs(pool.name), *self.ranges[name]) if name in self.ranges else layout.runs(pool.name)
            for pool in self.pools
            for name in pool.components
        }


def lay_out_on(
    declaration: DeclaredPools, machines: Cluster | DeclaredNodes | None, reserves: Sequence[Reserve]
) -> tuple[Cluster, PoolLayout]:
    """Lay out the pools on given machines, stated nodes, or a node per part."""
    if isinstance(machines, Cluster):
        return machines, lay_out(declaration.pools, rooms_of(machines), reserves)
    if machines is not None and machines.count:
        declared_nodes = sum(parts.count for parts in declaration.nodes)
        count = max(machines_for(declaration.pools, machines.count), declared_nodes, *(pool.count for pool in declaration.pools), 0)
        cluster = _nodes_of((PoolParts(machines.count, count),), machines.model)
    elif declaration.nodes:
        cluster = _nodes_of(declaration.nodes)
    else:
        return one_node_each(declaration)
    return cluster, lay_out(declaration.pools, rooms_of(cluster))


def one_node_each(declaration: DeclaredPools) -> tuple[Cluster, PoolLayout]:
    """Lay out every part on a node of its own, of equal size."""
    nodes, nodes_of_pools, rank = list[PoolParts](), dict[str, list[tuple[range, int]]](), 0
    for pool in declaration.pools:
        nodes_of_pools[pool.name] = []
        for parts in pool.parts:
            nodes.append(parts)
            nodes_of_pools[pool.name].append((range(rank, rank + parts.count), (1 << parts.size) - 1))
            rank += parts.count
    return _nodes_of(nodes), PoolLayout(nodes_of_pools, ())


def _nodes_of(stretches: Sequence[PoolParts], model: str = GENERIC) -> Cluster:
    """Build a cluster of nodes; without nodes, the number of nodes is unknown."""
    groups, rank = [], 0
    for parts in stretches:
        if parts.count:
            groups.append(numbered_nodes(Node(rank, "", accelerators(parts.size, model)), parts.count))
            rank += parts.count
    return Cluster(Nodes(groups), counted=bool(groups))


MAX_NODES = 64
MAX_STATES = 20_000
Item = tuple[int, int]
"""(accelerators, CPUs) of a part on a node."""


class _TooMany(Exception):
    """Abort of a search after MAX_STATES states."""


def can_fit(pools: Sequence[Pool], rooms: Sequence[FreeNodes], reserves: Sequence[Reserve] = ()) -> bool | None:
    """Return True if all parts and reserves fit onto nodes, searched within a limit. Else None."""
    items = _items(pools, reserves)
    nodes = [(room.free.bit_count(), room.cpus) for room in rooms for _ in range(min(len(room.nodes), MAX_NODES + 1))]
    if _too_many(items, rooms):
        return False
    if len(nodes) > MAX_NODES:
        return None
    try:
        return _search(tuple(sorted(items.items(), reverse=True)), tuple(sorted(nodes, reverse=True)), set())
    except _TooMany:
        return None


def _items(pools: Sequence[Pool], reserves: Sequence[Reserve]) -> dict[Item, int]:
    items: dict[Item, int] = {}
    for pool in pools:
        for parts in pool.parts:
            item = (parts.size, parts.size * pool.cpus)
            items[item] = items.get(item, 0) + parts.count
    for reserve in reserves:
        item = (0, reserve.cpus)
        items[item] = items.get(item, 0) + reserve.count
    return items


def _too_many(items: dict[Item, int], rooms: Sequence[FreeNodes]) -> bool:
    """Return True if some size has more parts than the nodes can hold."""
    for size, cpus in items:
        demand = sum(count for (part_size, part_cpus), count in items.items() if part_size >= size and part_cpus >= cpus)
        capacity = sum(len(group.nodes) * _times(group.free.bit_count(), group.cpus, size, cpus) for group in rooms)
        if demand > capacity:
            return True
    need = sum(size * count for (size, _), count in items.items())
    cpus = sum(part_cpus * count for (_, part_cpus), count in items.items())
    return need > sum(len(group.nodes) * group.free.bit_count() for group in rooms) or cpus > sum(
        len(group.nodes) * group.cpus for group in rooms
    )


def _times(accelerators: int, cpus: int, size: int, part_cpus: int) -> int:
    """Return how often a part fits on a node."""
    return min(accelerators // size if size else UNKNOWN_CPUS, cpus // part_cpus if part_cpus else UNKNOWN_CPUS)


def _search(items: tuple[tuple[Item, int], ...], nodes: tuple[Item, ...], tried_states: set[object]) -> bool:
    """Return True if the items fit: fill the first node in every maximal way, then the rest."""
    if not any(count for _, count in items):
        return True
    if not nodes or (items, len(nodes)) in tried_states:
        return False
    tried_states.add((items, len(nodes)))
    if len(tried_states) > MAX_STATES:
        raise _TooMany
    return any(_search(rest, nodes[1:], tried_states) for rest in _fillings(items, 0, *nodes[0]))


def _fillings(items: tuple[tuple[Item, int], ...], position: int, accelerators: int, cpus: int) -> Iterator[tuple[tuple[Item, int], ...]]:
    """Yield the remaining parts for every way to fill a node; the fullest first."""
    if position == len(items):
        yield items
        return
    (size, part_cpus), count = items[position]
    for parts_here in range(min(count, _times(accelerators, cpus, size, part_cpus)), -1, -1):
        rest = (*items[:position], ((size, part_cpus), count - parts_here), *items[position + 1 :])
        yield from _fillings(rest, position + 1, accelerators - parts_here * size, cpus - parts_here * part_cpus)


MOST_TRIED = 1024
"""Limit on tried layouts; feasibility beyond is unknown."""
Shape = tuple[PoolParts, ...]


@dataclass(frozen=True)
class Laying:
    """Pools in the framework's order of reservation; open pools have no parts."""

    pools: tuple[Pool, ...]
    reserves: tuple[Reserve, ...] = ()

    def lay_out(self, sizes: Mapping[str, int], cluster: Cluster) -> Iterator[dict[str, Runs] | None]:
        """Yield component -> ranks for every division of the open pools into equal parts.

        `sizes` are those of the open pools, by the names of their first components. Fewer and
        larger parts come first. The last item is None if not all divisions are tried.
        """
        rooms = rooms_of(cluster)
        shapes = self._shapes(sizes, rooms)
        for number, layout in enumerate(self._layouts(shapes, (), rooms)):
            if number == MOST_TRIED:
                yield None
                return
            if len(layout.placed) == len(self.pools) and layout.short is None:
                yield {name: layout.runs(pool.name) for pool in self.pools for name in pool.components}

    def _shapes(self, sizes: Mapping[str, int], rooms: Sequence[FreeNodes]) -> list[list[Shape]]:
        """Return the divisions of every pool into equal parts."""
        return [[pool.parts] if pool.parts else list(_shapes(sizes[pool.components[0]], rooms)) for pool in self.pools]

    def _layouts(self, shapes: Sequence[Sequence[Shape]], prefix: tuple[Shape, ...], rooms: Sequence[FreeNodes]) -> Iterator[PoolLayout]:
        """Yield the layouts of the first pools, extended pool by pool."""
        if len(prefix) == len(shapes):
            return
        for parts in shapes[len(prefix)]:
            shapes_so_far = (*prefix, parts)
            layout = lay_out([replace(pool, parts=shape) for pool, shape in zip(self.pools, shapes_so_far)], rooms, self.reserves)
            yield layout
            if layout.short is None:
                yield from self._layouts(shapes, shapes_so_far, rooms)


def _shapes(size: int, rooms: Sequence[FreeNodes]) -> Iterator[Shape]:
    """Yield equal parts, the fewest first; several may lie on one node."""
    free = [(room.free.bit_count(), len(room.nodes)) for room in rooms]
    for count in range(1, size + 1):
        if size % count == 0 and fitting(free, size // count) >= count:
            yield (PoolParts(size // count, count),)


def fitting(free: Sequence[tuple[int, int]], size: int) -> int:
    """Return how many parts of a size fit; `free` are (accelerators, nodes with so many)."""
    return sum(accelerators // size * nodes for accelerators, nodes in free)
