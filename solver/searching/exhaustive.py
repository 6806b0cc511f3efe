"""Enumeration of small problems: every combination of values is checked; no solver is loaded.

No rule encoding is used, so a wrong row of a model cannot hide an answer.
"""

from __future__ import annotations

from itertools import islice
from typing import Iterable, Iterator, Sequence

from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values, list_allowed
from ..layout.pools import NodePool
from ..layout.ranges import whole_places
from .state import ChoiceState

MOST_ACCELERATORS = 12
MOST_VALUES, MOST_CONFIRMING = 400, 5_000
"""Limits of combinations: before a search (some 0.3 s), and to confirm infeasibility (4 s)."""
A_VALUE = 1e-3
"""Metered seconds per combination."""
Load = dict[tuple[Cell, NodePool], int]
"""(cell, pool) -> used resources."""


def settle(standing: ChoiceState) -> bool:
    """Find and prove the best answer of a small problem; False if large or infeasible."""
    nodes = standing.problem.cluster.nodes
    if standing.problem.previous is not None or sum(len(node.accelerators) for node in nodes) > MOST_ACCELERATORS:
        return False
    every = combinations(standing.layout, MOST_VALUES)
    if every is None or not _judge_all(standing, every):
        return False
    standing.prove_best()
    return True


def confirm(standing: ChoiceState) -> None:
    """Enumerate after a search without result.

    An answer refutes the search; otherwise `tried` is set to the number of combinations.
    """
    every = combinations(standing.layout, MOST_CONFIRMING) if standing.problem.previous is None else None
    if every is None:
        return
    if _judge_all(standing, every):
        standing.refuted = False
    else:
        standing.tried = len(every)


def _judge_all(standing: ChoiceState, every: Sequence[Values]) -> bool:
    """Judge all combinations and keep the best; True if an answer exists."""
    for values in every:
        standing.judge(values, "search")
    standing.spent += A_VALUE * len(every)
    return standing.assignment is not None


def combinations(layout: Layout, most: int) -> list[Values] | None:
    """Return all combinations of values within the cells' capacities; None beyond `most`."""
    every: list[Iterable[Values]] = [[{bundle: place} for place in whole_places(layout, bundle)] for bundle in layout.ranged]
    every += [_list_counts(layout, bundle) for bundle in layout.counted]
    every += [_spread(layout, dealt.bundle, range(dealt.fewest, dealt.processes + 1), dealt.processes) for dealt in layout.dealt.values()]
    partial: list[tuple[Values, Load]] = [({}, {})]
    for choices in every:
        options = [(option, _load(layout, option)) for option in islice(choices, most + 1)]
        partial = [
            ({**values, **option}, {**load, **total_load})
            for values, load in partial
            for option, option_load in options
            if (total_load := _add_load(layout, load, option_load)) is not None
        ]
        if len(options) > most or len(partial) > most:
            return None
    return [values for values, _ in partial]


def _list_counts(layout: Layout, bundle: Bundle) -> Iterator[Values]:
    """Yield all distributions of a bundle's units over cells."""
    capacity = sum(layout.pieces(bundle, cell, 1) for cell in layout.cells) // bundle.unit
    return _spread(layout, bundle, list_allowed(layout, bundle, capacity), capacity)


def _spread(layout: Layout, bundle: Bundle, totals: Sequence[int], room: int) -> Iterator[Values]:
    """Yield all divisions of a total among cells, at most `room` units per cell."""
    counts = [count for count in layout.counts if count.bundle is bundle]
    lower = [-(-layout.count_enclosed(bundle, count.cell) // bundle.unit) for count in counts]

    def divide(left: int, number: int) -> Iterator[Values]:
        if number == len(counts) - 1:
            if left >= lower[number]:
                yield {counts[number]: left}
            return
        for units in range(min(left, room), lower[number] - 1, -1):  # ties keep the first nodes
            for later in divide(left - units, number + 1):
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
                used = value * key.bundle.unit - layout.count_enclosed(key.bundle, key.cell)
                load[key.cell, pool] = load.get((key.cell, pool), 0) + used
    return load


def _add_load(layout: Layout, load: Load, more: Load) -> Load | None:
    """Return the summed loads in the cells of `more`; None if a capacity is exceeded."""
    total_load = {key: load.get(key, 0) + used for key, used in more.items()}
    return total_load if all(used <= layout.capacity(*key, 1) for key, used in total_load.items()) else None
