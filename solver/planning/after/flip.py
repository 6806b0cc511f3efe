"""Where a plan stops being the best if the times of one component are wrong."""

from __future__ import annotations

from dataclasses import field

from ....models.planning.planned import Priced
from ....models.planning.question import Question
from ....models.record import dataclass

HUNDRED = 100
SLOWER, QUICKER = (110, 125, 150, 200), (90, 75, 50)
"""Percent of a component's times, in the order in which they are tried."""
WORTH = 5
"""Percent by which another plan must be better to replace the plan."""


@dataclass(frozen=True, slots=True)
class Flip:
    """The nearest factor of one component at which the plan is not the best any more.

    Attributes
    ----------
    component : the component with other times.
    holds : percent of its times up to which the plan holds at every factor; 100: at none.
    flips : percent of its times at which another plan is better, or the plan breaks its budget.
    takes : ns of an iteration of the plan at `flips`.
    to : the best known design at `flips`; None if none is known that keeps to the budget.
    placed : True if `to` is known to have a placement with this price.
    question : the question that `to` is a design of, with the original times.
    """

    component: str
    holds: int
    flips: int
    takes: int
    to: Priced | None = None
    placed: bool = True
    question: Question | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What wrong times of one component change; at all factors in neither field the plan holds.

    Attributes
    ----------
    flips : at most two of a component, one where it is slower and one where it is quicker.
    left : (component, percent) of the first factor that was not decided; those beyond are unknown.
    searches : number of searches.
    """

    flips: tuple[Flip, ...] = ()
    left: tuple[tuple[str, int], ...] = ()
    searches: int = 0
