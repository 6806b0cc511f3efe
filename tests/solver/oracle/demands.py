"""What each documented demand means, on places that are known: the definitions of the oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import Iterator, Mapping, Sequence

from .words import ACCELERATOR, NODE, SAME, Cluster, Job, Kept, Wish

Process = tuple[int, tuple[int, ...]]
"""The node of a process, and the seats that it holds."""


@dataclass(frozen=True)
class Held:
    """What one component holds: seats, how many on each node, processes on each node and in rank order, where that is known.

    `several` says how many processes hold a seat that not one alone holds.
    """

    mask: int
    seats_on: tuple[int, ...]
    processes_on: tuple[int, ...]
    processes: tuple[Process, ...] = ()
    several: tuple[tuple[int, int], ...] = ()

    @property
    def total(self) -> int:
        """How many seats it holds, or how many processes where nodes are the resource."""
        return self.mask.bit_count() if self.mask else sum(self.processes_on)

    @property
    def order(self) -> tuple[int, ...]:
        """The seats in rank order."""
        return tuple(seat for _, seats in self.processes for seat in seats)

    def amounts(self, cluster: Cluster, level: str) -> Counter[object]:
        """How much of it is in each domain of a level that has some."""
        found: Counter[object] = Counter()
        for node, amount in enumerate(self.seats_on if self.mask else self.processes_on):
            if amount:
                found[cluster.domain(level, node)] += amount
        return found


Helds = Mapping[str, Held]


def held_of(cluster: Cluster, processes: Sequence[Process]) -> Held:
    """What these processes hold. One on seats of several nodes counts for the first of them."""
    mask, on, seats_on = 0, [0] * len(cluster.machines), [0] * len(cluster.machines)
    loads: Counter[int] = Counter()
    for node, seats in processes:
        on[node] += 1
        loads.update(seats)
    for seat in loads:
        mask |= 1 << seat
        seats_on[cluster.seats[seat].node] += 1
    return Held(mask, tuple(seats_on), tuple(on), tuple(processes), tuple((seat, load) for seat, load in loads.items() if load > 1))


def held_as_set(cluster: Cluster, wish: Wish, mask: int) -> Held:
    """What a component holds of which only the set of seats is known."""
    seats_on = [0] * len(cluster.machines)
    for bit, seat in enumerate(cluster.seats):
        seats_on[seat.node] += mask >> bit & 1
    return Held(mask, tuple(seats_on), tuple(amount // wish.per for amount in seats_on))


# -- one component: where it is


def usable(cluster: Cluster, wish: Wish) -> int:
    """The seats that a component may hold: of its groups, kind and model, not excluded, not taken by other jobs."""
    mask = 0
    for bit, seat in enumerate(cluster.seats):
        fits = seat.kind == wish.kind and seat.node in wish.nodes and seat.node not in wish.excluded and seat.free
        if fits and wish.model in ("", cluster.machines[seat.node].model):
            mask |= 1 << bit
    return mask


def nodes_for(wish: Wish) -> list[int]:
    """The nodes on which processes may be that hold nothing of them."""
    return [node for node in wish.nodes if node not in wish.excluded]


def wrong_place(cluster: Cluster, wish: Wish, held: Held) -> Iterator[str]:
    """What a component's own demands refuse, whatever the order of its ranks."""
    if wish.kind == NODE:
        allowed = nodes_for(wish)
        if any(amount and node not in allowed for node, amount in enumerate(held.processes_on)):
            yield "place"
    elif held.mask & ~usable(cluster, wish):
        yield "place"
    yield from _amount(wish, held)
    for level, domains, percent in wish.spreads:
        amounts = held.amounts(cluster, level)
        size = 1 if wish.kind == NODE else wish.group
        most = size * ceil(percent * held.total / size / 100)
        if len(amounts) < domains or max(amounts.values()) > most:
            yield "spread"
    for kept in wish.keeps:
        if kept.group == "component" and kept.required and cut(cluster, wish, kept, held):
            yield "keep"


def _amount(wish: Wish, held: Held) -> Iterator[str]:
    if not held.total:
        yield "count"
    elif wish.kind == NODE or (wish.counted == "processes" and held.processes):
        amount = sum(held.processes_on) * (1 if wish.kind == NODE else wish.per)
        if wish.counts and amount not in wish.counts:
            yield "count"
    elif wish.counts and held.total not in wish.counts:
        yield "count"
    if wish.kind != NODE and held.total % wish.unit:
        yield "unit"
    if wish.kind != NODE and any(kept.group == "ep" and kept.required and held.total % wish.block("ep", 0) for kept in wish.keeps):
        yield "keep"


# -- one component: the order of its ranks


def wrong_order(cluster: Cluster, wish: Wish, held: Held) -> Iterator[str]:
    """What a component's own demands refuse of the order of its ranks."""
    for rank, (node, seats) in enumerate(held.processes):
        if any(cluster.seats[seat].node != node for seat in seats) or (seats and len(seats) != wish.per):
            yield "process"
        if any(rank in pinned and node not in nodes for pinned, nodes in wish.pins):
            yield "pin"
    if any(max(pinned) >= len(held.processes) for pinned, _ in wish.pins):
        yield "pin"
    if any(kept.required and kept.group != "component" and cut(cluster, wish, kept, held) for kept in wish.keeps):
        yield "keep"
    if wish.contiguous and not solid(cluster, wish, held.order):
        yield "contiguous"


def cut(cluster: Cluster, wish: Wish, kept: Kept, held: Held) -> int:
    """How many whole groups are in more domains than they may; fewer accelerators than a group are none."""
    if kept.group == "component":
        return int(len(_domains(cluster, kept.level, held)) > kept.domains)
    if wish.kind == NODE:
        return 0
    size = wish.block(kept.group, held.total)
    order = held.order
    places = [spot(cluster, kept.level, seat) for seat in order]
    return sum(len(set(places[start : start + size])) > 1 for start in range(0, len(order) - size + 1, size))


def _domains(cluster: Cluster, level: str, held: Held) -> set[object]:
    if level == "numa" and held.mask:
        return {spot(cluster, level, bit) for bit in range(len(cluster.seats)) if held.mask >> bit & 1}
    return set(held.amounts(cluster, NODE if level == "numa" else level))


def spot(cluster: Cluster, level: str, seat: int) -> object:
    """The domain of a level, or NUMA domain of a node, that a seat is in."""
    its = cluster.seats[seat]
    if level == "numa":
        return its.node, cluster.machines[its.node].numa_of(its.index) if its.kind == ACCELERATOR else 0
    return cluster.domain(level, its.node)


def solid(cluster: Cluster, wish: Wish, order: Sequence[int]) -> bool:
    """Is this one range of the numbers of its groups, in order of ranks, or in blocks of its stride?

    The order inside a tp group or a process is free.
    """
    number = {seat: index for index, seat in enumerate(wish.line)}
    if any(seat not in number for seat in order):
        return False
    found = [number[seat] for seat in order]
    first = min(found)
    if wish.any_order:
        return sorted(found) == list(range(first, first + len(found)))
    asked = [first + place for place in strided(wish, len(found))]
    return all(
        sorted(found[start : start + wish.group]) == sorted(asked[start : start + wish.group]) for start in range(0, len(found), wish.group)
    )


def strided(wish: Wish, total: int) -> list[int]:
    """Places in the range in rank order: in blocks of stride groups, group j holds every stride-th from the j-th on."""
    size, stride = wish.group, wish.stride
    return [start + j + stride * i for start in range(0, total, size * stride) for j in range(stride) for i in range(size)]


# -- between components


def apart_as_declared(job: Job) -> set[tuple[str, str]]:
    """Pairs of components that must not share a seat, as nothing says that they may.

    Those of one colocated set may, and those inside others with all that these are inside of.
    """
    reached = {wish.name: {wish.name} for wish in job.wishes}
    for _ in job.wishes:
        for kind, names, _ in job.relations:
            if kind in SAME or kind == "subset":
                reached[names[0]] |= reached[names[1]]
            if kind in SAME:
                reached[names[1]] |= reached[names[0]]
    pairs = {(a.name, b.name) for a in job.wishes for b in job.wishes if a.name < b.name}
    return {(a, b) for a, b in pairs if a not in reached[b] and b not in reached[a]}


def refused_between(job: Job, helds: Helds, apart: set[tuple[str, str]]) -> Iterator[str]:
    """What relations refuse of the components that are there."""
    shared = job.as_shared({name: held.mask for name, held in helds.items()})
    for a, b in apart if shared is job else apart_as_declared(shared):
        if a in helds and b in helds and helds[a].mask & helds[b].mask:
            yield "shared"
    for kind, names, level in job.relations:
        if kind == "in order" and all(name in helds for name in names) and not _in_order(job, [helds[name] for name in names]):
            yield kind
        if kind != "in order" and all(name in helds for name in names):
            first, second = (helds[name] for name in names)
            if not RELATIONS[kind](job.cluster, first, second, level):
                yield kind


def _in_order(job: Job, helds: Sequence[Held]) -> bool:
    """Each a solid range, one after the other, over all accelerators of the cluster."""
    line = job.cluster.numbered(ACCELERATOR, range(len(job.cluster.machines)))
    whole = [index for held in helds for index, bit in enumerate(line) if held.mask >> bit & 1]
    return whole == list(range(len(line)))


def _apart(cluster: Cluster, first: Held, second: Held, level: str) -> bool:
    return not set(first.amounts(cluster, level)) & set(second.amounts(cluster, level))


def _near(cluster: Cluster, first: Held, second: Held, level: str) -> bool:
    return set(first.amounts(cluster, level)) <= set(second.amounts(cluster, level))


RELATIONS = {
    "colocated": lambda _, a, b, __: a.mask == b.mask,
    "rank aligned": lambda _, a, b, __: a.mask == b.mask,
    "zero copy": lambda _, a, b, __: a.mask == b.mask,
    "disjoint": lambda _, a, b, __: not a.mask & b.mask,
    "colocated or disjoint": lambda _, a, b, __: a.mask == b.mask or not a.mask & b.mask,
    "subset": lambda _, a, b, __: not a.mask & ~b.mask,
    "not fewer": lambda _, a, b, __: sum(a.processes_on) >= sum(b.processes_on),
    "apart": _apart,
    "near": _near,
}


def refused_orders(job: Job, helds: Helds) -> Iterator[str]:
    """What `rank aligned` and `zero copy` refuse of components whose orders are known."""
    for kind, names, _ in job.relations:
        if kind in ("rank aligned", "zero copy") and all(name in helds for name in names):
            first, second = (helds[name].order for name in names)
            if kind == "rank aligned" and first != second:
                yield kind
            if kind == "zero copy" and not at_home(job[names[0]], first, job[names[1]], second):
                yield kind


def at_home(source: Wish, first: Sequence[int], target: Wish, second: Sequence[int]) -> bool:
    """Is the part of the weights of each tp rank of the target inside that of the source's rank there, or the other way round?"""
    tp, its = source.degree("tp"), target.degree("tp")
    small, large = min(tp, its), max(tp, its)
    here = {seat: place % tp * small // tp for place, seat in enumerate(first)}
    return large % small == 0 and all(here.get(seat) == place % its * small // its for place, seat in enumerate(second))


# -- what machines have


def exceeded(job: Job, helds: Helds) -> Iterator[str]:
    """What is more than an accelerator or a node has."""
    present = [(job[name], held) for name, held in helds.items()]
    for node, machine in enumerate(job.cluster.machines):
        if machine.cpus is not None and sum(wish.cpus * held.processes_on[node] for wish, held in present) > machine.cpus:
            yield "cpus"
        needed = sum(wish.host_memory * held.processes_on[node] for wish, held in present)
        if machine.host_memory is not None and needed > machine.host_memory:
            yield "host_memory"
    for bit, seat in enumerate(job.cluster.seats):
        room = job.cluster.machines[seat.node].memory
        here = [(wish, dict(held.several).get(bit, 1)) for wish, held in present if held.mask >> bit & 1 and wish.memory]
        if here and seat.kind == ACCELERATOR and room is not None and fullest(here) > room:
            yield "memory"


def fullest(here: Sequence[tuple[Wish, int]]) -> int:
    """MiB in the fullest phase: of what works, its memory; of what does not, what it leaves there."""
    phases = {phase for wish, _ in here for phase in wish.phases} or {""}
    return max(sum(times * (w.memory if not w.phases or phase in w.phases else w.offloaded or 0) for w, times in here) for phase in phases)
