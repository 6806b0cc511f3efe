"""Which groups stay where they were, once it is known how many of each bundle are in each cell: as many as any answer can keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Sequence

from ...models.component import Component
from ...models.job import Job
from ...models.machines.accelerators import accelerators
from ...models.machines.cluster import Cluster, Node
from ...models.placements.assignment import Assignment, Run, Seat, compress
from ...models.problem import Problem
from ..layout.values import Count, Values
from ..objectives.moves import holdings
from .pieces import Piece, Pieces, indices, pieces, survivors

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cell import Cell
    from ..layout.layout import Layout
    from ..layout.pool import Pool
    from ..objectives.kept_groups import Holdings

Kept = dict["Bundle", list[tuple[Seat, ...]]]
"""The resources of each group that stays, in the order of its ranks."""


def keep(layout: Layout, pool: Pool, values: Values, free: Mapping[int, int]) -> Kept:
    """The groups that stay, cell by cell, so that all other units find room beside them.

    `free` is what the contiguous bundles of the pool leave. The numbers are the most that these values allow.
    """
    found: Kept = {}
    old = {bundle: survivors(layout.problem, bundle.components) for bundle in pool.bundles}
    for its, cell, held in holdings(layout):
        if its is pool:
            for bundle, stay in _in_cell(layout, pool, cell, values, free, _left(held, free), old).items():
                found.setdefault(bundle, []).extend(tuple(old[bundle].seats(piece)) for piece in stay)
    return found


def _left(held: Holdings, free: Mapping[int, int]) -> Holdings:
    """The pieces that the contiguous bundles leave alone."""
    return {b: {node: [p for p in its if not p[1] & ~free.get(node, 0)] for node, its in nodes.items()} for b, nodes in held.items()}


def _in_cell(
    layout: Layout, pool: Pool, cell: Cell, values: Values, free: Mapping[int, int], held: Holdings, old: Mapping[Bundle, Pieces]
) -> dict[Bundle, list[Piece]]:  # fmt: skip
    asked = {bundle: _value(values, bundle, cell) for bundle in pool.bundles if not bundle.contiguous}
    first = {
        # Those of the lowest ranks may keep their ranks where fewer groups run on.
        bundle: sorted((piece for its in nodes.values() for piece in its), key=lambda piece: old[bundle].at[piece])[: asked[bundle]]
        for bundle, nodes in held.items()
    }
    if not _overlap(first) and _fits(cell, asked, free, first):
        return first
    if len(cell.nodes) == 1:
        return _apart(first, asked, held)
    return _searched(layout, cell, asked, free, held)


def _value(values: Values, bundle: Bundle, cell: Cell) -> int:
    value = values.get(Count(bundle, cell), 0)
    return value if isinstance(value, int) else 0


def _overlap(stay: Mapping[Bundle, Sequence[Piece]]) -> bool:
    seen: dict[int, int] = {}
    for node, mask in (piece for its in stay.values() for piece in its):
        if seen.get(node, 0) & mask:
            return True
        seen[node] = seen.get(node, 0) | mask
    return False


def _fits(cell: Cell, asked: Mapping[Bundle, int], free: Mapping[int, int], stay: Mapping[Bundle, Sequence[Piece]]) -> bool:
    """Do all other units find room beside these? Largest first, which decides it where sizes form a chain or the node is one."""
    left = {node.rank: free.get(node.rank, 0).bit_count() for node in cell.nodes}
    for bundle, its in stay.items():
        for node, _ in its:
            left[node] -= bundle.unit
    if min(left.values()) < 0:
        return False
    for bundle in sorted(asked, key=lambda bundle: -bundle.unit):
        others = asked[bundle] - len(stay.get(bundle, ()))
        for node in left:
            take = min(others, left[node] // bundle.unit)
            left[node] -= take * bundle.unit
            others -= take
        if others:
            return False
    return True


def _apart(stay: Mapping[Bundle, Sequence[Piece]], asked: Mapping[Bundle, int], held: Holdings) -> dict[Bundle, list[Piece]]:
    """The most pieces of one node that hold no resource twice, of no bundle more than are asked for."""
    every = [(bundle, piece) for bundle, nodes in held.items() for its in nodes.values() for piece in its]
    best: list[tuple[Bundle, Piece]] = []

    def extend(position: int, taken: list[tuple[Bundle, Piece]], mask: int) -> None:
        nonlocal best
        if len(taken) > len(best):
            best = list(taken)
        if len(taken) + len(every) - position <= len(best):
            return
        bundle, piece = every[position]
        if not piece[1] & mask and sum(other is bundle for other, _ in taken) < asked[bundle]:
            extend(position + 1, [*taken, (bundle, piece)], mask | piece[1])
        extend(position + 1, taken, mask)

    extend(0, [], 0)
    return {bundle: [piece for other, piece in best if other is bundle] for bundle in stay}


def _searched(
    layout: Layout, cell: Cell, asked: Mapping[Bundle, int], free: Mapping[int, int], held: Holdings
) -> dict[Bundle, list[Piece]]:  # fmt: skip
    """The cell as a problem of its own, in which every node is told apart by the memory of its accelerators."""
    from ..searching.search import solve

    ranks = [node.rank for node in cell.nodes]
    nodes = []
    for position, rank in enumerate(ranks):
        count = free.get(rank, 0).bit_length()
        nodes.append(Node(position, str(rank), accelerators(count, "", position + 1), taken=((1 << count) - 1) & ~free.get(rank, 0)))
    wanted = [(b, count) for b, count in asked.items() if count]
    components = tuple(Component(b.name, least=b.unit * n, most=b.unit * n, per_process=b.unit) for b, n in wanted)
    before = {b.name: _runs([piece for its in held[b].values() for piece in its], ranks) for b, _ in wanted if b in held}
    problem = Problem(Cluster(tuple(nodes)), Job(components), Assignment(before))
    plan = solve(problem).plan
    if plan is None:
        return {}
    found: dict[Bundle, list[Piece]] = {}
    for bundle, _ in wanted:
        now = pieces(problem, (problem[bundle.name],), plan.assignment).at
        its = [piece for at in held.get(bundle, {}).values() for piece in at if (ranks.index(piece[0]), piece[1]) in now]
        found[bundle] = its
    return found


def _runs(held: Sequence[Piece], ranks: Sequence[int]) -> tuple[Run, ...]:
    seats = [[(ranks.index(node), index) for index in indices(mask)] for node, mask in held]
    return compress(enumerate(seats))


def rest(values: Values, pool: Pool, kept: Kept, layout: Layout) -> Values:
    """The values without the units that stay."""
    left = dict(values)
    for bundle, its in kept.items():
        for seats in its:
            key = Count(bundle, layout.cell_of[seats[0][0]])
            value = left[key]
            left[key] = value - 1 if isinstance(value, int) else value
    return left
