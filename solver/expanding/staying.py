"""Unmoved groups of a previous answer, and rank orders that keep them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import lcm
from typing import Mapping, Sequence

from ...models.answer import Solve
from ...models.component import Component, Parallel
from ...models.job import Job
from ...models.locality import TP, WHOLE, Keep
from ...models.machines.accelerators import accelerators
from ...models.machines.cluster import Cluster
from ...models.machines.node import Node
from ...models.machines.topology import LEVELS, NUMA, domain
from ...models.placements.assignment import Assignment, Seat, compress
from ...models.placements.run import Run
from ...models.problem import Problem
from ..layout.bundle import Bundle, size_of
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values
from ..layout.parts import bits
from ..layout.pools import NodePool
from ..layout.ranks import in_rank_order
from ..objectives.moves import Holdings, Piece, Pieces, holdings, overlap, pieces, survivors
from .counts import ExpansionFailed, NodeMasks, assign_counts

Unit = tuple[Seat, ...]
Place = tuple[str, ...]
"""Domains of a unit, one per level on which groups are kept together."""
UnmovedPieces = dict[Bundle, list[Piece]]
"""Unmoved groups of each bundle."""
Counts = dict[Bundle, list[tuple[Cell, int]]]
"""Number of units of each bundle per cell."""


def unmoved_in_cell(
    cell: Cell, free: Mapping[int, int], asked: Mapping[Bundle, int], held: Mapping[Bundle, Sequence[Piece]], solve: Solve
) -> dict[Bundle, list[Piece]]:  # fmt: skip
    """Return the largest sets of pieces that can stay within the free resources.

    `asked` gives the total units of each bundle. A small placement problem is solved in which every
    bundle is a component. Accelerators get distinct memories, so that nodes are distinguishable; no
    component asks for memory.
    """
    nodes = tuple(_node(position, node, free.get(node.rank, 0)) for position, node in enumerate(cell.nodes))
    rank = {node.rank: position for position, node in enumerate(cell.nodes)}
    components = tuple(_component(bundle, count) for bundle, count in asked.items())
    before = Assignment({bundle.name: _runs(unmoved, rank) for bundle, unmoved in held.items()})
    problem = Problem(Cluster(nodes), Job(components), before)
    plan = solve(problem).plan
    if plan is None:
        return {}
    placed = {bundle: pieces(problem, (problem[bundle.name],), plan.assignment).at for bundle in held}
    return {bundle: [piece for piece in unmoved if (rank[piece[0]], piece[1]) in placed[bundle]] for bundle, unmoved in held.items()}


def _node(position: int, node: Node, free: int) -> Node:
    count = free.bit_length()
    numa = {device.index: device.numa for device in node.accelerators}
    devices = tuple(replace(device, numa=numa.get(device.index, 0)) for device in accelerators(count, "", position + 1))
    return Node(position, str(position), devices, taken=((1 << count) - 1) & ~free)


def _component(bundle: Bundle, count: int) -> Component:
    keeps = (Keep(TP, NUMA),) if bundle.piece > 1 else ()
    amount = bundle.unit * count
    return Component(bundle.name, least=amount, most=amount, per_process=bundle.unit, parallel=Parallel(tp=bundle.piece), keep=keeps)


def _runs(kept_pieces: Sequence[Piece], rank: Mapping[int, int]) -> tuple[Run, ...]:
    return compress((number, [(rank[node], index) for index in bits(mask)]) for number, (node, mask) in enumerate(kept_pieces))


def were_ranked(layout: Layout, bundle: Bundle) -> bool:
    """Return True if a previous answer exists and the order of units is open.

    The order is fixed in one contiguous range.
    """
    return layout.problem.previous is not None and not (bundle.fixed or bundle.contiguous)


def in_ranks(layout: Layout, bundle: Bundle, held: Mapping[int, int]) -> list[Seat]:
    """Return the resources of a bundle in rank order.

    `held` maps node ranks to bit masks.

    A unit that stays keeps its number if the required domains allow it; other units fill the
    remaining numbers. If nodes must ascend with the ranks, or groups are kept together by
    preference, the nodes decide as without a previous answer: units keep their resources but not
    their numbers.
    """
    units = _units(bundle, held, survivors(layout.problem, bundle.components))
    wishes = any(
        not unmoved_groups.required and unmoved_groups.what != WHOLE for component in bundle.components for unmoved_groups in component.keep
    )
    if layout.problem.job.capabilities.nodes_in_order or wishes:
        seats_on: dict[int, list[Seat]] = {}
        for _, unit in units:
            seats_on.setdefault(unit[0][0], []).extend(unit)
        return [seats_on[node].pop(0) for node, _ in in_rank_order(layout, bundle, held)]
    block, levels = blocks(bundle)
    return [seat for unit in _filled(layout, units, block, levels) for seat in unit]


def _units(bundle: Bundle, masks: Mapping[int, int], old: Pieces) -> list[tuple[int | None, Unit]]:
    """Return (previous number or None, resources) node by node, unmoved units first."""
    stayed: dict[int, list[tuple[int, int]]] = {}
    for (node, mask), number in old.at.items():
        if not mask & ~masks.get(node, 0):
            stayed.setdefault(node, []).append((number, mask))
    units: list[tuple[int | None, Unit]] = []
    alone = len(bundle.components) == 1
    for node, mask in sorted(masks.items()):
        for number, stayed_mask in sorted(stayed.get(node, ())):
            # Components on the same resources have their own order inside a unit.
            units.append((number, tuple(old.seats((node, stayed_mask)) if alone else ((node, index) for index in bits(stayed_mask)))))
            mask &= ~stayed_mask
        left = [(node, index) for index in bits(mask)]
        units += [(None, tuple(left[start : start + bundle.unit])) for start in range(0, len(left), bundle.unit)]
    return units


def blocks(bundle: Bundle) -> tuple[int, tuple[str, ...]]:
    """Return (consecutive units that must share a domain, levels of the domains)."""
    sizes, levels = [bundle.unit], list[str]()
    for component in bundle.components:
        for unmoved_groups in component.keep:
            if unmoved_groups.required and unmoved_groups.what != WHOLE and unmoved_groups.level in LEVELS:
                sizes.append(size_of(component, unmoved_groups))
                levels.append(unmoved_groups.level)
    return lcm(*sizes) // bundle.unit, tuple(dict.fromkeys(levels))


def _filled(layout: Layout, units: Sequence[tuple[int | None, Unit]], block: int, levels: tuple[str, ...]) -> list[Unit]:
    """Return all units in rank order, block by block."""
    nodes, count = layout.problem.cluster.nodes, len(units)

    def place(unit: Unit) -> Place:
        return tuple(domain(nodes[unit[0][0]], level) for level in levels)

    fixed: list[Unit | None] = [None] * count
    free: dict[Place, list[Unit]] = {}
    for number, unit in units:
        if number is not None and number < count:
            fixed[number] = unit
        else:
            free.setdefault(place(unit), []).append(unit)
    whole: list[tuple[int, Place | None]] = []
    for start in range(0, count, block):
        places = [place(unit) for unit in fixed[start : start + block] if unit is not None]
        best = max(sorted(set(places)), key=places.count, default=None)
        for position, member in enumerate(fixed[start : start + block], start):
            if member is not None and place(member) != best:
                free.setdefault(place(member), []).append(member)
                fixed[position] = None
        whole.append((start, best))
    # Blocks that lack the fewest units come first, so that as few as possible are broken up.
    for start, best in sorted(whole, key=lambda entry: (_lack(fixed[entry[0] : entry[0] + block]), entry[0])):
        _complete(fixed, start, min(block, count - start), best, free)
    for start, _ in whole:
        if None in fixed[start : start + block]:
            size = min(block, count - start)
            _complete(fixed, start, size, next((candidate for candidate, units in free.items() if len(units) >= size), None), free)
    left = iter([unit for units in free.values() for unit in units])
    return [next(left) if member is None else member for member in fixed]


def _lack(units: Sequence[Unit | None]) -> int:
    return sum(unit is None for unit in units)


def _complete(fixed: list[Unit | None], start: int, size: int, best: Place | None, free: dict[Place, list[Unit]]) -> None:
    """Fill a block with units of its domain.

    If there are too few, all units of the block lose their numbers.
    """
    lack = _lack(fixed[start : start + size])
    if best is None or not lack:
        return
    if len(free.get(best, ())) < lack:
        for position in range(start, start + size):
            unit = fixed[position]
            if unit is not None:
                free.setdefault(best, []).append(unit)
                fixed[position] = None
        return
    for position in range(start, start + size):
        if fixed[position] is None:
            fixed[position] = free[best].pop(0)


def unmoved_groups(layout: Layout, pool: NodePool, values: Values, free: Mapping[int, int], solve: Solve) -> UnmovedPieces:
    """Return the groups that stay, cell by cell; all remaining units fit beside them.

    `free` is what the contiguous bundles of the pool leave. The numbers are maximal for these
    values. `solve` is called if the nodes of a cell must be distinguished.
    """
    unmoved: UnmovedPieces = {}
    old = {bundle: survivors(layout.problem, bundle.components) for bundle in pool.bundles}
    for owner, cell, previous in holdings(layout):
        if owner is pool:
            for bundle, stay in _OneCell(layout, pool, cell, values, free, _left(layout, previous, free), old).best(solve).items():
                unmoved.setdefault(bundle, []).extend(stay)
    return unmoved


def enclosed_beside(layout: Layout, kept: UnmovedPieces) -> dict[Bundle, dict[int, int]]:
    """Return explicit resources within searched bundles, without unmoved groups.

    Bundle -> node rank -> bit mask.
    """
    remaining = {bundle: dict(masks) for bundle, masks in layout.enclosed.items()}
    for bundle, node, mask in (
        (bundle, *piece) for bundle, unmoved_pieces in kept.items() if bundle in remaining for piece in unmoved_pieces
    ):
        remaining[bundle][node] = remaining[bundle].get(node, 0) & ~mask
    return remaining


def without_unmoved(counts: Counts, kept: UnmovedPieces, layout: Layout) -> Counts:
    """Subtract the unmoved units from the counts."""
    left: Counts = {}
    for bundle, cell_counts in counts.items():
        unmoved_cells = [layout.cell_of[node] for node, _ in kept.get(bundle, ())]
        left[bundle] = [(cell, count - unmoved_cells.count(cell)) for cell, count in cell_counts]
    return left


def _left(layout: Layout, previous: Holdings, free: Mapping[int, int]) -> Holdings:
    """Return the pieces outside the contiguous bundles."""
    remaining: Holdings = {}
    for bundle, nodes in previous.items():
        usable = {node: free.get(node, 0) | layout.enclosed.get(bundle, {}).get(node, 0) for node in nodes}
        remaining[bundle] = {node: [piece for piece in node_pieces if not piece[1] & ~usable[node]] for node, node_pieces in nodes.items()}
    return remaining


class _OneCell:
    """Search for the most unmoved pieces of one cell, with decided counts per bundle."""

    def __init__(
        self, layout: Layout, pool: NodePool, cell: Cell, values: Values, free: Mapping[int, int], previous: Holdings, old: Mapping[Bundle, Pieces]
    ) -> None:  # fmt: skip
        self.layout, self.pool, self.cell, self.free = layout, pool, cell, free
        counts = {bundle: values.get(Count(bundle, cell), 0) for bundle in pool.counted}
        self.asked = {bundle: count for bundle, count in counts.items() if isinstance(count, int) and count}
        self.held = {
            bundle: _in_order([piece for node_pieces in nodes.values() for piece in node_pieces], old[bundle], blocks(bundle)[0])
            for bundle, nodes in previous.items()
            if bundle in self.asked
        }

    def best(self, solve: Solve) -> UnmovedPieces:
        """Return the most pieces that can stay."""
        every = {bundle: unmoved[: self.asked[bundle]] for bundle, unmoved in self.held.items()}
        if self._fits(every):
            return every
        if len(self.cell.nodes) == 1:
            return self._tried()
        return unmoved_in_cell(self.cell, self.free, self.asked, self.held, solve)

    def _fits(self, stay: UnmovedPieces) -> bool:
        """Check that the remaining units fit beside the unmoved pieces."""
        if overlap([piece for unmoved in stay.values() for piece in unmoved]):
            return False
        free: NodeMasks = {node.rank: self.free.get(node.rank, 0) for node in self.cell.nodes}
        for node, mask in (piece for unmoved in stay.values() for piece in unmoved):
            free[node] &= ~mask
        remaining = {bundle: [(self.cell, count - len(stay.get(bundle, ())))] for bundle, count in self.asked.items()}
        try:
            assign_counts(self.pool, remaining, free, {bundle: {} for bundle in remaining}, enclosed_beside(self.layout, stay))
        except ExpansionFailed:
            return False
        return True

    def _tried(self) -> UnmovedPieces:
        """Return the largest set of unmoved pieces on one node, by enumeration."""
        every = [(bundle, piece) for bundle, unmoved in self.held.items() for piece in unmoved]
        best: list[tuple[Bundle, Piece]] = []

        def extend(position: int, taken: list[tuple[Bundle, Piece]], mask: int) -> None:
            nonlocal best
            if len(taken) > len(best) and self._fits(_by_bundle(taken)):
                best = list(taken)
            if position == len(every) or len(taken) + len(every) - position <= len(best):
                return
            bundle, piece = every[position]
            if not piece[1] & mask and sum(chosen is bundle for chosen, _ in taken) < self.asked[bundle]:
                extend(position + 1, [*taken, (bundle, piece)], mask | piece[1])
            extend(position + 1, taken, mask)

        extend(0, [], 0)
        return _by_bundle(best)


def _in_order(candidates: Sequence[Piece], old: Pieces, block: int) -> list[Piece]:
    """Sort pieces by likelihood of keeping their ranks.

    First pieces of replicas with most units here, then lowest ranks.
    """
    company = Counter(old.at[piece] // block for piece in candidates)
    return sorted(candidates, key=lambda piece: (-company[old.at[piece] // block], old.at[piece]))


def _by_bundle(taken: Sequence[tuple[Bundle, Piece]]) -> UnmovedPieces:
    by_bundle: UnmovedPieces = {}
    for bundle, piece in taken:
        by_bundle.setdefault(bundle, []).append(piece)
    return by_bundle
