"""How wrong a hint may be before another plan would be better: each component slower or quicker than its times say."""

from __future__ import annotations

from typing import Sequence

from .....models.planning.planned import Planned
from ....sandbox.interrupts import unless_heard
from ..placeable import Placeable
from ..shares import shares
from .cheapest import Cheapest
from .flip import HUNDRED, QUICKEST, SLOWEST, Sensitivity
from .further import Further
from .listed import list_slower
from .way import Way

SEARCHES = 200
"""Further searches at most, all components together."""
ENOUGH = 0.5
"""So many times what the plan itself took, any search gets: less would be enough for none of them."""
AT_ONCE = 0.25
"""The share of all time in which it may be listed what is better where any component is slower."""
PART = 0.9
"""The share of what is left then in which ways are searched by lists, those that take least first."""
SPENT = 10.0
"""Deterministic seconds that these may take together, where nobody says how many."""


def sensitivity(
    planned: Planned, seed: int = 1, most: int = SEARCHES, limit: float = SPENT, placeables: Sequence[Placeable] = (),
    traffic: bool = False,
) -> Sensitivity:  # fmt: skip
    """How the plan fares where one component is slower or quicker, each by what is proved of the plan and by further searches over designs.

    What `placeables` know to have no placement is no other plan, one for each question of which it is the best answer (`Planned.parts`);
    without them nothing is placed.

    A flip is exact: at `flips` a better design is known, and at no percent between it and what was said is there one. Where what crosses
    the topology counts as time, which is `traffic`, the plan takes that of its placement too; of others it is not known, and they are
    taken to need the least that any placement of them does. All searches together take at most `limit`, in deterministic seconds, fairly
    divided: what one component does not need is left to the others. Where there are very many structures, those that may be better are
    listed, and what takes least to list goes first. After a Ctrl-C, or where time was over, it is said how far the plan
    is known to hold, and where it is known to flip.
    """
    run = Further(planned, seed, most, limit, placeables)
    adds = shares(planned.question, run.model, planned.best.design)
    weight = {name: sum(adds[task] for task in its) for name, its in planned.question.tasks_of.items() if its}
    names = sorted(weight, key=lambda name: -weight[name])  # what adds most is searched first
    ways = [Way(run, name, end) for end in (SLOWEST, QUICKEST) for name in names]
    unless_heard(lambda: _search(run, ways, traffic), lambda: None)
    order = list(planned.question.components)
    ways.sort(key=lambda way: order.index(way.component))
    told = [(way, way.flip()) for way in ways]
    found = tuple(flip for _, flip in told if flip is not None)
    left = tuple((way.component, way.end) for way, flip in told if flip is None)
    return Sensitivity(found, left, run.searches, traffic)


def _search(run: Further, ways: Sequence[Way], traffic: bool) -> None:
    """What is nearly known first, then what is open between a flip that is known and what holds, then the rest; once more with what is left.

    Where there are very many structures, before all that by lists of those that may be better.
    """
    planned = run.planned
    unsure = not planned.proved and bool(planned.unplaceable)  # what may be better already is no flip
    open_at_once = traffic or any(way.holds is None for way in ways)
    if unsure or (ways and open_at_once and run.may_be_beaten(ways[0].component)):
        return
    for way in ways:
        way.begin()
    if run.to_be_listed:
        slower = [way.component for way in ways if way.end > HUNDRED and way.open]
        if slower:
            list_slower(run, slower, run.spent + AT_ONCE * run.left(run.limit))
        Cheapest(run, ways, run.spent + PART * run.left(run.limit)).search()
    for nearer in (False, True):
        open_ = sorted((way for way in ways if not way.done), key=lambda way: (way.open, way.flips is None))
        for number, way in enumerate(open_):
            share = run.left(run.limit) / (len(open_) - number)
            way.search(run.spent + max(share, ENOUGH * planned.spent), nearer)
