"""Where a plan flips: a component that takes another time than was said, and what would then be better."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from .....models.planning.planned import Priced
from .....models.planning.question import Question
from .....models.record import dataclass

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
    holds : percent of its times at which it is proved that the plan is as good as any, but for less than `WORTH` percent.
    flips : the nearest percent at which it is known that it is not; None if none is known.
    to : the best design that is known there; None if nothing is known that keeps to the budget there.
    takes : ns of an iteration of the plan there.
    placed : is it known that `to` has a placement?
    sure : is there nothing between `holds` and `flips`, or the end, and is `to` proved to be the best? Else time was over before.
    question : what `to` is a design of, where that has other kinds of accelerators than the question of the plan; else None.
    """

    component: str
    holds: int
    flips: int | None = None
    to: Priced | None = None
    takes: int = 0
    sure: bool = True
    placed: bool = True
    question: Question | None = field(default=None, compare=False, repr=False)

    @property
    def stays(self) -> bool:
        """Does the plan hold as far as it is asked?"""
        return self.holds in (SLOWEST, QUICKEST)

    @property
    def exact(self) -> bool:
        """Does it hold up to the percent before that at which it flips?"""
        return self.flips is not None and abs(self.flips - self.holds) == 1


class Held(NamedTuple):
    """Up to which percent of a component's times something holds, where it takes longer (`slower`) or less long."""

    component: str
    percent: int
    slower: bool


@dataclass(frozen=True, slots=True)
class Wider:
    """How far a plan is known to hold against plans too that nobody asked for, where that is less far than against what was asked for.

    Attributes
    ----------
    over_nodes, over_kinds, nested : which of these there are: with tensor parallel groups over nodes, with a component on several kinds
        of accelerators, in which one uses only some of another's.
    holds : up to where nothing of these is better by as much as makes a plan flip.
    as_it_is : does it hold against them as it is? Else nothing more is known.
    flips : where a nested plan is known that is better, sooner than any other one.
    """

    over_nodes: bool
    over_kinds: bool
    nested: bool
    holds: tuple[Held, ...] = ()
    as_it_is: bool = True
    flips: tuple[Flip, ...] = ()


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """For each component what happens where it is slower, then where it is quicker.

    Attributes
    ----------
    left : components with the percent up to which nothing was found and nothing proved.
    traffic_left_out : does what crosses the topology count as time, and is that of other plans not known? Then the plan holds at least
        as far as said.
    wider : what is known of plans that nobody asked for; None where the plan holds against them as far as is said.
    on_models : the same of plans on other models than the plan's own, where there are too many choices of these to search each.
    """

    flips: tuple[Flip, ...]
    left: tuple[tuple[str, int], ...] = ()
    searches: int = 0
    traffic_left_out: bool = False
    wider: Wider | None = None
    on_models: Wider | None = None
