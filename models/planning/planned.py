"""What planning found: the design that was placed, what is proved of it, and what else there was."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ..findings.finding import Finding
from ..record import dataclass
from .design import Design
from .problem import PlanningProblem
from .workload import SECONDS


@dataclass(frozen=True)
class Priced:
    """A design with the nanoseconds of an iteration of it; `segments` are those of its parts, in order.

    `traffic` are those that its placement takes besides, where what crosses the topology counts as time. `held`: how many accelerators all
    components hold in its placement, where some of them are shared and the design says only how many they are at least.
    `models` : those that its components are on, where the question of the plan beside which it is told does not say it.
    """

    design: Design
    nanoseconds: int
    segments: tuple[int, ...] = ()
    traffic: int = 0
    held: int | None = None
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def accelerators(self, question: PlanningProblem) -> int:
        """How many accelerators all components hold, planned or not; where it was not placed, at least."""
        return self.design.held(question) if self.held is None else self.held

    def price(self, question: PlanningProblem) -> tuple[int, int]:
        """What is as small as possible, ns or accelerators of all components, and what comes second; traffic with the time."""
        takes, used = self.nanoseconds + self.traffic, self.accelerators(question)
        return (takes, used) if question.aim == SECONDS else (used, takes)


@dataclass(frozen=True)
class Unplaceable:
    """A design that no placement has, and why; `question` is what it is a design of, where that is another question than that of the plan."""

    priced: Priced
    reason: tuple[Finding, ...] = field(compare=False)
    question: PlanningProblem | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Filled:
    """A component without times that got what the others leave, of the range that was asked for.

    `most` is what was asked at most; `proved`: none has more in any placement in which the others have what they have.
    """

    most: int
    proved: bool = True


@dataclass(frozen=True)
class Further:
    """A plan of whatever arrangement on fewer accelerators, or with other degrees of a component.

    `proved`: is it the best of these?
    """

    priced: Priced
    proved: bool


@dataclass(frozen=True)
class Planned:
    """The answer of planning.

    Attributes
    ----------
    question : what was asked.
    model : the name of the cost model.
    best : the design that was placed.
    bound : what is as small as possible is in no design that can be placed smaller than this: ns, or accelerators of all components.
    proved : is what is as small as possible proved to be no smaller in any design that has a placement?
    others : the best designs of other structures that have a placement, the best first.
    further : where few other structures are, the best on fewer accelerators (on any number, where these are to be few) and with other
        degrees of a component, each with its placement, the best first.
    unplaceable : designs that no placement has and that would be better, or among the others, in the order they were found.
    without_estimates : the best design where estimates of memory are left out, if that is another and better one.
    without_question : what that is a design of, where that is another question than that of the plan.
    structures : how many structures there are, and of how many the counts were searched.
    not_placed : those of `others` of which nobody knows whether they have a placement.
    is_own : is it the file's own placement, which nothing beats?
    filled : components of the best design that have no times, and more than was compared since nobody else needs it.
    parts : the questions of all choices of models, and of degrees that others follow, of which this had the best answer; none where nothing follows.
    lean : the best design as it was compared with others, without this; None where nothing is filled.
    ties_open : may there be one with as much of what is as small as possible, proved, and less of what comes second?
    spent : deterministic seconds that were searched for it.
    others_open : may designs of other structures be better than `others` with choices that were not planned, as none of these can be better
        than the best?
    """

    question: PlanningProblem
    model: str
    best: Priced
    bound: int
    proved: bool
    others: tuple[Priced, ...] = ()
    unplaceable: tuple[Unplaceable, ...] = ()
    structures: tuple[int, int] = (0, 0)
    without_estimates: Priced | None = None
    without_question: PlanningProblem | None = None
    not_placed: tuple[Priced, ...] = ()
    further: tuple[Further, ...] = ()
    is_own: bool = False
    filled: Mapping[str, Filled] = field(default_factory=dict)
    lean: Design | None = None
    parts: tuple[PlanningProblem, ...] = ()
    ties_open: bool = False
    others_open: bool = False
    spent: float = field(default=0.0, compare=False)

    @property
    def in_part(self) -> bool:
        """Is the question one of several, of which this had the best answer?"""
        return bool(self.parts)

    @property
    def compared(self) -> Design:
        """The best design as it was compared with others: components without times have what they need at least."""
        return self.lean or self.best.design

    @property
    def held(self) -> int:
        """How many accelerators all components hold in it."""
        return self.best.accelerators(self.question) if self.lean is None else self.lean.held(self.question)

    @property
    def price(self) -> tuple[int, int]:
        """What was as small as possible, and what came second, traffic with the time."""
        takes, used = self.best.nanoseconds + self.best.traffic, self.held
        return (takes, used) if self.question.aim == SECONDS else (used, takes)
