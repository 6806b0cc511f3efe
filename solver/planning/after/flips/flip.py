"""Where a plan flips: a component that takes another time than was said, and what would then be better."""

from __future__ import annotations

from dataclasses import dataclass

from .....models.planning.planned import Priced

HUNDRED = 100
SLOWEST, QUICKEST = 200, 50
"""Percent of the times that a component was said to take, between which it is searched."""
WORTH = 5
"""Percent by which another plan must be better, so that a plan is said to flip."""


@dataclass(frozen=True, slots=True)
class Flip:
    """What happens to a plan where one component takes another time than was said.

    Attributes
    ----------
    component : whose times are others.
    holds : percent of its times at which the plan is as good as any, but for less than `WORTH` percent.
    flips : the next percent, at which it is not; None if it holds as far as was searched.
    to : the best design there; None if nothing keeps to the budget there.
    takes : ns of an iteration of the plan there.
    placed : is it known that `to` has a placement?
    sure : was it searched, and every search a proof? Else the plan may flip sooner, or to something better still.
    """

    component: str
    holds: int
    flips: int | None = None
    to: Priced | None = None
    takes: int = 0
    sure: bool = True
    placed: bool = True


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """For each component what happens where it is slower, then where it is quicker.

    Attributes
    ----------
    left : components with the percent up to which nothing was found and nothing proved.
    traffic_left_out : does what crosses the topology count as time, and is that of other plans not known? Then the plan holds at least
        as far as said.
    """

    flips: tuple[Flip, ...]
    left: tuple[tuple[str, int], ...] = ()
    searches: int = 0
    traffic_left_out: bool = False
