"""Why the parts of pools have no room on the nodes, and which other sizes would have.

Source: verl, verl/single_controller/ray/base.py: the sum of all accelerators is checked at once (_check_resource_available), and
nothing else; a placement group that no node can hold is waited for without a limit (RayResourcePool.get_placement_groups).
"""

from __future__ import annotations

from typing import Callable, Iterator, Mapping, Sequence

from ....findings.span import Edit
from ....findings.wording import with_noun
from ....machines.cluster import Cluster
from ....pools.fit import can_fit
from ....pools.layout import UNLIMITED, Layout, Room, Short, lay_out, machines_for, rooms_of
from ....pools.pool import Pool
from ..configuration import Configuration
from ..entries import Entry
from .declared import FIT, Declared

CPUS = "PW502"
ROOM = (FIT, CPUS)
"""The codes of parts that have no room."""
AT_ONCE = "verl compares these sums as soon as Ray is up"
LATER = {
    "fully_async_main": "verl checks the pool of the trainer alone, after rollout has loaded its weights",
    "main_generation_server": "every server looks only whether the accelerators that are left are enough for itself",
}
"""What programs do instead that do not compare the sum of all pools."""
NEVER = "verl checks only the sum of all accelerators; Ray waits for this part without a limit and without a word"
MOST_OFFERED, MOST_TRIED = 2, 24
Changes = Mapping[str, int]
Suits = Callable[[Changes], bool]


def judge_room(settings: Configuration, entry: Entry, declared: Declared, cluster: Cluster, layout: Layout, suits: Suits) -> Layout:
    """Says what is wrong with a layout in which a part found no room; a layout that has room for all, where there is one."""
    rooms = rooms_of(cluster)
    possible = can_fit(declared.pools, rooms, entry.reserves)
    if possible is not False:
        pools = sorted(declared.pools, key=lambda pool: -max(parts.size for parts in pool.parts))
        other = lay_out(pools, rooms)
        if possible is None or other.short is not None:
            settings.notes.unsure(
                FIT, layout.short.pool.name if layout.short else "", "whether its parts fit onto the nodes was not decided", True,
                "Write parts of fewer sizes",
            )  # fmt: skip
            return layout
        _by_chance(settings, layout)
        return other
    short = layout.short
    if short is not None:
        pool = short.pool
        code, message, note = _fault(declared, entry, cluster, rooms, short)
        offers = list(_offers(settings, len(declared.pools) == 1, pool, rooms, suits))
        help_ = "; or ".join(" and ".join(settings.assigned(key, value) for key, value in offer.items()) for offer in offers)
        at = pool.span("size" if short.part < len(cluster.nodes) else "count") or settings.top
        settings.notes.error(
            code,
            pool.name,
            message,
            at,
            _label(pool),
            f"set {help_}" if help_ else "ask for less, or name a larger cluster",
            _edit(settings, offers),
            note,
        )
    return layout


def _label(pool: Pool) -> str:
    return f"{pool.name} is {pool.sizes}"


def _by_chance(settings: Configuration, layout: Layout) -> None:
    short = layout.short
    if short is None:
        return
    message = f"{_part(short)} has room only if Ray puts the parts before it onto the right nodes"
    note = "nothing tells Ray which nodes to take; by its own preference it would wait for this part for ever"
    at, help_ = short.pool.span("size") or settings.top, "give the parts of all pools one size: then any order has room"
    settings.notes.warn(FIT, short.pool.name, message, at, _label(short.pool), help_, None, note)


def _fault(declared: Declared, entry: Entry, cluster: Cluster, rooms: Sequence[Room], short: Short) -> tuple[str, str, str]:
    """(code, message, when verl notices)."""
    pool, size = short.pool, short.size
    need, have = sum(each.size for each in declared.pools), sum(len(room.nodes) * room.free.bit_count() for room in rooms)
    if need > have:
        parts = (
            f"{with_noun(pool.size, 'accelerator')} ({pool.sizes})"
            if len(declared.pools) == 1
            else f"{with_noun(need, 'accelerator')} in all"
        )
        names = f"`{pool.name}` needs" if len(declared.pools) == 1 else f"{_listed(declared.pools)} need"
        return FIT, f"{names} {parts}, the cluster has {have}{_missing(declared.pools, cluster)}", LATER.get(entry.name, AT_ONCE)
    asked = _part(short)
    if short.best is not None and any(room.free.bit_count() >= size for room in rooms) and short.best.cpus < UNLIMITED:
        with_accelerators = [room for room in rooms if room.free.bit_count() >= size]
        room = max(with_accelerators, key=lambda each: each.cpus)
        has = f"{cluster.name(room.nodes.start)} has {room.cpus}"
        others = "".join(f" + {each.cpus} of {each.name}" for each in entry.reserves if size * pool.cpus <= room.cpus)
        wanted = f"{with_noun(size * pool.cpus, 'CPU')} of one node (verl reserves {pool.cpus} with each of {with_noun(size, 'accelerator')}){others}"
        return CPUS, f"{asked} needs {wanted}, but {has}", NEVER
    left = "no node has any left" if short.best is None or not short.best.free else _best(cluster, short.best)
    return FIT, f"{asked} needs {with_noun(size, 'accelerator')} of one node, but {left}", NEVER


def _part(short: Short) -> str:
    """Which part of which pool."""
    name = f"`{short.pool.name}`"
    return f"part {short.part + 1} of {short.pool.count} of {name}" if short.pool.count > 1 else name


def _best(cluster: Cluster, room: Room) -> str:
    name, has = cluster.name(room.nodes.start), room.free.bit_count()
    largest = max(len(each.node.accelerators) for each in cluster.alike)
    return f"the largest node, {name}, has {has}" if has == largest else f"of what is left {name} has most, {has}"


def _missing(pools: Sequence[Pool], cluster: Cluster) -> str:
    """Which nodes are missing, where all nodes are of one size and more of them would do."""
    sizes, have = {len(each.node.accelerators) for each in cluster.alike}, len(cluster.nodes)
    need = machines_for(pools, sizes.pop(), have) if len(sizes) == 1 else 0
    if need <= have:
        return ""
    return f": node {need} of {need} is missing" if need == have + 1 else f": nodes {have + 1} to {need} of {need} are missing"


def _listed(pools: Sequence[Pool]) -> str:
    names = [f"`{pool.name}` ({pool.sizes})" for pool in pools]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _offers(settings: Configuration, alone: bool, pool: Pool, rooms: Sequence[Room], suits: Suits) -> Iterator[Changes]:
    """Other sizes of the pool that were tried: first as many parts that are smaller, then fewer parts."""
    if not pool.nodes_key or not pool.accelerators_key or pool.nodes_key.startswith("--"):
        return
    written = settings.whole(pool.accelerators_key, FIT)
    if written is None or written.value != pool.parts[0].size:
        return  # the parts follow from other numbers too
    count, size, offered, nodes_there = pool.count, pool.parts[0].size, 0, sum(len(room.nodes) for room in rooms)
    sizes = sorted(({room.largest(pool.cpus) for room in rooms} | set(range(1, min(size, 16) + 1))) - {0}, reverse=True)
    smaller = ((count, each) for each in sizes if each < size and count <= nodes_there)
    fewer = ((nodes, each) for nodes in range(min(count - 1, nodes_there), 0, -1) for each in sizes if alone or each <= size)
    anything = ((count, each) for each in sizes if each < size)
    done: set[tuple[int, int]] = set()
    for candidates in (smaller, fewer, anything):
        if candidates is anything and offered:
            return
        for nodes, each in _limited(candidates):
            changes = {
                key: now for key, now, before in ((pool.nodes_key, nodes, count), (pool.accelerators_key, each, size)) if now != before
            }
            if changes and (nodes, each) not in done and suits(changes):
                done.add((nodes, each))
                offered += 1
                yield changes
                break
        if offered == MOST_OFFERED:
            return


def _limited(candidates: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for _, candidate in zip(range(MOST_TRIED), candidates):
        yield candidate


def _edit(settings: Configuration, offers: Sequence[Changes]) -> Edit | None:
    if not offers or len(offers[0]) > 1:
        return None
    (key, value) = next(iter(offers[0].items()))
    return settings.becomes(key, str(value))
