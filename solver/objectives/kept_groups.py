"""How many groups stay where they were, in the solver's words: exact node by node, or from above for a whole cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

from ..replanning.pieces import Piece

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cell import Cell
    from ..layout.layout import Layout
    from ..layout.pool import Pool
    from ..model.variables import Amount, Variables

Held = dict[int, list[Piece]]
"""node rank -> pieces there."""
Holdings = dict["Bundle", Held]
"""The pieces that the bundles of a pool could keep."""


def kept_exactly(variables: Variables, pool: Pool, cell: Cell, holdings: Holdings) -> Iterator[tuple[Bundle, Amount]]:
    """(bundle, how many of its pieces the cell keeps), with all that this needs.

    On nodes that are told apart the counts decide. Where they are not, the units of each node are counted here: kept ones and others
    have room on it together. Nodes where nothing is to be kept stay one where group sizes form a chain.
    """
    counted = [bundle for bundle in pool.bundles if not bundle.contiguous]
    nodes = [node.rank for node in cell.nodes]
    kept = {node: _on_node(variables, pool, node, {b: its[node] for b, its in holdings.items() if node in its}) for node in nodes}
    totals = {bundle: variables.total(its[bundle] for its in kept.values() if bundle in its) for bundle in holdings}
    if len(nodes) == 1:
        for bundle, amount in totals.items():
            variables.at_most(amount, variables.units(bundle, cell))
    else:
        _spread(variables, pool, cell, counted, kept)
    yield from totals.items()


def _on_node(variables: Variables, pool: Pool, node: int, there: Held | dict[Bundle, list[Piece]]) -> dict[Bundle, Amount]:
    """Of each bundle, how many of its pieces the node keeps."""
    its: dict[Bundle, list[Piece]] = there  # type: ignore[assignment]
    ranged = [bundle for bundle in pool.bundles if bundle.contiguous]
    if not ranged and not _overlap([piece for pieces in its.values() for piece in pieces]):
        return {bundle: variables.integer(0, len(pieces), f"{bundle.name} kept on {node}") for bundle, pieces in its.items()}
    literals = [(bundle, mask, variables.boolean(f"{bundle.name} kept on {node}")) for bundle, pieces in its.items() for _, mask in pieces]
    every = 0
    for _, mask, _ in literals:
        every |= mask
    for index in range(every.bit_length()):
        here = [literal for _, mask, literal in literals if mask >> index & 1]
        if here:
            variables.at_most(variables.total([*here, *(variables.covers(other, node, index) for other in ranged)]), 1)
    return {bundle: variables.total(literal for b, _, literal in literals if b is bundle) for bundle in its}


def _overlap(pieces: list[Piece]) -> bool:
    seen = 0
    for _, mask in pieces:
        if mask & seen:
            return True
        seen |= mask
    return False


def _spread(variables: Variables, pool: Pool, cell: Cell, counted: list[Bundle], kept: dict[int, dict[Bundle, Amount]]) -> None:
    """The units of the cell lie on its nodes, the kept ones where they were."""
    ranged = [bundle for bundle in pool.bundles if bundle.contiguous]
    apart = [node for node, its in kept.items() if its or ranged]
    together = [node for node, its in kept.items() if not (its or ranged)]
    parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted}
    for node in apart:
        free, load = pool.free.get(node, 0).bit_count(), list[Amount]()
        for bundle in counted:
            others = variables.integer(0, free // bundle.unit, f"other {bundle.name} on {node}")
            there = variables.total([kept[node].get(bundle, 0), others])
            parts[bundle].append(there)
            load.append(bundle.unit * there)
        load += [variables.accelerators_on(bundle, node) for bundle in ranged]
        variables.at_most(variables.total(load), free)
    slots = {size: sum(pool.free.get(node, 0).bit_count() // size for node in together) for size in {b.unit for b in counted}}
    rest = {bundle: variables.integer(0, slots[bundle.unit], f"{bundle.name} elsewhere in {cell.name}") for bundle in counted}
    for size, room in sorted(slots.items()):
        load = [bundle.unit // size * rest[bundle] for bundle in counted if bundle.unit >= size]
        variables.at_most(variables.total(load), room)
    for bundle in counted:
        there = variables.total([*parts[bundle], rest[bundle]])
        variables.require(variables.units(bundle, cell) == there, f"{bundle.name} in {cell.name}")


def kept_at_most(variables: Variables, pool: Pool, cell: Cell, holdings: Holdings) -> Iterator[tuple[Bundle, Amount]]:
    """(bundle, no less than what the cell can keep of it): for a cell of several nodes, by counts of the cell alone.

    What is not kept has room in what is left beside all that could be, or in what groups that are given up leave.
    """
    counted = [bundle for bundle in pool.bundles if not bundle.contiguous]
    totals = {bundle: sum(len(its) for its in held.values()) for bundle, held in holdings.items()}
    kept = {bundle: variables.integer(0, total, f"{bundle.name} kept in {cell.name}") for bundle, total in totals.items()}
    for bundle, amount in kept.items():
        variables.at_most(amount, variables.units(bundle, cell))
    left = _left(pool, cell, holdings)
    for size in sorted({bundle.unit for bundle in counted}):
        others = [b.unit // size * (variables.units(b, cell) - kept.get(b, 0)) for b in counted if b.unit >= size]
        # Every figure times `scale`, so that the shares of a slot that small groups leave are whole numbers.
        gains = {bundle: _gain(bundle.unit, size, left, held) for bundle, held in holdings.items()}
        scale = 1
        for _, of in gains.values():
            scale *= of // _common(scale, of)
        free = sum(room // size for room in left.values() if room > 0)
        given_up = [scale * gain // of * (totals[b] - kept[b]) for b, (gain, of) in gains.items() if gain]
        variables.at_most(scale * variables.total(others), variables.total([scale * free, *given_up]))
    yield from kept.items()


def _left(pool: Pool, cell: Cell, holdings: Holdings) -> dict[int, int]:
    """Node -> resources that are free there beside all pieces that could be kept."""
    left = {node.rank: pool.free.get(node.rank, 0).bit_count() for node in cell.nodes}
    for bundle, held in holdings.items():
        for node, its in held.items():
            left[node] -= bundle.unit * len(its)
    return left


def _gain(unit: int, size: int, left: dict[int, int], held: Held) -> tuple[int, int]:
    """(numerator, denominator): how many slots of `size` a piece of `unit` resources leaves at most, as a share.

    A larger one leaves its whole multiple. A smaller one completes at most one, and only together with what is left on its node:
    `size - left % size` resources are missing for the next one, of which it brings `unit`.
    """
    if unit >= size:
        return unit // size, 1
    missing = min((size - left[node] % size for node in held), default=size)
    return (1, 1) if unit >= missing else (unit, missing)


def _common(one: int, other: int) -> int:
    while other:
        one, other = other, one % other
    return one


def loose(layout: Layout, pool: Pool, cell: Cell, holdings: Holdings) -> bool:
    """Can a cell be counted as a whole: several nodes, no ranges among them, and no two pieces on the same resources?"""
    if len(cell.nodes) == 1 or any(bundle.contiguous for bundle in pool.bundles):
        return False
    nodes = sorted({node for held in holdings.values() for node in held})
    return not any(_overlap([piece for held in holdings.values() for piece in held.get(node, ())]) for node in nodes)
