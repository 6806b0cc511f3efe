"""Which groups stay where they were, once it is known how many of each bundle are in each cell: as many as any answer can keep."""

from __future__ import annotations

from collections import Counter
from typing import Mapping, Sequence

from ....models.answer import Solve
from ...layout.bundle import Bundle
from ...layout.cell import Cell
from ...layout.layout import Layout
from ...layout.pool import Pool
from ...layout.values import Count, Values
from ...objectives.moved.kept_groups import Holdings, overlap
from ...objectives.moved.moves import holdings
from ...objectives.moved.pieces import Piece, Pieces, survivors
from ..count_out import ExpansionFailed, Held, count_out
from .cell_apart import cell_apart
from .in_ranks import blocks

Kept = dict[Bundle, list[Piece]]
"""The groups of each bundle that stay."""
Counts = dict[Bundle, list[tuple[Cell, int]]]
"""How many units of a bundle are in which cells."""


def keep(layout: Layout, pool: Pool, values: Values, free: Mapping[int, int], solve: Solve) -> Kept:
    """The groups that stay, cell by cell, so that all other units find room beside them.

    `free` is what the contiguous bundles of the pool leave. The numbers are the most that these values allow. `solve` is asked where
    the nodes of a cell must be told apart.
    """
    found: Kept = {}
    old = {bundle: survivors(layout.problem, bundle.components) for bundle in pool.bundles}
    for its, cell, held in holdings(layout):
        if its is pool:
            for bundle, stay in _OneCell(layout, pool, cell, values, free, _left(held, free), old).best(solve).items():
                found.setdefault(bundle, []).extend(stay)
    return found


def rest(counts: Counts, kept: Kept, layout: Layout) -> Counts:
    """The counts without the units that stay."""
    left: Counts = {}
    for bundle, its in counts.items():
        there = [layout.cell_of[node] for node, _ in kept.get(bundle, ())]
        left[bundle] = [(cell, count - there.count(cell)) for cell, count in its]
    return left


def _left(held: Holdings, free: Mapping[int, int]) -> Holdings:
    """The pieces that the contiguous bundles leave alone."""
    return {b: {node: [p for p in its if not p[1] & ~free.get(node, 0)] for node, its in nodes.items()} for b, nodes in held.items()}


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
            count_out(self.pool, others, free, {bundle: {} for bundle in others})
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
