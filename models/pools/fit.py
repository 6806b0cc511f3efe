"""Feasibility of pools on nodes in any order; exact for the sizes of real files."""

from __future__ import annotations

from typing import Iterator, Sequence

from .layout import UNKNOWN_CPUS, FreeNodes
from .pool import Pool, Reserve

MAX_NODES = 64
MAX_STATES = 20_000
Item = tuple[int, int]
"""(accelerators, CPUs) of a part on a node."""


class _TooMany(Exception):
    """Abort of a search after MAX_STATES states."""


def can_fit(pools: Sequence[Pool], rooms: Sequence[FreeNodes], reserves: Sequence[Reserve] = ()) -> bool | None:
    """Return True if all parts and reserves fit onto nodes; None if undecided.

    A counting bound decides most cases; the rest is searched, node by node, within a limit.
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
    items: dict[Item, int] = {}
    for pool in pools:
        for parts in pool.parts:
            item = (parts.size, parts.size * pool.cpus)
            items[item] = items.get(item, 0) + parts.count
    for reserve in reserves:
        item = (0, reserve.cpus)
        items[item] = items.get(item, 0) + 1
    return items


def _too_many(items: dict[Item, int], rooms: Sequence[FreeNodes]) -> bool:
    """Return True if some size has more parts than the nodes can hold."""
    for size, cpus in items:
        wanted = sum(count for (part_size, part_cpus), count in items.items() if part_size >= size and part_cpus >= cpus)
        capacity = sum(len(group.nodes) * _times(group.free.bit_count(), group.cpus, size, cpus) for group in rooms)
        if wanted > capacity:
            return True
    need = sum(size * count for (size, _), count in items.items())
    cpus = sum(part_cpus * count for (_, part_cpus), count in items.items())
    return need > sum(len(group.nodes) * group.free.bit_count() for group in rooms) or cpus > sum(
        len(group.nodes) * group.cpus for group in rooms
    )


def _times(accelerators: int, cpus: int, size: int, part_cpus: int) -> int:
    """Return how often a part fits on a node."""
    return min(accelerators // size if size else UNKNOWN_CPUS, cpus // part_cpus if part_cpus else UNKNOWN_CPUS)


def _search(items: tuple[tuple[Item, int], ...], nodes: tuple[Item, ...], seen: set[object]) -> bool:
    """Return True if the items fit on the nodes.

    Fills the first node in every maximal way, then the rest.
    """
    if not any(count for _, count in items):
        return True
    if not nodes or (items, len(nodes)) in seen:
        return False
    seen.add((items, len(nodes)))
    if len(seen) > MAX_STATES:
        raise _TooMany
    return any(_search(left, nodes[1:], seen) for left in _fillings(items, 0, *nodes[0]))


def _fillings(items: tuple[tuple[Item, int], ...], position: int, accelerators: int, cpus: int) -> Iterator[tuple[tuple[Item, int], ...]]:
    """Yield the remaining parts for every way to fill a node; the fullest first."""
    if position == len(items):
        yield items
        return
    (size, part_cpus), count = items[position]
    for taken in range(min(count, _times(accelerators, cpus, size, part_cpus)), -1, -1):
        left = (*items[:position], ((size, part_cpus), count - taken), *items[position + 1 :])
        yield from _fillings(left, position + 1, accelerators - taken * size, cpus - taken * part_cpus)
