"""Can the parts of pools lie on these nodes at all, in whatever order? An exact answer for what is asked in practice."""

from __future__ import annotations

from typing import Iterator, Sequence

from .layout import UNLIMITED, Room
from .pool import Pool, Reserve

MAX_NODES = 64
MAX_STATES = 20_000
Item = tuple[int, int]
"""(accelerators, CPUs) that one node must give together."""


class _TooMany(Exception):
    """More states than are looked at."""


def can_fit(pools: Sequence[Pool], rooms: Sequence[Room], reserves: Sequence[Reserve] = ()) -> bool | None:
    """Is there a way to put every part, and every process beside the pools, onto one node each? None where that was not decided.

    A count decides most cases; what it does not decide is searched, node by node, within a limit.
    """
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
    found: dict[Item, int] = {}
    for pool in pools:
        for parts in pool.parts:
            item = (parts.size, parts.size * pool.cpus)
            found[item] = found.get(item, 0) + parts.count
    for reserve in reserves:
        item = (0, reserve.cpus)
        found[item] = found.get(item, 0) + 1
    return found


def _too_many(items: dict[Item, int], rooms: Sequence[Room]) -> bool:
    """Are there more parts of some size or larger than nodes have room for? Then nothing fits."""
    for size, cpus in items:
        wanted = sum(count for (other, its), count in items.items() if other >= size and its >= cpus)
        room = sum(len(each.nodes) * _times(each.free.bit_count(), each.cpus, size, cpus) for each in rooms)
        if wanted > room:
            return True
    need = sum(size * count for (size, _), count in items.items())
    cpus = sum(its * count for (_, its), count in items.items())
    return need > sum(len(room.nodes) * room.free.bit_count() for room in rooms) or cpus > sum(
        len(room.nodes) * room.cpus for room in rooms
    )


def _times(accelerators: int, cpus: int, size: int, each: int) -> int:
    """How often a part fits on a node."""
    return min(accelerators // size if size else UNLIMITED, cpus // each if each else UNLIMITED)


def _search(items: tuple[tuple[Item, int], ...], nodes: tuple[Item, ...], seen: set[object]) -> bool:
    """Fills the first node in every way that leaves no room for another part, then the others."""
    if not any(count for _, count in items):
        return True
    if not nodes or (items, len(nodes)) in seen:
        return False
    seen.add((items, len(nodes)))
    if len(seen) > MAX_STATES:
        raise _TooMany
    return any(_search(left, nodes[1:], seen) for left in _fillings(items, 0, *nodes[0]))


def _fillings(items: tuple[tuple[Item, int], ...], position: int, accelerators: int, cpus: int) -> Iterator[tuple[tuple[Item, int], ...]]:
    """What is left of the parts, for every way to fill a node; the fullest first."""
    if position == len(items):
        yield items
        return
    (size, each), count = items[position]
    for taken in range(min(count, _times(accelerators, cpus, size, each)), -1, -1):
        left = (*items[:position], ((size, each), count - taken), *items[position + 1 :])
        yield from _fillings(left, position + 1, accelerators - taken * size, cpus - taken * each)
