"""Enumeration of small problems: every combination of values is placed and checked; no solver is loaded.

No rule encoding is used, so a wrong row of a model cannot hide an answer.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Callable, Iterable, Iterator, Sequence

from ..models.placements.assignment import Assignment
from .check import holds
from .expanding.counts import ExpansionFailed
from .expanding.expand import expand
from .layout.bundle import Bundle
from .layout.cells import Cell
from .layout.layout import Count, Layout, Values, list_allowed
from .layout.pools import NodePool
from .layout.ranges import is_restricted, whole_places

MOST_ACCELERATORS = 12
MOST_VALUES, MOST_CONFIRMING = 400, 5_000
"""Limits of combinations: before a search (some 0.3 s), and to confirm infeasibility (4 s)."""
PAIRS = 40
"""Limit of the pairs looked at per combination allowed."""
Capacity = Callable[[Cell, NodePool], int]
Load = dict[tuple[Cell, NodePool], int]
"""(cell, pool) -> used resources."""


def place(layout: Layout, values: Values) -> Assignment | None:
    """Return the Assignment of the values; None if they are no answer."""
    try:
        assignment = expand(layout, values)
    except ExpansionFailed:  # heuristic values that do not fit
        return None
    return assignment if holds(layout.problem, assignment) else None


def small_combinations(layout: Layout) -> list[Values] | None:
    """Return all combinations of values of a small problem; None for others."""
    problem = layout.problem
    if problem.previous is not None or sum(len(node.accelerators) for node in problem.cluster.nodes) > MOST_ACCELERATORS:
        return None
    return combinations(layout, MOST_VALUES)


def combinations(layout: Layout, most: int) -> list[Values] | None:
    """Return all combinations of values within the cells' capacities; None beyond `most`.

    None too if some places are left out.
    """
    if is_restricted(layout):
        return None
    every: list[Iterable[Values]] = [[{bundle: place} for place in whole_places(layout, bundle)] for bundle in layout.ranged]
    every += [_list_counts(layout, bundle) for bundle in layout.counted]
    every += [
        _spread(layout, dealt.bundle, range(dealt.fewest, dealt.processes + 1), [dealt.processes] * len(layout.cells))
        for dealt in layout.dealt.values()
    ]
    partial: list[tuple[Values, Load]] = [({}, {})]
    capacity = cache(lambda cell, pool: layout.capacity(cell, pool, 1))
    for choices in every:
        options = [(option, _load(layout, option)) for option in islice(choices, most + 1)]
        if len(options) > most or len(partial) * len(options) > PAIRS * most:
            return None
        partial = [
            ({**values, **option}, {**load, **total_load})
            for values, load in partial
            for option, option_load in options
            if (total_load := _add_load(capacity, load, option_load)) is not None
        ]
        if len(partial) > most:
            return None
    return [values for values, _ in partial]


def _list_counts(layout: Layout, bundle: Bundle) -> Iterator[Values]:
    """Yield all distributions of a bundle's units over cells."""
    free = [layout.pieces(bundle, cell, 1) for cell in layout.cells]
    return _spread(layout, bundle, list_allowed(layout, bundle, sum(free) // bundle.unit), [amount // bundle.unit for amount in free])


def _spread(layout: Layout, bundle: Bundle, totals: Sequence[int], headroom: Sequence[int]) -> Iterator[Values]:
    """Yield all divisions of a total among cells, at most `headroom` further units per cell."""
    counts = [count for count in layout.counts if count.bundle is bundle]
    lower = [-(-layout.count_enclosed(bundle, count.cell) // bundle.unit) for count in counts]

    upper = [lower[number] + headroom[count.cell.index] for number, count in enumerate(counts)]

    def divide(remaining: int, number: int) -> Iterator[Values]:
        if number == len(counts) - 1:
            if lower[number] <= remaining <= upper[number]:
                yield {counts[number]: remaining}
            return
        for units in range(min(remaining, upper[number]), lower[number] - 1, -1):  # ties keep the first nodes
            for later in divide(remaining - units, number + 1):
                yield {counts[number]: units, **later}

    for total in totals if counts else ():
        yield from divide(total, 0)


def _load(layout: Layout, values: Values) -> Load:
    """Return the resources used per cell and pool; nested bundles are left to the checks."""
    load: Load = {}
    for key, value in values.items():
        if isinstance(key, Count) and isinstance(value, int) and key.bundle in layout.pool_of:
            pool = layout.pool_of[key.bundle]
            if pool.host is None and pool not in layout.shared:
                amount = value * key.bundle.unit - layout.count_enclosed(key.bundle, key.cell)
                load[key.cell, pool] = load.get((key.cell, pool), 0) + amount
    return load


def _add_load(capacity: Capacity, load: Load, more: Load) -> Load | None:
    """Return the summed loads in the cells of `more`; None if a capacity is exceeded."""
    total_load = {key: load.get(key, 0) + amount for key, amount in more.items()}
    return total_load if all(amount <= capacity(*key) for key, amount in total_load.items()) else None
