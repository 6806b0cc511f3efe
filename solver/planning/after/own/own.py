"""The placement that a file itself states, under the same cost model as the plan."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from .....models.planning.planned import Priced
from .....models.planning.question import Question
from .....models.problem import Problem
from .....models.record import dataclass
from ..basis import Basis


@dataclass(frozen=True)
class Own:
    """The placement that the file itself states, of the components that are planned.

    Attributes
    ----------
    priced : its design, run in the best parts that it allows; None where it has no price.
    problem, question : what was asked; where ranks are on several kinds of accelerators, with these given, and on kinds of their own.
    why_not : why it has none; "" if it has one.
    forbidden : what the demands of the file refuse of it, each a sentence.
    unclear : all that is against it is that the plan was not chosen among its counts: no demand and no rule says that it may not be so.
    over_estimates : of which accelerators it needs more by estimates of memory, each a sentence; that forbids nothing. It is not kept where
        a plan fits by all of them.
    bases : what its times rest on.
    counts : where ranks are on several kinds: of each component on accelerators, how many of each model it holds.
    """

    priced: Priced | None
    problem: Problem
    question: Question
    why_not: str = ""
    forbidden: tuple[str, ...] = ()
    unclear: bool = False
    over_estimates: tuple[str, ...] = ()
    bases: tuple[Basis, ...] = ()
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def on_several_kinds(self) -> bool:
        """Are ranks on kinds of accelerators that no plan of the question has at once?"""
        return bool(self.counts)

    def may_stay(self, question: Question) -> bool:
        """May it stay beside the plan of a question? Nothing forbids it, and it fits by the estimates if that plan does."""
        return not self.forbidden and not (self.over_estimates and question.heeds_estimates)

    def over(self, best: Priced) -> float | None:
        """By which part it takes longer than another design, such as 0.04; None without a price."""
        if self.priced is None:
            return None
        takes = best.nanoseconds + best.traffic
        return (self.priced.nanoseconds + self.priced.traffic - takes) / takes
