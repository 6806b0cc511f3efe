"""Settlement of structures by CP-SAT, each with the best price so far as cutoff."""

from __future__ import annotations

from typing import Callable, Iterator

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from ..costs import cost_model
from .choices import Choices
from .found import Price
from .sizing import Sizing
from .structures import Structure


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

    question: PlanningProblem
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
    """One after the other."""
    from .counts import sized  # which loads CP-SAT

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
