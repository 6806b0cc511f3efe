"""Pools onto nodes: each part on one node, in the order and by the preference of the scheduler that places them.

Cost grows with stretches of alike nodes and with sizes of parts, not with accelerators or nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR
from ..placements.run import Repeat, Run, Runs
from ..record import dataclass
from .pool import Parts, Pool, Reserve

UNLIMITED = 1 << 30
"""The CPUs of a node of which nobody said how many it has."""


@dataclass(frozen=True, slots=True)
class Room:
    """What is left on each of `nodes`, which are alike: accelerators as a bit mask, and CPUs."""

    nodes: range
    free: int
    cpus: int = UNLIMITED

    def largest(self, cpus: int) -> int:
        """The largest part that fits, where each accelerator takes so many CPUs with it."""
        count = self.free.bit_count()
        return min(count, self.cpus // cpus) if cpus else count


@dataclass(frozen=True, slots=True)
class Short:
    """A part for which no node had room: the how-many-eth of its pool it is (from 0), and the node that had most left."""

    pool: Pool
    part: int
    size: int
    best: Room | None


@dataclass(frozen=True)
class Layout:
    """Where the parts are: per pool (nodes, accelerators on each of them as a bit mask) in the order of placing.

    `short` is the first part that found no room; None where all have. `left` is what remains on the nodes.
    """

    placed: dict[str, list[tuple[range, int]]]
    left: tuple[Room, ...]
    short: Short | None = None

    def runs(self, pool: str) -> Runs:
        """One process on each accelerator of a pool, in the order of the nodes, on one node in the order of placing."""
        its = self.placed[pool]
        cuts = sorted({edge for nodes, _ in its for edge in (nodes.start, nodes.stop)})
        repeats, rank = [], 0
        for start, stop in zip(cuts, cuts[1:]):
            runs, first = list[Run](), rank
            for nodes, mask in its:
                if nodes.start <= start < nodes.stop:
                    for low, count in _solid(mask):
                        runs.append(Run(range(rank, rank + count), start, first=low))
                        rank += count
            if runs:
                repeats.append(Repeat(tuple(runs), stop - start))
                rank = first + (rank - first) * (stop - start)
        return Runs(repeats)


def rooms_of(cluster: Cluster) -> tuple[Room, ...]:
    """What all nodes of a cluster have to give, in rank order."""
    return tuple(
        Room(range(its.node.rank, its.stop), its.node.free(ACCELERATOR), UNLIMITED if its.node.cpus is None else its.node.cpus)
        for its in cluster.alike
    )


def lay_out(pools: Sequence[Pool], rooms: Sequence[Room], reserves: Sequence[Reserve] = ()) -> Layout:
    """Every part in turn on the node that has most room left, of equal ones on the first.

    Source: Ray, src/ray/raylet/scheduling/policy (STRICT_PACK takes the node that scores best, LeastResourceScorer the one with most
    left); the processes beside the pools start first.
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
                position = max(range(len(left)), key=lambda at: left[at].largest(pool.cpus), default=-1)
                if position < 0 or left[position].largest(pool.cpus) < parts.size:
                    best = left[position] if position >= 0 else None
                    return Layout(placed, tuple(left), Short(pool, done + parts.count - wanted, parts.size, best))
                wanted -= _taken(left, position, parts.size, pool.cpus, wanted, placed[pool.name])
            done += parts.count
    return Layout(placed, tuple(left))


def _reserved(left: list[Room], reserve: Reserve) -> bool:
    """Takes the CPUs of a process from the first node that has them."""
    for position, room in enumerate(left):
        if room.cpus >= reserve.cpus:
            if room.cpus < UNLIMITED:
                one = Room(room.nodes[:1], room.free, room.cpus - reserve.cpus)
                left[position : position + 1] = [one, *_rest(room, 1)]
            return True
    return False


def _taken(left: list[Room], position: int, size: int, cpus: int, wanted: int, into: list[tuple[range, int]]) -> int:
    """Puts a part on each of as many nodes of a stretch as are wanted; how many that were."""
    room = left[position]
    count = min(wanted, len(room.nodes))
    mask = lowest(room.free, size)
    spent = room.cpus if room.cpus >= UNLIMITED else room.cpus - size * cpus
    left[position : position + 1] = [Room(room.nodes[:count], room.free & ~mask, spent), *_rest(room, count)]
    into.append((room.nodes[:count], mask))
    return count


def _rest(room: Room, count: int) -> list[Room]:
    return [Room(room.nodes[count:], room.free, room.cpus)] if len(room.nodes) > count else []


def lowest(mask: int, count: int) -> int:
    """The lowest `count` bits of a mask."""
    found = 0
    for _ in range(count):
        bit = mask & -mask
        found, mask = found | bit, mask & ~bit
    return found


def _solid(mask: int) -> list[tuple[int, int]]:
    """(first, count) of every stretch of bits, ascending."""
    found = []
    while mask:
        low = (mask & -mask).bit_length() - 1
        count = (~(mask >> low) & (mask >> low) + 1).bit_length() - 1
        found.append((low, count))
        mask &= ~(((1 << count) - 1) << low)
    return found


def apart(pools: Sequence[Pool]) -> tuple[tuple[Parts, ...], Layout]:
    """Every part on a node of its own, which has just its accelerators: these nodes, and where the parts are."""
    nodes, placed, rank = list[Parts](), dict[str, list[tuple[range, int]]](), 0
    for pool in pools:
        placed[pool.name] = []
        for parts in pool.parts:
            nodes.append(parts)
            placed[pool.name].append((range(rank, rank + parts.count), (1 << parts.size) - 1))
            rank += parts.count
    return tuple(nodes), Layout(placed, ())


def cut(runs: Runs, first: int, last: int) -> Runs:
    """The processes of these ranks alone, their own ranks from 0."""
    kept = []
    for run in runs:
        start, stop = max(run.ranks.start, first), min(run.ranks.stop, last + 1)
        if start < stop:
            kept.append(Repeat((replace(run, ranks=range(start - first, stop - first), first=run.first + start - run.ranks.start),)))
    return Runs(kept)


def machines_for(pools: Sequence[Pool], size: int, least: int | None = None) -> int:
    """How many nodes of `size` accelerators hold these parts, each pool with as few parts on one node as can be.

    As many as the largest pool has parts, or as `least` says, more only where they have no room; 0 where a part is larger than a node.
    """
    most = sum(pool.count for pool in pools)
    least = max((pool.count for pool in pools), default=0) if least is None else min(least, most)
    if any(parts.size > size for pool in pools for parts in pool.parts):
        return 0
    while least < most:
        middle = (least + most) // 2
        if lay_out(pools, [Room(range(middle), (1 << size) - 1)]).short:
            least = middle + 1
        else:
            most = middle
    return least


def as_parts(sizes: Sequence[int]) -> tuple[Parts, ...]:
    """Parts of a list of sizes, equal neighbours as one."""
    found: list[Parts] = []
    for size in sizes:
        if found and found[-1].size == size:
            found[-1] = Parts(size, found[-1].count + 1)
        else:
            found.append(Parts(size))
    return tuple(found)
