"""How often each use of a domain occurs becomes how many units are in which cell."""

from __future__ import annotations

from typing import Sequence

from ..layout.layout import Count, Values
from .domain_rows import Vector
from .uses import Uses


def expanded(uses: Uses, times: Sequence[int], units: Sequence[int]) -> Values:
    """The decision values: domains of a kind take their uses in the order of the options.

    Parameters
    ----------
    times : how many domains are used by each option.
    units : how many units of each bundle there are: what the uses hold beyond that is left out where they come last.
    """
    vectors: list[tuple[int, list[int], Vector]] = []
    for option, count in zip(uses.options, times):
        vectors += [(option.kind, list(option.most), option.least) for _ in range(count)]
    for number, wanted in enumerate(units):
        beyond = sum(vector[number] for _, vector, _ in vectors) - wanted
        for _, vector, least in reversed(vectors):
            less = max(0, min(beyond, vector[number] - least[number]))
            vector[number] -= less
            beyond -= less
    values: Values = dict.fromkeys(uses.layout.counts, 0)
    left = [list(kind.domains) for kind in uses.kinds]
    for kind, vector, _ in vectors:
        cells = left[kind].pop(0)
        for cell, its in zip(cells, uses.contents[kind][tuple(vector)]):
            for number, amount in enumerate(its):
                if amount:
                    values[Count(uses.layout.counted[number], cell)] = amount
    return values
