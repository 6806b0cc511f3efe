"""Which designs beside a plan have a placement: what has none is no other plan."""

from __future__ import annotations

from dataclasses import field, replace

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ....models.placements.plan import FEASIBLE
from ....models.planning.design import Design
from ....models.planning.limits import Barred
from ....models.planning.question import Question
from ....models.problem import Problem
from ....models.record import dataclass
from ..asking.asked import asked
from ..loop.at_stake import at_stake
from ..loop.barring import ruled_out
from ..loop.fitting import fitting
from ..memory.without import without_estimates

PLACED = 48
"""Designs and parts of designs that are placed at most."""


@dataclass
class Placeable:
    """What is known of the placements of designs of one question.

    `solve` places a problem whose counts are decided.
    """

    problem: Problem
    question: Question
    solve: Solve
    left: int = PLACED
    out: list[Barred] = field(default_factory=list)
    _verdicts: dict[object, str] = field(default_factory=dict)

    @property
    def used_up(self) -> bool:
        """Is nothing placed any more? Then nobody knows of the next design."""
        return self.left <= 0

    def fits(self, design: Design) -> bool:
        """Has a design a placement, as far as is known? False only where it is proved that it has none."""
        return self._verdict(design) != IMPOSSIBLE

    def is_placed(self, design: Design) -> bool:
        """Is it known that it has one? Times make no difference for that."""
        return self._verdict(design) not in (IMPOSSIBLE, UNDECIDED)

    def _verdict(self, design: Design) -> str:
        options = tuple((name, replace(option, nanoseconds=())) for name, option in sorted(design.options.items(), key=lambda its: its[0]))
        key = frozenset(design.blocks), options, design.segments
        if key not in self._verdicts:
            at = at_stake(self.problem, self.question, design)
            self._verdicts[key] = self._solved(fitting(self.problem, self.question, design)).verdict if at else FEASIBLE
        return self._verdicts[key]

    def without(self, design: Design) -> Question:
        """The question without a design that has none, and without all others of which the same proof shows it."""
        self.out.append(ruled_out(self.problem, self.question, design, self._solved, self.left))
        return self._asked()

    def _solved(self, part: Problem) -> Answer:
        self.left -= 1
        return self.solve(part)

    def _asked(self) -> Question:
        """The question as it was asked, by the estimates or without them, without what is ruled out."""
        for problem in (self.problem, without_estimates(self.problem)):
            workload = problem.job.workload if problem is not None else None
            if problem is not None and workload is not None and asked(problem, workload, self.question.barred) == self.question:
                return asked(problem, workload, (*self.question.barred, *self.out))
        return replace(self.question, barred=(*self.question.barred, *self.out))
