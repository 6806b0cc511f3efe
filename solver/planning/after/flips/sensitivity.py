"""How wrong a hint may be before another plan would be better: each component slower or quicker than its times say."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from .....models.planning.planned import Planned
from ..placeable import Placeable
from ..shares import shares
from .flip import QUICKEST, SLOWEST, Flip, Sensitivity
from .further import Further

SEARCHES = 200
"""Further searches at most, all components together."""
SPENT = 3.0
"""Deterministic seconds that these may take together."""


def sensitivity(
    planned: Planned, seed: int = 1, most: int = SEARCHES, limit: float = SPENT, placeables: Sequence[Placeable] = ()
) -> Sensitivity:
    """How the plan fares where one component is slower or quicker, each by further searches over designs.

    What `placeables` know to have no placement is no other plan, one for each question of which it is the best answer (`Planned.parts`);
    without them nothing is placed.

    A flip is exact: at `flips` a better design is known, at the percent before it a search found none. Whether the plan flips and
    flips back still nearer to what was said is not searched. The plan takes what its placement does for traffic too; of others that
    is not known, and they are taken to need the least that any placement of them does. All searches together take at most `limit`, in
    deterministic seconds.
    """
    run = Further(planned, seed, most, limit, placeables)
    found: list[Flip] = []
    left: list[tuple[str, int]] = []
    adds = shares(planned.question, run.model, planned.best.design)
    weight = {name: sum(adds[task] for task in its) for name, its in planned.question.tasks_of.items() if its}
    names = sorted(weight, key=lambda name: -weight[name])  # what adds most is searched first
    crosses = any(each.traffic for each in (planned.best, *planned.others))
    unsure = not planned.proved and bool(planned.unplaceable)  # what may be better already is no flip
    if unsure or ((crosses or not planned.proved) and names and run.may_be_beaten(names[0])):
        return Sensitivity((), tuple((name, end) for name in planned.question.components if name in weight for end in (SLOWEST, QUICKEST)))
    ways = [(name, end) for end in (SLOWEST, QUICKEST) for name in names]
    stay = [way for way in ways if run.stays(*way)]  # cheap, before any other plan is looked for
    found += [Flip(name, end) for name, end in stay]
    open_ = [way for way in ways if way not in stay]
    nearest = {way: run.nearest(*way) for way in open_}  # cheap: what is known to be better, before anything is proved
    for name, end in open_:
        flip = run.flip(name, end, nearest[name, end])
        if flip is None:
            left.append((name, end))
        else:
            found.append(flip)
    order = planned.question.components
    found.sort(key=lambda flip: order.index(flip.component))
    left.sort(key=lambda way: order.index(way[0]))
    found = [replace(flip, placed=run.is_placed(flip.to.design if flip.to is not None else None)) for flip in found]
    return Sensitivity(tuple(found), tuple(left), run.searches)
