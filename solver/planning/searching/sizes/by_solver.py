"""The counts and degrees of one structure by CP-SAT: what matters first, then with that fixed what comes second."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Sequence

from .....models.planning.design import Design
from .....models.planning.workload import SECONDS
from ....model.engine import Outcome, Status, run
from .counts import Counts, Numbers
from .sizing import Sizing

LEAST = 0.05
"""Deterministic seconds that a search gets at least, however little is left."""


class Sized(NamedTuple):
    """The places of the best choices, if there are better ones than what is known; what is proved of what matters first, in its units."""

    places: Numbers | None
    bound: int
    proved: bool
    spent: float


def sized(sizing: Sizing, below: tuple[int, int] | None, excluded: Sequence[Design], limit: float, seed: int) -> Sized:
    """The best choices of a structure whose price is smaller than `below`, and none of `excluded`."""
    counts = Counts(sizing, [numbers for design in excluded if (numbers := _numbers(sizing, design)) is not None])
    by_time = sizing.question.aim == SECONDS
    first, second = (counts.time, counts.accelerators) if by_time else (counts.accelerators, counts.time)
    if below is not None:
        counts.at_most(first, below[0])
    counts.seek(first)
    one = _twice(counts, max(limit, LEAST), seed)
    if one.values is None:
        proved = one.status is Status.INFEASIBLE
        return Sized(None, 0 if proved or one.bound is None else one.bound, proved, one.spent)
    best, spent = one.values, one.spent
    bound, proved = (one.bound if one.bound is not None else 0), False
    if one.status is Status.OPTIMAL:
        counts.at_most(first, one.objective)
        if below is not None and one.objective == below[0]:
            counts.at_most(second, below[1] - 1)
        counts.seek(second)
        two = _twice(counts, max(limit - spent, LEAST), seed)
        spent += two.spent
        if two.status is Status.INFEASIBLE:
            return Sized(None, one.objective, True, spent)
        best = two.values if two.values is not None else best
        bound, proved = one.objective, two.status is Status.OPTIMAL
    chosen = tuple(its[place] for its, place in zip(sizing.choices, best))
    if sizing.ways.beyond(sizing.structure, chosen):  # of what crosses between sets the solver does not know: another may have less
        proved = False
    better = sizing.allows(chosen) and (below is None or sizing.price(chosen) < below)
    return Sized(best if better else None, bound, proved, spent)


def _twice(counts: Counts, limit: float, seed: int) -> Outcome[Numbers]:
    """What the solver says; that there is nothing only if it says so without presolve too (or-tools #5274)."""
    one = run(counts, limit, seed)
    if one.status is not Status.INFEASIBLE:
        return one
    two = run(counts, max(limit - one.spent, LEAST), seed, presolve=False)
    return replace(two, spent=one.spent + two.spent)


def _numbers(sizing: Sizing, design: Design) -> Numbers | None:
    """The places of a design's choices; None if it is none of this structure's."""
    found = []
    for number, members in enumerate(sizing.structure.sets):
        options = tuple(design.options[name] for name in members)
        place = next((place for place, choice in enumerate(sizing.choices[number]) if choice.options == options), None)
        if place is None:
            return None
        found.append(place)
    return tuple(found)
