"""Layout of pools on nodes: machines, reasons for missing capacity, and sizes that fit.

Source: verl, verl/single_controller/ray/base.py: the sum of all accelerators is checked at once
(_check_resource_available), and nothing else since 0.6.0; Ray waits without a limit for a placement
group that no node can hold (RayResourcePool.get_placement_groups).
"""

from __future__ import annotations

from itertools import islice
from typing import Callable, Iterable, Mapping, Sequence

from ...findings.wording import are, with_noun
from ...machines.cluster import Cluster
from ...machines.shorthand import DeclaredNodes
from ...placements.run import Runs
from ...pools import (
    UNKNOWN_CPUS,
    DeclaredPools,
    FreeNodes,
    Pool,
    PoolLayout,
    UnplacedPart,
    can_fit,
    lay_out,
    lay_out_on,
    machines_for,
    one_node_each,
    rooms_of,
)  # fmt: skip
from .configuration import Configuration
from .pools import FIT, split_servers
from .programs import MOMENTS, ProgramKind

CPUS = "PW502"
MOST_TRIED = 24
Changes = Mapping[str, int]
Verifies = Callable[[Changes], bool]
"""Predicate of new values of keys: True if they cause no error."""


def lay_out_pools(
    settings: Configuration, declaration: DeclaredPools, machines: Cluster | DeclaredNodes | None, suits: Verifies
) -> tuple[Cluster, Mapping[str, Runs]]:
    """Return the cluster, and the ranks of every component of the pools.

    If a part does not fit on the machines, add a finding, and judge the rest on one node per part.
    """
    cluster, layout = lay_out_on(declaration, machines, settings.entry.reserves)
    if machines is None and declaration.pools and not declaration.nodes:
        most = max((parts.size for pool in declaration.pools for parts in pool.parts), default=8)
        why = "machines unknown; a node for each part of a pool is assumed"
        settings.notes.unsure(FIT, "", why, True, f"Pass `--cluster x{most}`")
    if layout.short is None:
        return cluster, declaration.runs(layout)
    if (pieces := split_servers(settings, declaration)) is not declaration:
        split_cluster, split_layout = lay_out_on(pieces, machines, settings.entry.reserves)
        if split_layout.short is None:
            return split_cluster, pieces.runs(split_layout)
    layout = _judge(settings, declaration, cluster, layout, layout.short, suits)
    if layout.short is not None:
        cluster, layout = one_node_each(declaration)
    return cluster, declaration.runs(layout)


def _judge(
    settings: Configuration, declaration: DeclaredPools, cluster: Cluster, layout: PoolLayout, short: UnplacedPart, suits: Verifies
) -> PoolLayout:
    """Report a layout with a missing part; return a complete layout if there is one."""
    capacities = rooms_of(cluster)
    pool, at = short.pool, short.pool.span("size") or settings.top
    possible = can_fit(declaration.pools, capacities, settings.entry.reserves)
    if possible is not False:
        by_size = lay_out(sorted(declaration.pools, key=lambda pool: -max(parts.size for parts in pool.parts)), capacities)
        if possible is None or by_size.short is not None:
            why = "whether its parts fit onto the nodes was not decided"
            settings.notes.unsure(FIT, pool.name, why, True, "Write parts of fewer sizes")
            return layout
        message = f"{_part(short)} fits only if Ray puts the parts before it onto the right nodes"
        note = "Ray is free to take any nodes: by its own preference it would wait for this part for ever"
        help_ = "give the parts of all pools one size: then any order fits"
        settings.notes.warn(FIT, pool.name, message, at, f"{pool.name} is {pool.sizes}", help_, None, note)
        return by_size
    code, message, notes = _fault(settings, declaration, cluster, capacities, short)
    offers = _offers(settings, len(declaration.pools) == 1, pool, capacities, suits)
    help_ = "; or ".join(" and ".join(settings.spell(key, value) for key, value in offer.items()) for offer in offers)
    at = pool.span("size" if short.part < len(cluster.nodes) else "count") or settings.top
    (key, value), *more = offers[0].items() if offers else [("", 0)]
    edit = settings.becomes(key, str(value)) if offers and not more else None
    help_ = f"set {help_}" if help_ else "ask for less, or name a larger cluster"
    settings.notes.error(code, pool.name, message, at, f"{pool.name} is {pool.sizes}", help_, edit, *notes)
    return layout


def _fault(
    settings: Configuration, declaration: DeclaredPools, cluster: Cluster, capacities: Sequence[FreeNodes], short: UnplacedPart
) -> tuple[str, str, tuple[str, ...]]:
    """Return (code, message, notes: reasons, and the moment when verl notices)."""
    pool, size, entry, pools = short.pool, short.size, settings.entry, declaration.pools
    torchrun = MOMENTS["TORCHRUN"] if entry.kind is ProgramKind.PROCESSES else ""
    need, have = sum(member.size for member in pools), sum(len(capacity.nodes) * capacity.free.bit_count() for capacity in capacities)
    if need > have:
        *names, last = [f"`{member.name}` ({member.sizes})" for member in pools]
        demand = f"`{pool.name}` needs {with_noun(need, 'accelerator')} ({pool.sizes})"
        if names:
            demand = f"{', '.join(names)} and {last} need {with_noun(need, 'accelerator')}"
        sizes, nodes = {len(group.node.accelerators) for group in cluster.alike}, len(cluster.nodes)
        more = machines_for(pools, sizes.pop(), nodes) if len(sizes) == 1 else 0
        missing = (f"node {more} of {more} is missing",) if more == nodes + 1 else (f"nodes {nodes + 1} to {more} of {more} are missing",)
        when = torchrun or MOMENTS.get(entry.name, MOMENTS["AT_ONCE"])
        return FIT, f"{demand}, the cluster has {have}", (*(missing if more > nodes else ()), when)
    fitting = [capacity for capacity in capacities if capacity.free.bit_count() >= size]
    if short.best is not None and fitting and short.best.cpus < UNKNOWN_CPUS:
        capacity = max(fitting, key=lambda candidate: candidate.cpus)
        reserve_text = "".join(f" + {reserve.cpus} of {reserve.name}" for reserve in entry.reserves if size * pool.cpus <= capacity.cpus)
        cpu_demand = f"{with_noun(size * pool.cpus, 'CPU')} of one node{reserve_text}"
        why = f"verl reserves {with_noun(pool.cpus, 'CPU')} with each of {with_noun(size, 'accelerator')}"
        return (
            CPUS,
            f"{_part(short)} needs {cpu_demand}, but {cluster.name(capacity.nodes.start)} has {capacity.cpus}",
            (why, MOMENTS["NO_ROOM"]),
        )
    headroom = "no node has any left"
    if short.best is not None and short.best.free:
        name, has = cluster.name(short.best.nodes.start), short.best.free.bit_count()
        largest = max(len(group.node.accelerators) for group in cluster.alike)
        headroom = f"the largest node, {name}, has {has}" if has == largest else f"at most {has} {are(has)} left, on {name}"
    message = f"{_part(short)} needs {with_noun(size, 'accelerator')} of one node, but {headroom}"
    return FIT, message, (torchrun or MOMENTS["PER_NODE" if settings.is_older_than("0.6.0") else "NO_ROOM"],)


def _part(short: UnplacedPart) -> str:
    return f"part {short.part + 1} of {short.pool.count} of `{short.pool.name}`" if short.pool.count > 1 else f"`{short.pool.name}`"


def _offers(settings: Configuration, is_single: bool, pool: Pool, capacities: Sequence[FreeNodes], suits: Verifies) -> list[Changes]:
    """Return tried sizes of the pool: of smaller parts, and of fewer parts."""
    if not pool.nodes_key or not pool.accelerators_key or pool.nodes_key.startswith("--"):
        return []
    amount = settings.whole(pool.accelerators_key, FIT)
    if amount is None or amount.value != pool.parts[0].size:
        return []  # the size also depends on other numbers
    count, size, total = pool.count, pool.parts[0].size, sum(len(capacity.nodes) for capacity in capacities)
    sizes = sorted(({capacity.largest(pool.cpus) for capacity in capacities} | set(range(1, min(size, 16) + 1))) - {0}, reverse=True)
    smaller = [(count, part_size) for part_size in sizes if part_size < size]
    fewer = ((nodes, part_size) for nodes in range(min(count - 1, total), 0, -1) for part_size in sizes if is_single or part_size <= size)

    def first_suitable(candidates: Iterable[tuple[int, int]]) -> list[Changes]:
        for nodes, part_size in islice(candidates, MOST_TRIED):
            numbers = ((pool.nodes_key, nodes, count), (pool.accelerators_key, part_size, size))
            changes = {key: now for key, now, before in numbers if now != before}
            if changes and suits(changes):
                return [changes]
        return []

    if count <= total:
        return first_suitable(smaller) + first_suitable(fewer)
    return first_suitable(fewer) or first_suitable(smaller)
