"""Small problems settled by trying every value of every decision against the checks; no solver is loaded.

Nothing here uses how rules are encoded, so that a wrong row of a model cannot hide an answer.
"""

from __future__ import annotations

from itertools import islice
from typing import Iterator, Sequence

from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values, allowed
from ..layout.pools import Pool
from ..layout.ranges import whole_places
from .standing import Standing

MOST_ACCELERATORS = 12
MOST_VALUES, MOST_CONFIRMING = 400, 5_000
"""Combinations of values that are tried at most, before a search and to confirm that one found nothing: some 0.3 s, and 4 s."""
A_VALUE = 1e-3
"""Seconds of metered work for each."""
Load = dict[tuple[Cell, Pool], int]
"""(cell, pool) -> resources of it that are held there."""


def settle(standing: Standing, layout: Layout) -> bool:
    """Find the best answer of a small problem, and prove it; False where it is large, or has no answer."""
    nodes = layout.problem.cluster.nodes
    if layout.problem.previous is not None or sum(len(node.accelerators) for node in nodes) > MOST_ACCELERATORS:
        return False
    every = combinations(layout, MOST_VALUES)
    if every is None or not _found(standing, layout, every):
        return False
    for number, cost in enumerate(standing.costs):
        standing.prove(number, cost)
    return True


def confirm(standing: Standing, layout: Layout) -> None:
    """Try everything where a search found nothing: an answer refutes the search; else `tried` says how many were none."""
    every = combinations(layout, MOST_CONFIRMING) if layout.problem.previous is None else None
    if every is None:
        return
    if _found(standing, layout, every):
        standing.refuted = False
    else:
        standing.tried = len(every)


def _found(standing: Standing, layout: Layout, every: Sequence[Values]) -> bool:
    """Is one of these an answer? The best of them is kept."""
    for values in every:
        standing.judge(layout, values, "search")
    standing.spent += A_VALUE * len(every)
    return standing.assignment is not None


def combinations(layout: Layout, most: int) -> list[Values] | None:
    """Every combination of values that the cells have room for; None for more than `most`."""
    every = [_places(layout, bundle) for bundle in layout.ranged]
    every += [_counted(layout, bundle) for bundle in layout.counted]
    every += [_spread(layout, dealt.bundle, range(dealt.fewest, dealt.processes + 1), dealt.processes) for dealt in layout.dealt.values()]
    found: list[tuple[Values, Load]] = [({}, {})]
    for each in every:
        options = [(option, _load(layout, option)) for option in islice(each, most + 1)]
        found = [
            ({**values, **option}, {**load, **both})
            for values, load in found
            for option, its in options
            if (both := _added(layout, load, its)) is not None
        ]
        if len(options) > most or len(found) > most:
            return None
    return [values for values, _ in found]


def _places(layout: Layout, bundle: Bundle) -> Iterator[Values]:
    """Every place of a contiguous bundle."""
    for place in whole_places(layout, bundle):
        yield {bundle: place}


def _counted(layout: Layout, bundle: Bundle) -> Iterator[Values]:
    """Every way to count a bundle into cells."""
    room = sum(layout.pieces(bundle, cell, 1) for cell in layout.cells) // bundle.unit
    return _spread(layout, bundle, allowed(layout, bundle, room), room)


def _spread(layout: Layout, bundle: Bundle, totals: Sequence[int], room: int) -> Iterator[Values]:
    """Every way to divide one of these totals among the cells of a bundle, at most `room` in each."""
    counts = [count for count in layout.counts if count.bundle is bundle]
    least = [-(-layout.enclosed_in(bundle, count.cell) // bundle.unit) for count in counts]

    def divided(left: int, number: int) -> Iterator[Values]:
        if number == len(counts) - 1:
            if left >= least[number]:
                yield {counts[number]: left}
            return
        for here in range(min(left, room), least[number] - 1, -1):  # of equal answers the one on the first nodes is kept
            for others in divided(left - here, number + 1):
                yield {counts[number]: here, **others}

    for total in totals if counts else ():
        yield from divided(total, 0)


def _load(layout: Layout, values: Values) -> Load:
    """Resources that the counts take of each cell and pool; bundles within others are left to the checks."""
    load: Load = {}
    for key, value in values.items():
        if isinstance(key, Count) and isinstance(value, int) and key.bundle in layout.pool_of:
            pool = layout.pool_of[key.bundle]
            if pool.host is None and pool not in layout.shared:
                held = value * key.bundle.unit - layout.enclosed_in(key.bundle, key.cell)
                load[key.cell, pool] = load.get((key.cell, pool), 0) + held
    return load


def _added(layout: Layout, load: Load, more: Load) -> Load | None:
    """Sums of two loads in the cells of `more`; None where a cell has no room for both."""
    both = {key: load.get(key, 0) + held for key, held in more.items()}
    return both if all(held <= layout.capacity(*key, 1) for key, held in both.items()) else None
