"""Problems in which all that is searched are ranges of one numbering: best answers without a solver.

What the sweep knows of a problem is never more than all of it: it leaves rules out, and never overstates a cost. So where its best answer
passes every rule and costs what the sweep says, nothing is better.
"""

from __future__ import annotations

from typing import Sequence

from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pool import Masks
from ..layout.ranges.places import Place, Places, all_lengths
from ..layout.values import Values
from ..objectives.idle import Idle, least_and_most
from ..objectives.tiers import Tier
from .costs import Costs, costs_of
from .sweep import Sweep, variants_of

Found = tuple[int, dict[int, Place]]
"""(cost, position of a range among those that are searched -> its place)."""
MAX_BUNDLES = 8
MAX_STARTS = 600_000
"""Ranges, and ranges x lengths x resource ranks, that are swept at most."""


def best_on_line(layout: Layout, tiers: Sequence[Tier], counted: Sequence[Sequence[int]]) -> tuple[int, Values] | None:
    """(what no answer can cost less than, in one number, places that cost it by what the sweep knows); None if it is another kind of problem.

    None too where the ranges do not fit: the search says so, and why.
    """
    bundles = layout.searched
    if not _on_one_line(layout, bundles) or layout.has_chosen_given:
        return None
    numbering = layout.numbering(bundles[0])
    costs = costs_of(layout, bundles, numbering, tiers, counted)
    places = [Places(layout, bundle, _usable(layout, bundle)) for bundle in bundles]
    line = _Line(bundles, places, costs)
    lengths = [all_lengths(layout, bundle) for bundle in bundles]
    found = line.longest(lengths) if _longer_is_better(layout, bundles, lengths, tiers) else None
    if found is None and sum(map(len, lengths)) * numbering.size <= MAX_STARTS:
        found = line.sweep(lengths)
    if found is None:
        return None
    cost, taken = found
    return cost + costs.fixed, {bundles[number]: place for number, place in taken.items()}


def _longer_is_better(layout: Layout, bundles: Sequence[Bundle], lengths: Sequence[Sequence[int]], tiers: Sequence[Tier]) -> bool:
    """Does it cost most of all if a range is shorter than it could be?"""
    first = [term for term, _ in tiers[0].members] if tiers else []
    several = [bundle for bundle, its in zip(bundles, lengths) if len(its) > 1]
    asked = all(any(least_and_most(layout.problem, each.name) for each in bundle.components) for bundle in several)
    return asked and (not several or (len(first) == 1 and isinstance(first[0], Idle)))


class _Line:
    """Ranges on one numbering, swept with one choice of their lengths or another."""

    def __init__(self, bundles: Sequence[Bundle], places: Sequence[Places], costs: Costs) -> None:
        self.bundles, self.places, self.costs = bundles, places, costs

    def sweep(self, lengths: Sequence[Sequence[int]]) -> Found | None:
        """The least cost with these lengths to choose from."""
        variants = variants_of(self.bundles, self.places, lengths, self.costs)
        return Sweep(variants, len(self.bundles), self.places[0], self.costs).run()

    def longest(self, lengths: Sequence[Sequence[int]]) -> Found | None:
        """The least cost where longer is always better: all as long as they may be; if that does not fit, and one has several lengths, it gives way.

        A shorter range fits where a longer one does: its lower part cuts nothing either.
        """
        if not all(lengths):
            return None
        found = self.sweep([its[-1:] for its in lengths])
        several = [number for number, its in enumerate(lengths) if len(its) > 1]
        if found is not None or len(several) != 1 or self.bundles[several[0]].wholes or self.bundles[several[0]].piece > 1:
            return found
        open_ = several[0]
        fits, too_long = -1, len(lengths[open_]) - 1
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            tried = self.sweep([[its[middle]] if number == open_ else its for number, its in enumerate(lengths)])
            if tried is None:
                too_long = middle
            else:
                found, fits = tried, middle
        return found


def _on_one_line(layout: Layout, bundles: Sequence[Bundle]) -> bool:
    if not 0 < len(bundles) <= MAX_BUNDLES or layout.counted or len(layout.pools) != 1 or layout.pools[0].hosts or layout.dealt:
        return False
    numberings = [layout.numbering(bundle) for bundle in bundles]
    nodes = [stretch.node_rank for stretch in numberings[0].stretches]
    return all(each == numberings[0] for each in numberings) and len(set(nodes)) == len(nodes)


def _usable(layout: Layout, bundle: Bundle) -> Masks:
    return {node: mask for node, mask in layout.pool_of[bundle].free.items() if node in layout.eligible[bundle]}
