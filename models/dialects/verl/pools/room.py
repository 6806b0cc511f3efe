"""Pools on nodes: the machines they are laid out on, why their parts have no room, and which other sizes would have.

Source: verl, verl/single_controller/ray/base.py: the sum of all accelerators is checked at once (_check_resource_available), and
nothing else since 0.6.0; a placement group that no node can hold is waited for without a limit (RayResourcePool.get_placement_groups).
"""

from __future__ import annotations

from typing import Callable, Iterator, Mapping, Sequence

from ....findings.span import Edit
from ....findings.wording import with_noun
from ....machines.accelerators import GENERIC, accelerators
from ....machines.cluster import Cluster, Node, Nodes
from ....machines.nodes import numbered_nodes
from ....machines.shorthand import AsDeclared
from ....placements.assignment import Runs
from ....pools.fit import can_fit
from ....pools.layout import UNLIMITED, Layout, Room, Short, apart, cut, lay_out, machines_for, rooms_of
from ....pools.pool import Parts, Pool
from ..configuration import Configuration
from ..entries import Entry
from ..releases import until
from .declared import FIT, Declared
from .programs import in_pieces

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
PER_NODE = "verl compares the parts of each pool with the nodes as soon as Ray is up (dropped in 0.6.0)"
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
        if code == FIT and note == NEVER and until(settings, "0.6.0"):
            note = PER_NODE
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


def assumed(declared: Declared, per_node: AsDeclared | None = None) -> tuple[Cluster, Layout]:
    """The machines that the file speaks of, and the pools on them; where it speaks of none, one node for each part.

    `per_node`: all machines have so many accelerators.
    """
    if per_node is not None and per_node.count:
        stated = sum(parts.count for parts in declared.nodes)
        count = max(machines_for(declared.pools, per_node.count), stated, *(pool.count for pool in declared.pools), 0)
        return _on(declared, nodes_of((Parts(per_node.count, count),), per_node.model))
    return _on(declared, nodes_of(declared.nodes)) if declared.nodes else one_each(declared)


def one_each(declared: Declared) -> tuple[Cluster, Layout]:
    """A node for every part, and the pools on them."""
    nodes, layout = apart(declared.pools)
    return nodes_of(nodes), layout


def _on(declared: Declared, cluster: Cluster) -> tuple[Cluster, Layout]:
    return cluster, lay_out(declared.pools, rooms_of(cluster))


def nodes_of(stretches: Sequence[Parts], model: str = GENERIC) -> Cluster:
    """A cluster of nodes with so many accelerators each; one without nodes is one of which nobody said how many it has."""
    found, rank = [], 0
    for parts in stretches:
        if parts.count:
            found.append(numbered_nodes(Node(rank, "", accelerators(parts.size, model)), parts.count))
            rank += parts.count
    return Cluster(Nodes(found), counted=bool(found))


def placed(
    settings: Configuration, entry: Entry, declared: Declared, machines: Cluster | AsDeclared | None, suits: Suits
) -> tuple[Cluster, Mapping[str, Runs]]:
    """The cluster, and the ranks of every component of the pools.

    `suits` tells whether other values of keys are right in all respects. Where the parts have no room on the given machines, that is said, and the rest is judged on those that the file speaks of.
    """
    if isinstance(machines, Cluster):
        given, layout = machines, lay_out(declared.pools, rooms_of(machines), entry.reserves)
    else:
        given, layout = assumed(declared, machines)
    if machines is None and declared.pools and not declared.nodes:
        most = max((parts.size for pool in declared.pools for parts in pool.parts), default=8)
        why = "machines unknown; a node for each part of a pool is assumed"
        settings.notes.unsure(FIT, "", why, True, f"Pass `--cluster x{most}`")
    if layout.short is not None and (pieces := in_pieces(settings, entry, declared)) is not declared:
        on = (
            (machines, lay_out(pieces.pools, rooms_of(machines), entry.reserves))
            if isinstance(machines, Cluster)
            else assumed(pieces, machines)
        )
        if on[1].short is None:
            return on[0], _runs(pieces, on[1])
    if layout.short is not None:
        layout = judge_room(settings, entry, declared, given, layout, suits)
        if layout.short is not None:
            given, layout = one_each(declared)
    return given, _runs(declared, layout)


def _runs(declared: Declared, layout: Layout) -> dict[str, Runs]:
    found = {}
    for pool in declared.pools:
        runs = layout.runs(pool.name)
        for name in pool.components:
            found[name] = cut(runs, *declared.ranges[name]) if name in declared.ranges else runs
    return found
