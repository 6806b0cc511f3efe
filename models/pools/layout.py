"""Layout of pools: parts on single nodes, in the scheduler's order and preference.

Cost grows with stretches of alike nodes and with sizes of parts, not with accelerators or nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR
from ..placements.run import Repeat, Run, Runs
from ..record import dataclass
from .pool import Pool, PoolParts, Reserve

UNKNOWN_CPUS = 1 << 30
"""CPUs of a node with an unknown number of CPUs."""


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
class Unplaced:
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
    left : remaining capacity of the nodes.
    short : first part that did not fit; None if all fit.
    """

    placed: dict[str, list[tuple[range, int]]]
    left: tuple[FreeNodes, ...]
    short: Unplaced | None = None

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
            range(alike.node.rank, alike.stop), alike.node.free(ACCELERATOR), UNKNOWN_CPUS if alike.node.cpus is None else alike.node.cpus
        )
        for alike in cluster.alike
    )


def lay_out(pools: Sequence[Pool], rooms: Sequence[FreeNodes], reserves: Sequence[Reserve] = ()) -> PoolLayout:
    """Place every part in turn on the node with most capacity, the first of equals.

    Source: Ray, src/ray/raylet/scheduling/policy (STRICT_PACK takes the node that scores best,
    LeastResourceScorer the one with most left); the processes outside of the pools start first.
    """
    left = list(rooms)
    for reserve in reserves:
        _reserved(left, reserve)
    placed: dict[str, list[tuple[range, int]]] = {pool.name: [] for pool in pools}
    for pool in pools:
        done = 0
        for parts in pool.parts:
            wanted = parts.count
            while wanted and parts.size:
                position = max(range(len(left)), key=lambda index: left[index].largest(pool.cpus), default=-1)
                if position < 0 or left[position].largest(pool.cpus) < parts.size:
                    best = left[position] if position >= 0 else None
                    return PoolLayout(placed, tuple(left), Unplaced(pool, done + parts.count - wanted, parts.size, best))
                wanted -= _taken(left, position, parts.size, pool.cpus, wanted, placed[pool.name])
            done += parts.count
    return PoolLayout(placed, tuple(left))


def _reserved(left: list[FreeNodes], reserve: Reserve) -> bool:
    """Take the CPUs of a process from the first node with enough.

    Returns False if there is no such node.
    """
    for position, room in enumerate(left):
        if room.cpus >= reserve.cpus:
            if room.cpus < UNKNOWN_CPUS:
                used = FreeNodes(room.nodes[:1], room.free, room.cpus - reserve.cpus)
                left[position : position + 1] = [used, *_rest(room, 1)]
            return True
    return False


def _taken(left: list[FreeNodes], position: int, size: int, cpus: int, wanted: int, into: list[tuple[range, int]]) -> int:
    """Put parts on up to `wanted` nodes of a stretch; return their number."""
    room = left[position]
    count = min(wanted, len(room.nodes))
    mask = lowest(room.free, size)
    spent = room.cpus if room.cpus >= UNKNOWN_CPUS else room.cpus - size * cpus
    left[position : position + 1] = [FreeNodes(room.nodes[:count], room.free & ~mask, spent), *_rest(room, count)]
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


def apart(pools: Sequence[Pool]) -> tuple[tuple[PoolParts, ...], PoolLayout]:
    """Return (nodes, layout) with every part on a node of equal size."""
    nodes, placed, rank = list[PoolParts](), dict[str, list[tuple[range, int]]](), 0
    for pool in pools:
        placed[pool.name] = []
        for parts in pool.parts:
            nodes.append(parts)
            placed[pool.name].append((range(rank, rank + parts.count), (1 << parts.size) - 1))
            rank += parts.count
    return tuple(nodes), PoolLayout(placed, ())


def cut(runs: Runs, first: int, last: int) -> Runs:
    """Return the processes of a range of ranks, renumbered from 0."""
    repeats = []
    for run in runs:
        start, stop = max(run.ranks.start, first), min(run.ranks.stop, last + 1)
        if start < stop:
            repeats.append(Repeat((replace(run, ranks=range(start - first, stop - first), first=run.first + start - run.ranks.start),)))
    return Runs(repeats)


def machines_for(pools: Sequence[Pool], size: int, least: int | None = None) -> int:
    """Return the number of nodes of `size` accelerators for all parts.

    Each pool has as few parts per node as possible. The minimum is the part count of the largest
    pool, or `least`; more nodes only if parts do not fit. 0 if a part is larger than a node.
    """
    most = sum(pool.count for pool in pools)
    least = max((pool.count for pool in pools), default=0) if least is None else min(least, most)
    if any(parts.size > size for pool in pools for parts in pool.parts):
        return 0
    while least < most:
        middle = (least + most) // 2
        if lay_out(pools, [FreeNodes(range(middle), (1 << size) - 1)]).short:
            least = middle + 1
        else:
            most = middle
    return least


def as_parts(sizes: Sequence[int]) -> tuple[PoolParts, ...]:
    """Return the parts of a list of sizes, equal neighbours merged."""
    parts: list[PoolParts] = []
    for size in sizes:
        if parts and parts[-1].size == size:
            parts[-1] = PoolParts(size, parts[-1].count + 1)
        else:
            parts.append(PoolParts(size))
    return tuple(parts)
