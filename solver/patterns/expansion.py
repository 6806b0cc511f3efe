"""How often each use of a domain occurs becomes how many units are in which cell."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..layout.cell import Cell
from ..layout.values import Count, Values
from .dealt_out import dealt_out
from .domain_rows import Vector
from .uses import Uses


def expanded(
    uses: Uses, times: Sequence[int], units: Sequence[int], together: Mapping[int, Mapping[tuple[int, int], int]]
) -> Values:  # fmt: skip
    """The decision values: domains of a kind take their uses in the order of the options.

    Parameters
    ----------
    times : how many domains are used by each option.
    units : how many units of each bundle there are: what written out uses hold beyond that is left out where they come last.
    together : of free options, by their numbers: (bundle, cell of the domain) -> units in all domains of the option.
    """
    values: Values = dict.fromkeys(uses.layout.counts, 0)
    left = [list(kind.domains) for kind in uses.kinds]
    least: list[tuple[int, list[int], Vector]] = []
    wanted = list(units)
    for number, (option, count) in enumerate(zip(uses.options, times)):
        if not option.free:
            least += [(option.kind, list(option.most), option.least) for _ in range(count)]
        elif count:
            for cells in dealt_out(uses, option, count, together[number]):
                _hold(uses, values, left[option.kind].pop(0), cells)
                wanted = [amount - sum(its) for amount, its in zip(wanted, zip(*cells))] if cells else wanted
    for bundle, amount in enumerate(wanted):
        beyond = sum(vector[bundle] for _, vector, _ in least) - amount
        for _, vector, low in reversed(least):
            less = max(0, min(beyond, vector[bundle] - low[bundle]))
            vector[bundle] -= less
            beyond -= less
    for kind, vector, _ in least:
        _hold(uses, values, left[kind].pop(0), uses.contents[kind][tuple(vector)])
    return values


def _hold(uses: Uses, values: Values, domain: Sequence[Cell], cells: Sequence[Sequence[int]]) -> None:
    for cell, its in zip(domain, cells):
        for bundle, amount in enumerate(its):
            if amount:
                values[Count(uses.layout.counted[bundle], cell)] = amount
