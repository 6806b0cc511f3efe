"""Settlement of structures by CP-SAT, each with the best price so far as cutoff."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, NamedTuple, Sequence

from ...models.planning.design import Design
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from ...solver.model.engine import Outcome, Status, run
from ...solver.model.permission import about_to_search
from ..costs import cost_model
from .choices import Choices
from .counts import Counts, Numbers
from .found import Price
from .sizing import Sizing
from .structures import Structure

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


@dataclass(frozen=True)
class Undecided:
    """One of them: its number, what it costs at least, the best that is known of it, and its designs that are ruled out."""

    number: int
    structure: Structure
    floor: Price
    best: Price | None
    excluded: tuple[Design, ...] = ()


@dataclass(frozen=True)
class Unsettled:
    """What is to be settled.

    Attributes
    ----------
    model : the name of the cost model.
    structures : in this order.
    others : what the best designs of all other structures cost.
    count : so many of the best are wanted.
    limit : deterministic seconds, for all of it.
    """

    question: Question
    model: str
    structures: tuple[Undecided, ...]
    others: tuple[Price, ...]
    count: int
    limit: float
    seed: int


@dataclass(frozen=True)
class Settled:
    """What was found out of one structure.

    Attributes
    ----------
    places : of the choices of each of its sets, if they are better than what was known.
    bound : nothing in it that could be among the best has a smaller first part of its price.
    proved : there is nothing better in it than what is known now, or nothing that could be among the best.
    spent : deterministic seconds.
    """

    number: int
    places: tuple[int, ...] | None
    bound: int
    proved: bool
    spent: float


Settle = Callable[[Unsettled], Iterator[Settled]]


def settle(asked: Unsettled) -> Iterator[Settled]:
    """One after the other. Raises SearchNeeded where no solver may be loaded."""
    about_to_search()

    ways = Choices(asked.question, cost_model(asked.model).divisor(asked.question))
    known = {each.number: each.best for each in asked.structures}
    spent = 0.0
    for each in asked.structures:
        if spent >= asked.limit:
            return
        rivals = sorted([*asked.others, *(price for number, price in known.items() if price is not None and number != each.number)])
        bars = ([rivals[asked.count - 1]] if len(rivals) >= asked.count else []) + ([each.best] if each.best is not None else [])
        below = min(bars, default=None)
        if below is not None and each.floor >= below:
            yield Settled(each.number, None, each.floor[0], True, 0.0)
            continue
        sizing = Sizing(asked.question, cost_model(asked.model), each.structure, ways, len(each.excluded))
        outcome = sized(sizing, below, each.excluded, asked.limit - spent, asked.seed)
        spent += outcome.spent
        if outcome.places is not None:
            known[each.number] = sizing.price(tuple(its[place] for its, place in zip(sizing.choices, outcome.places)))
        yield Settled(each.number, outcome.places, max(outcome.bound, each.floor[0]), outcome.proved, outcome.spent)
