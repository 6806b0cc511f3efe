"""A design with its placement, and which of two placements is the better one."""

from __future__ import annotations

from typing import Mapping, Sequence

from ....models.answer import Answer
from ....models.placements.assignment import Run, seats
from ....models.placements.plan import Plan
from ....models.planning.planned import Priced
from ....models.record import dataclass
from ...pricing.price import effect
from ...pricing.priced import BETTER
from ..searching.price import Price


@dataclass(frozen=True)
class Placed:
    """A design with its placement, and what both cost.

    `is_own`: is it the file's own placement?
    """

    priced: Priced
    answer: Answer
    price: Price
    is_own: bool = False

    def is_better(self, other: Placed) -> bool:
        """Is its placement the better one, by the objective of placements?"""
        return effect(other.answer, self.answer) == BETTER


def is_where(plan: Plan, own: Mapping[str, Sequence[Run]]) -> bool:
    """Is all of it where the file itself has it?"""
    return all(list(seats(plan.assignment.of(name))) == list(seats(runs)) for name, runs in own.items())
