"""The order in which a bundle's groups get their process ranks, so that those that stayed keep theirs."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, Sequence

from ...models.locality import EP, REPLICA
from ...models.machines.topology import domain
from ...models.placements.assignment import Seat
from .pieces import Pieces, survivors

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout

Unit = tuple[Seat, ...]
Place = tuple[str, ...]
"""The domains that a unit is in, of the levels in which something is kept together."""


def were_ranked(layout: Layout, bundle: Bundle) -> bool:
    """Is there a previous answer, and is the order of the bundle's units open? In one solid range it is not."""
    return layout.problem.previous is not None and not (bundle.fixed or bundle.contiguous)


def in_ranks(layout: Layout, bundle: Bundle, held: Sequence[Seat]) -> list[Seat]:
    """The resources of a bundle, unit by unit, in the order of ranks.

    `held` are they unit by unit, in any order of the units. A unit that stayed keeps its number, and the order inside it, where what must
    lie in one domain still does; the others fill the numbers that are left. Where nodes must ascend with the ranks, the nodes decide.
    """
    old = survivors(layout.problem, bundle.components)
    units = sorted(tuple(held[start : start + bundle.unit]) for start in range(0, len(held), bundle.unit))
    numbered = [(_number(old, unit), unit) for unit in units]
    if layout.problem.job.capabilities.nodes_in_order:
        return [seat for known, unit in numbered for seat in (known[1] if known else unit)]
    block, levels = _blocks(layout, bundle)
    return [seat for unit in _filled(layout, numbered, block, levels) for seat in unit]


def _number(old: Pieces, unit: Unit) -> tuple[int, Unit] | None:
    """The number that it had, with its resources in the order that they had."""
    mask = 0
    for _, index in unit:
        mask |= 1 << index
    piece = (unit[0][0], mask)
    return (old.at[piece], tuple(old.seats(piece))) if piece in old.at else None


def _blocks(layout: Layout, bundle: Bundle) -> tuple[int, tuple[str, ...]]:
    """(units on end that must lie in one domain, of which levels)."""
    sizes, levels = [bundle.unit], list[str]()
    for component in bundle.components:
        for keep in component.keep:
            if keep.required and keep.what in (EP, REPLICA):
                parallel = component.parallel
                sizes.append(parallel.replica if keep.what == REPLICA else parallel.tp * parallel.ep)
                levels.append(keep.level)
    return lcm(*sizes) // bundle.unit, tuple(dict.fromkeys(levels))


def _filled(
    layout: Layout, numbered: Sequence[tuple[tuple[int, Unit] | None, Unit]], block: int, levels: tuple[str, ...]
) -> list[Unit]:  # fmt: skip
    """All units in rank order, block by block."""
    nodes = layout.problem.cluster.nodes

    def place(unit: Unit) -> Place:
        return tuple(domain(nodes[unit[0][0]], level) for level in levels)

    count = len(numbered)
    fixed: list[Unit | None] = [None] * count
    free: dict[Place, list[Unit]] = {}
    for known, unit in numbered:
        if known is not None and known[0] < count:
            fixed[known[0]] = known[1]
        else:
            free.setdefault(place(unit), []).append(known[1] if known else unit)
    whole: list[tuple[int, Place | None]] = []
    for start in range(0, count, block):
        places = [place(unit) for unit in fixed[start : start + block] if unit is not None]
        best = max(sorted(set(places)), key=places.count, default=None)
        for position, unit in enumerate(fixed[start : start + block], start):
            if unit is not None and place(unit) != best:
                free.setdefault(place(unit), []).append(unit)
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
    return [next(left) if unit is None else unit for unit in fixed]


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
