"""How far a plan holds against plans that nobody asked for: nested ones, and those over nodes or with components on several kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from .....models.planning.planned import Planned, Priced
from ....sandbox.interrupts import unless_heard
from ...variants.wide import Wide
from .flip import HUNDRED, Flip, Held, Wider
from .further import Further
from .way import Way


def wider(
    planned: Planned, wide: Wide, flips: Sequence[Flip], seed: int, most: int, limit: float, traffic: bool = False
) -> tuple[Wider | None, int]:
    """What of these flips does not hold against wider plans, and how many searches that took; None where all of it does.

    It is proved by what the plan's own bounds say of such plans, else by a search of them just where the plan is said to hold: none of
    them is placed, and what is better there may have no placement. All searches together take at most `limit` deterministic seconds.
    """
    run = Further(_bounded(planned, wide), seed, most, limit, questions=wide.questions)
    run.known += [each.design for each in _told(planned)]
    if wide.over_kinds and any(each.crossing is not None for each in wide.questions):
        run.known = []  # what of them crosses is asked by kinds, and these are one here
    ways = [(flip, Way(run, flip.component, flip.holds)) for flip in flips if flip.holds != HUNDRED]
    less = Wider(wide.over_nodes, wide.over_kinds, wide.nested, as_it_is=False)
    if traffic or any(way.holds is None for _, way in ways) or len(ways) < len(flips):
        beaten = unless_heard(lambda: run.may_be_beaten(flips[0].component), lambda: True)
        if beaten:
            return less, run.searches
    unless_heard(lambda: _search(run, [way for _, way in ways]), lambda: None)
    found = [Held(flip.component, way.holds or HUNDRED, flip.holds > HUNDRED) for flip, way in ways if way.holds != flip.holds]
    return replace(less, holds=tuple(found), as_it_is=True) if found else None, run.searches


def unknown(planned: Planned) -> Wider | None:
    """What is said where nothing of this is known: of those plans alone that may be better as it is."""
    over_nodes, over_kinds, nested = planned.over_nodes is not None, planned.over_kinds is not None, planned.nested is not None
    return Wider(over_nodes, over_kinds, nested, as_it_is=False) if over_nodes or over_kinds or nested else None


def _search(run: Further, ways: Sequence[Way]) -> None:
    for way in ways:
        way.begin()
    for nearer in (False, True):
        open_ = [way for way in ways if way.open]
        for number, way in enumerate(open_):
            way.search(run.spent + run.left(run.limit) / (len(open_) - number), nearer)


def _bounded(planned: Planned, wide: Wide) -> Planned:
    """The plan with what is proved of wider plans too, if that is: of what is not told of them it is that they cost no less than it."""
    told = [planned.over_nodes is not None, planned.over_kinds is not None, planned.nested is not None]
    if sum(told) > 1 or (any(told) and told != [wide.over_nodes, wide.over_kinds, wide.nested]):
        return replace(planned, bound=0, proved=False)  # nothing is known of those that differ in what is told and in more
    bounds = [each.bound for each in (planned.over_nodes, planned.nested) if each is not None]
    bounds += [] if planned.over_kinds is None else [planned.over_kinds]
    least = min([planned.bound, *bounds])
    return replace(planned, bound=least, proved=planned.proved and least >= planned.price[0])


def _told(planned: Planned) -> list[Priced]:
    """Wider plans that are known."""
    return [each.best for each in (planned.over_nodes, planned.nested) if each is not None and each.best is not None]
