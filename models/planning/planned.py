"""Result of planning: the placed design, the proof, and alternatives."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ..findings.finding import Finding
from ..record import dataclass
from .design import Design
from .problem import PlanningProblem


@dataclass(frozen=True)
class CostedDesign:
    """Design with the ns of an iteration; `segments` has the ns per segment.

    `traffic`: ns of its placement's traffic, if it counts as time. `held`: accelerators of all
    components in its placement, if some are shared and the design has only a lower bound. `models`:
    models of the components, if the problem of the compared plan does not state them.
    """

    design: Design
    nanoseconds: int
    segments: tuple[int, ...] = ()
    traffic: int = 0
    held: int | None = None
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @property
    def total(self) -> int:
        """Nanoseconds of an iteration with its traffic."""
        return self.nanoseconds + self.traffic

    def accelerators(self, question: PlanningProblem) -> int:
        """Return the accelerators of all components, planned or not; a lower bound if unplaced."""
        return self.design.all_accelerators(question) if self.held is None else self.held

    def price(self, question: PlanningProblem) -> tuple[int, int]:
        """Return (objective, tie-breaker): ns with traffic, and accelerators, or the reverse."""
        return question.by_aim(self.total, self.accelerators(question))


@dataclass(frozen=True)
class Unplaceable:
    """Design without a placement, and the reason.

    `question` is its planning problem, if that differs from the plan's.
    """

    priced: CostedDesign
    reason: tuple[Finding, ...] = field(compare=False)
    question: PlanningProblem | None = field(default=None, compare=False)


@dataclass(frozen=True)
class PlanningResult:
    """Answer of planning.

    Attributes
    ----------
    bound : lower bound on the objective over all designs with a placement: ns, or accelerators of
        all components.
    proved : True if the objective of `best` is proved optimal among designs with a placement.
    alternatives : best designs of other structures with a placement, the best first.
    unplaceable : better designs, or designs among the others, without a placement, in the order of
        the search.
    without_estimates : best design without memory estimates, if different and better.
    structures : number of structures, and number of those with searched counts.
    not_placed : those of `alternatives` for which a placement is unknown.
    is_own : True if it is the baseline, which nothing beats.
    filled : component without times that got more than compared, as nobody else needs it ->
        requested maximum.
    parts : problems of all choices of models, and of degrees that others follow; this was the best
        answer of them. Empty if nothing follows.
    lean : best design as compared, without `filled`; None if nothing is filled.
    ties_open : True if a design with an equal, proved objective may have a better tie-breaker.
    spent : deterministic seconds of the search.
    alternatives_open : True if designs of other structures may be better than `alternatives` under unplanned
        choices; none of these can be better than the best.
    """

    question: PlanningProblem
    model: str
    best: CostedDesign
    bound: int
    proved: bool
    alternatives: tuple[CostedDesign, ...] = ()
    unplaceable: tuple[Unplaceable, ...] = ()
    structures: tuple[int, int] = (0, 0)
    without_estimates: CostedDesign | None = None
    without_question: PlanningProblem | None = None
    not_placed: tuple[CostedDesign, ...] = ()
    is_own: bool = False
    filled: Mapping[str, int] = field(default_factory=dict)
    lean: Design | None = None
    parts: tuple[PlanningProblem, ...] = ()
    ties_open: bool = False
    alternatives_open: bool = False
    spent: float = field(default=0.0, compare=False)

    @property
    def compared(self) -> Design:
        """Best design as compared: components without times have their minimum."""
        return self.lean or self.best.design

    @property
    def all_accelerators(self) -> int:
        """Accelerators of all components."""
        return self.best.accelerators(self.question) if self.lean is None else self.lean.all_accelerators(self.question)

    @property
    def price(self) -> tuple[int, int]:
        """(objective, tie-breaker), with traffic in the time."""
        return self.question.by_aim(self.best.total, self.all_accelerators)
