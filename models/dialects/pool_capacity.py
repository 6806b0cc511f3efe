"""Layout of a framework's pools on machines: reasons for missing capacity, and sizes that fit.

Ray waits without a limit for a placement group that no node can hold.
"""

from __future__ import annotations

from itertools import islice
from typing import Callable, Iterable, Mapping, Sequence

from ..configuration.notes import Notes
from ..configuration.settings import Settings
from ..findings.wording import are, with_noun
from ..machines.cluster import Cluster
from ..machines.shorthand import DeclaredNodes
from ..placements.run import Runs
from ..pools import (
    UNKNOWN_CPUS,
    DeclaredPools,
    FreeNodes,
    Pool,
    PoolLayout,
    Reserve,
    UnplacedPart,
    can_fit,
    lay_out,
    lay_out_on,
    machines_for,
    one_node_each,
    rooms_of,
)  # fmt: skip
from ..record import dataclass

FIT, CPUS = "PW215", "PW502"
MOST_TRIED = 6
Changes = Mapping[str, int]


@dataclass(frozen=True)
class PoolCapacity:
    """Capacity of machines for the pools of a file.

    Attributes
    ----------
    reserves : processes outside of the pools with reserved CPUs.
    suits : predicate of new values of keys, True if they cause no error.
    sum_noticed, part_noticed, cpus_noticed : moments when the framework notices that the sum of all
        pools, a part of a pool, or the CPUs of a part do not fit.
    """

    notes: Notes
    settings: Settings
    reserves: Sequence[Reserve]
    suits: Callable[[Changes], bool]
    sum_noticed: str
    part_noticed: str
    cpus_noticed: str

    def lay_out(
        self, declaration: DeclaredPools, machines: Cluster | DeclaredNodes | None, split: Callable[[DeclaredPools], DeclaredPools]
    ) -> tuple[Cluster, Mapping[str, Runs]]:
        """Return the cluster, and the ranks of every component of the pools.

        If a part does not fit, the pools that `split` makes of them are tried. If they do not fit
        either, add a finding, and judge the rest on one node per part.
        """
        cluster, layout = lay_out_on(declaration, machines, self.reserves)
        if machines is None and declaration.pools and not declaration.nodes:
            most = max((parts.size for pool in declaration.pools for parts in pool.parts), default=8)
            why = "machines unknown; a node for each part of a pool is assumed"
            self.notes.unsure(FIT, "", why, True, f"Pass `--cluster x{most}`")
        if layout.short is None:
            return cluster, declaration.runs(layout)
        if (pieces := split(declaration)) is not declaration:
            split_cluster, split_layout = lay_out_on(pieces, machines, self.reserves)
            if split_layout.short is None:
                return split_cluster, pieces.runs(split_layout)
        layout = self._judge(declaration, cluster, layout, layout.short)
        if layout.short is not None:
            cluster, layout = one_node_each(declaration)
        return cluster, declaration.runs(layout)

    def _judge(self, declaration: DeclaredPools, cluster: Cluster, layout: PoolLayout, short: UnplacedPart) -> PoolLayout:
        """Report a layout with a missing part; return a complete layout if there is one."""
        capacities = rooms_of(cluster)
        pool, at = short.pool, short.pool.span("size") or self.settings.top
        possible = can_fit(declaration.pools, capacities, self.reserves)
        if possible is not False:
            by_size = lay_out(sorted(declaration.pools, key=lambda pool: -max(parts.size for parts in pool.parts)), capacities)
            if possible is None or by_size.short is not None:
                why = "whether its parts fit onto the nodes was not decided"
                self.notes.unsure(FIT, pool.name, why, True, "Write parts of fewer sizes")
                return layout
            message = f"{_part(short)} fits only if Ray puts the parts before it onto the right nodes"
            note = "Ray is free to take any nodes: by its own preference it would wait for this part for ever"
            help_ = "give the parts of all pools one size: then any order fits"
            self.notes.warn(FIT, pool.name, message, at, f"{pool.name} is {pool.sizes}", help_, None, note)
            return by_size
        code, message, notes = self._fault(declaration.pools, cluster, capacities, short)
        offers = self._offers(len(declaration.pools) == 1, pool, capacities)
        help_ = "; or ".join(" and ".join(self.settings.spell(key, value) for key, value in offer.items()) for offer in offers)
        at = pool.span("size" if short.part < len(cluster.nodes) else "count") or self.settings.top
        (key, value), *more = offers[0].items() if offers else [("", 0)]
        edit = self.settings.becomes(key, str(value)) if offers and not more else None
        help_ = f"set {help_}" if help_ else "ask for less, or name a larger cluster"
        self.notes.error(code, pool.name, message, at, f"{pool.name} is {pool.sizes}", help_, edit, *notes)
        return layout

    def _fault(
        self, pools: Sequence[Pool], cluster: Cluster, capacities: Sequence[FreeNodes], short: UnplacedPart
    ) -> tuple[str, str, tuple[str, ...]]:
        """Return (code, message, notes: reasons, and the moment when the framework notices)."""
        pool, size = short.pool, short.size
        need, have = sum(member.size for member in pools), sum(len(capacity.nodes) * capacity.free.bit_count() for capacity in capacities)
        if need > have:
            *names, last = [f"`{member.name}` ({member.sizes})" for member in pools]
            demand = f"`{pool.name}` needs {with_noun(need, 'accelerator')} ({pool.sizes})"
            if names:
                demand = f"{', '.join(names)} and {last} need {with_noun(need, 'accelerator')}"
            sizes, nodes = {len(group.node.accelerators) for group in cluster.alike}, len(cluster.nodes)
            more = machines_for(pools, sizes.pop(), nodes) if len(sizes) == 1 else 0
            missing = (
                (f"node {more} of {more} is missing",) if more == nodes + 1 else (f"nodes {nodes + 1} to {more} of {more} are missing",)
            )
            return FIT, f"{demand}, the cluster has {have}", (*(missing if more > nodes else ()), self.sum_noticed)
        fitting = [capacity for capacity in capacities if capacity.free.bit_count() >= size]
        if short.best is not None and fitting and short.best.cpus < UNKNOWN_CPUS:
            capacity = max(fitting, key=lambda candidate: candidate.cpus)
            reserves = [(reserve.cpus * reserve.count, reserve.name) for reserve in self.reserves if size * pool.cpus <= capacity.cpus]
            reserve_text = "".join(f" + {cpus} of {name}" for cpus, name in reserves if cpus)
            cpu_demand = f"{with_noun(size * pool.cpus, 'CPU')} of one node{reserve_text}"
            why = f"{self.notes.framework} reserves {with_noun(pool.cpus, 'CPU')} with each of {with_noun(size, 'accelerator')}"
            message = f"{_part(short)} needs {cpu_demand}, but {cluster.name(capacity.nodes.start)} has {capacity.cpus}"
            return CPUS, message, (why, self.cpus_noticed)
        headroom = "no node has any left"
        if short.best is not None and short.best.free:
            name, has = cluster.name(short.best.nodes.start), short.best.free.bit_count()
            largest = max(len(group.node.accelerators) for group in cluster.alike)
            headroom = f"the largest node, {name}, has {has}" if has == largest else f"at most {has} {are(has)} left, on {name}"
        message = f"{_part(short)} needs {with_noun(size, 'accelerator')} of one node, but {headroom}"
        return FIT, message, (self.part_noticed,)

    def _offers(self, is_single: bool, pool: Pool, capacities: Sequence[FreeNodes]) -> list[Changes]:
        """Return tried sizes of the pool: of smaller parts, and of fewer parts."""
        if not pool.nodes_key or not pool.accelerators_key or pool.nodes_key.startswith("--"):
            return []
        amount = self.settings.whole(pool.accelerators_key, FIT)
        if amount is None or amount.value != pool.parts[0].size:
            return []  # the size also depends on other numbers
        count, size, total = pool.count, pool.parts[0].size, sum(len(capacity.nodes) for capacity in capacities)
        largest = {capacity.largest(pool.cpus) for capacity in capacities}
        sizes = sorted((largest | set(range(1, min(size, 16, max(largest)) + 1))) - {0}, reverse=True)
        smaller = [(count, part_size) for part_size in sizes if part_size < size]
        fewer = (
            (nodes, part_size) for nodes in range(min(count - 1, total), 0, -1) for part_size in sizes if is_single or part_size <= size
        )

        def first_suitable(candidates: Iterable[tuple[int, int]]) -> list[Changes]:
            for nodes, part_size in islice(candidates, MOST_TRIED):
                numbers = ((pool.nodes_key, nodes, count), (pool.accelerators_key, part_size, size))
                changes = {key: now for key, now, before in numbers if now != before}
                if changes and self.suits(changes):
                    return [changes]
            return []

        if count <= total:
            return first_suitable(smaller) + first_suitable(fewer)
        return first_suitable(fewer) or first_suitable(smaller)


def _part(short: UnplacedPart) -> str:
    return f"part {short.part + 1} of {short.pool.count} of `{short.pool.name}`" if short.pool.count > 1 else f"`{short.pool.name}`"


def why_torn(start: int, size: int, per_node: int) -> str:
    """Return why verl refuses a replica of a teacher at a rank; "" if accepted.

    Source: verl, verl/workers/rollout/replica.py (RolloutReplica),
    experimental/teacher_loop/teacher_model.py (_validate_replica_node_alignment).
    """
    if size % min(per_node, size):
        return f"has {with_noun(size, 'accelerator')}, no multiple of the {per_node} of a node"
    nodes = (start + size - 1) // per_node - start // per_node + 1
    fewest = -(-size // per_node)
    return f"has ranks {start}-{start + size - 1} of the pool, on {with_noun(nodes, 'node')} instead of {fewest}" if nodes != fewest else ""
