"""Groups that stay where they were, and the order of ranks that keeps them there."""

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
from ..layout.pools import Pool
from ..layout.ranks import in_rank_order
from ..objectives.moves import Holdings, Piece, Pieces, holdings, overlap, pieces, survivors
from .counts import ExpansionFailed, Held, count_out

Unit = tuple[Seat, ...]
Place = tuple[str, ...]
"""The domains that a unit is in, of the levels in which something is kept together."""
Kept = dict[Bundle, list[Piece]]
"""The groups of each bundle that stay."""
Counts = dict[Bundle, list[tuple[Cell, int]]]
"""How many units of a bundle are in which cells."""


def cell_apart(
    cell: Cell, free: Mapping[int, int], asked: Mapping[Bundle, int], held: Mapping[Bundle, Sequence[Piece]], solve: Solve
) -> dict[Bundle, list[Piece]]:  # fmt: skip
    """The most pieces that can stay beside so many units of each bundle, in what is free.

    Every bundle is a component of its own there. Nodes are told apart by the memory of their accelerators, which nobody asks for.
    """
    nodes = tuple(_node(position, node, free.get(node.rank, 0)) for position, node in enumerate(cell.nodes))
    rank = {node.rank: position for position, node in enumerate(cell.nodes)}
    components = tuple(_component(bundle, count) for bundle, count in asked.items())
    before = Assignment({bundle.name: _runs(its, rank) for bundle, its in held.items()})
    problem = Problem(Cluster(nodes), Job(components), before)
    plan = solve(problem).plan
    if plan is None:
        return {}
    now = {bundle: pieces(problem, (problem[bundle.name],), plan.assignment).at for bundle in held}
    return {bundle: [piece for piece in its if (rank[piece[0]], piece[1]) in now[bundle]] for bundle, its in held.items()}


def _node(position: int, node: Node, free: int) -> Node:
    count = free.bit_length()
    numa = {device.index: device.numa for device in node.accelerators}
    devices = tuple(replace(device, numa=numa.get(device.index, 0)) for device in accelerators(count, "", position + 1))
    return Node(position, str(position), devices, taken=((1 << count) - 1) & ~free)


def _component(bundle: Bundle, count: int) -> Component:
    kept = (Keep(TP, NUMA),) if bundle.piece > 1 else ()
    amount = bundle.unit * count
    return Component(bundle.name, least=amount, most=amount, per_process=bundle.unit, parallel=Parallel(tp=bundle.piece), keep=kept)


def _runs(held: Sequence[Piece], rank: Mapping[int, int]) -> tuple[Run, ...]:
    return compress((number, [(rank[node], index) for index in bits(mask)]) for number, (node, mask) in enumerate(held))


def were_ranked(layout: Layout, bundle: Bundle) -> bool:
    """Is there a previous answer, and is the order of the bundle's units open? In one solid range it is not."""
    return layout.problem.previous is not None and not (bundle.fixed or bundle.contiguous)


def in_ranks(layout: Layout, bundle: Bundle, held: Mapping[int, int]) -> list[Seat]:
    """The resources of a bundle, unit by unit, in the order of ranks; `held` are they node by node, as bit masks.

    A unit that stayed keeps its number where what must lie in one domain still does; the others fill the numbers that are left. Where
    nodes must ascend with the ranks, or where groups should be kept together that need not, the nodes decide as they do without a
    previous answer: then units keep their resources, but not their numbers.
    """
    units = _units(bundle, held, survivors(layout.problem, bundle.components))
    wishes = any(not keep.required and keep.what != WHOLE for component in bundle.components for keep in component.keep)
    if layout.problem.job.capabilities.nodes_in_order or wishes:
        there: dict[int, list[Seat]] = {}
        for _, unit in units:
            there.setdefault(unit[0][0], []).extend(unit)
        return [there[node].pop(0) for node, _ in in_rank_order(layout, bundle, held)]
    block, levels = blocks(bundle)
    return [seat for unit in _filled(layout, units, block, levels) for seat in unit]


def _units(bundle: Bundle, held: Mapping[int, int], old: Pieces) -> list[tuple[int | None, Unit]]:
    """(its number before if it stayed, its resources), node by node, those that stayed first."""
    stayed: dict[int, list[tuple[int, int]]] = {}
    for (node, mask), number in old.at.items():
        if not mask & ~held.get(node, 0):
            stayed.setdefault(node, []).append((number, mask))
    found: list[tuple[int | None, Unit]] = []
    alone = len(bundle.components) == 1
    for node, mask in sorted(held.items()):
        for number, its in sorted(stayed.get(node, ())):
            # Components on the same resources have an order of their own inside a unit.
            found.append((number, tuple(old.seats((node, its)) if alone else ((node, index) for index in bits(its)))))
            mask &= ~its
        left = [(node, index) for index in bits(mask)]
        found += [(None, tuple(left[start : start + bundle.unit])) for start in range(0, len(left), bundle.unit)]
    return found


def blocks(bundle: Bundle) -> tuple[int, tuple[str, ...]]:
    """(units on end that must lie in one domain, of which levels)."""
    sizes, levels = [bundle.unit], list[str]()
    for component in bundle.components:
        for keep in component.keep:
            if keep.required and keep.what != WHOLE and keep.level in LEVELS:
                sizes.append(size_of(component, keep))
                levels.append(keep.level)
    return lcm(*sizes) // bundle.unit, tuple(dict.fromkeys(levels))


def _filled(layout: Layout, units: Sequence[tuple[int | None, Unit]], block: int, levels: tuple[str, ...]) -> list[Unit]:
    """All units in rank order, block by block."""
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
        for position, its in enumerate(fixed[start : start + block], start):
            if its is not None and place(its) != best:
                free.setdefault(place(its), []).append(its)
                fixed[position] = None
        whole.append((start, best))
    # The blocks that lack least come first, so that as few as possible are taken apart.
    for start, best in sorted(whole, key=lambda its: (_lack(fixed[its[0] : its[0] + block]), its[0])):
        _complete(fixed, start, min(block, count - start), best, free)
    for start, _ in whole:
        if None in fixed[start : start + block]:
            size = min(block, count - start)
            _complete(fixed, start, size, next((its for its, units in free.items() if len(units) >= size), None), free)
    left = iter([unit for units in free.values() for unit in units])
    return [next(left) if its is None else its for its in fixed]


def _lack(units: Sequence[Unit | None]) -> int:
    return sum(unit is None for unit in units)


def _complete(fixed: list[Unit | None], start: int, size: int, best: Place | None, free: dict[Place, list[Unit]]) -> None:
    """Fill a block with units of its domain if there are enough of them; else none of it keeps its number."""
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


def keep(layout: Layout, pool: Pool, values: Values, free: Mapping[int, int], solve: Solve) -> Kept:
    """The groups that stay, cell by cell, so that all other units find room beside them.

    `free` is what the contiguous bundles of the pool leave. The numbers are the most that these values allow. `solve` is asked where
    the nodes of a cell must be told apart.
    """
    found: Kept = {}
    old = {bundle: survivors(layout.problem, bundle.components) for bundle in pool.bundles}
    for its, cell, held in holdings(layout):
        if its is pool:
            for bundle, stay in _OneCell(layout, pool, cell, values, free, _left(layout, held, free), old).best(solve).items():
                found.setdefault(bundle, []).extend(stay)
    return found


def enclosed_beside(layout: Layout, kept: Kept) -> dict[Bundle, dict[int, int]]:
    """Resources of given bundles within searched ones, without groups that stay: bundle -> node rank -> bit mask."""
    found = {bundle: dict(masks) for bundle, masks in layout.enclosed.items()}
    for bundle, node, mask in ((bundle, *piece) for bundle, its in kept.items() if bundle in found for piece in its):
        found[bundle][node] = found[bundle].get(node, 0) & ~mask
    return found


def rest(counts: Counts, kept: Kept, layout: Layout) -> Counts:
    """The counts without the units that stay."""
    left: Counts = {}
    for bundle, its in counts.items():
        there = [layout.cell_of[node] for node, _ in kept.get(bundle, ())]
        left[bundle] = [(cell, count - there.count(cell)) for cell, count in its]
    return left


def _left(layout: Layout, held: Holdings, free: Mapping[int, int]) -> Holdings:
    """The pieces that the contiguous bundles leave alone."""
    found: Holdings = {}
    for bundle, nodes in held.items():
        room = {node: free.get(node, 0) | layout.enclosed.get(bundle, {}).get(node, 0) for node in nodes}
        found[bundle] = {node: [piece for piece in its if not piece[1] & ~room[node]] for node, its in nodes.items()}
    return found


class _OneCell:
    """A cell for which it is decided how many units of each bundle it has, and what each could keep there."""

    def __init__(
        self, layout: Layout, pool: Pool, cell: Cell, values: Values, free: Mapping[int, int], held: Holdings, old: Mapping[Bundle, Pieces]
    ) -> None:  # fmt: skip
        self.layout, self.pool, self.cell, self.free = layout, pool, cell, free
        asked = {bundle: values.get(Count(bundle, cell), 0) for bundle in pool.counted}
        self.asked = {bundle: count for bundle, count in asked.items() if isinstance(count, int) and count}
        self.held = {
            bundle: _in_order([piece for its in nodes.values() for piece in its], old[bundle], blocks(bundle)[0])
            for bundle, nodes in held.items()
            if bundle in self.asked
        }

    def best(self, solve: Solve) -> Kept:
        """The most that can stay."""
        every = {bundle: its[: self.asked[bundle]] for bundle, its in self.held.items()}
        if self._fits(every):
            return every
        if len(self.cell.nodes) == 1:
            return self._tried()
        return cell_apart(self.cell, self.free, self.asked, self.held, solve)

    def _fits(self, stay: Kept) -> bool:
        """Do all other units find room beside these?"""
        if overlap([piece for its in stay.values() for piece in its]):
            return False
        free: Held = {node.rank: self.free.get(node.rank, 0) for node in self.cell.nodes}
        for node, mask in (piece for its in stay.values() for piece in its):
            free[node] &= ~mask
        others = {bundle: [(self.cell, count - len(stay.get(bundle, ())))] for bundle, count in self.asked.items()}
        try:
            count_out(self.pool, others, free, {bundle: {} for bundle in others}, enclosed_beside(self.layout, stay))
        except ExpansionFailed:
            return False
        return True

    def _tried(self) -> Kept:
        """The most of one node, tried out: there are few."""
        every = [(bundle, piece) for bundle, its in self.held.items() for piece in its]
        best: list[tuple[Bundle, Piece]] = []

        def extend(position: int, taken: list[tuple[Bundle, Piece]], mask: int) -> None:
            nonlocal best
            if len(taken) > len(best) and self._fits(_by_bundle(taken)):
                best = list(taken)
            if position == len(every) or len(taken) + len(every) - position <= len(best):
                return
            bundle, piece = every[position]
            if not piece[1] & mask and sum(other is bundle for other, _ in taken) < self.asked[bundle]:
                extend(position + 1, [*taken, (bundle, piece)], mask | piece[1])
            extend(position + 1, taken, mask)

        extend(0, [], 0)
        return _by_bundle(best)


def _in_order(its: Sequence[Piece], old: Pieces, block: int) -> list[Piece]:
    """Those that had most company of their own replica here, and of these the lowest ranks: they are likest to keep their ranks."""
    company = Counter(old.at[piece] // block for piece in its)
    return sorted(its, key=lambda piece: (-company[old.at[piece] // block], old.at[piece]))


def _by_bundle(taken: Sequence[tuple[Bundle, Piece]]) -> Kept:
    found: Kept = {}
    for bundle, piece in taken:
        found.setdefault(bundle, []).append(piece)
    return found
