"""The order in which a bundle's groups get their process ranks, so that those that stayed keep theirs."""

from __future__ import annotations

from math import lcm
from typing import Mapping, Sequence

from ....models.locality import WHOLE
from ....models.machines.topology import LEVELS, domain
from ....models.placements.assignment import Seat
from ...layout.bundle import Bundle
from ...layout.grain import size_of
from ...layout.layout import Layout
from ...layout.masks import bits
from ...layout.ranks.rank_order import in_rank_order
from ...objectives.moved.pieces import Pieces, survivors

Unit = tuple[Seat, ...]
Place = tuple[str, ...]
"""The domains that a unit is in, of the levels in which something is kept together."""


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
