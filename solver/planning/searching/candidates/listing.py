"""Every structure that may have a design that takes no more than so much: one list serves many questions that hardly differ."""

from __future__ import annotations

from typing import Mapping, NamedTuple

from .....models.planning.question import Question
from ....sandbox.interrupts import held
from ...costs.cost_model import CostModel
from ...counting import silent
from ..cuts.least import LeastCut
from ..cuts.remembered import Recalled
from ..sizes.branching import Branching
from ..structures.at_once import Tasks
from ..structures.structure import Structure
from .of_cuts import OfCuts
from .progress import Progress
from .sight import LOOK, Sight

CUT = 0.002
"""Deterministic seconds that a cut is expected to take: of so many that there is no time for all of them, none is begun."""
HARDER = 1.2
"""So many times as long it takes to look at a cut where much more may be taken than by the best: more of its sets are hardly refused."""


class Listed(NamedTuple):
    """What was listed.

    Attributes
    ----------
    floors : each structure of which a design may take no more than was asked for, with the ns that each of it takes at least, those that
        take least first; None where there was no time for it, or nothing is known of cuts.
    spent : deterministic seconds.
    """

    floors: Mapping[Structure, int] | None
    spent: float


def can_list(question: Question, model: CostModel) -> bool:
    """Is enough known of the cuts of this question?"""
    return _asked(question, model, Progress(question, 0.0, lambda: None, silent), Recalled(question)).of_cuts.can


def expected(question: Question, model: CostModel, limit: float, recalled: Recalled) -> tuple[float | None, float]:
    """Deterministic seconds that listing is expected to take, None where these are very many; and those that it took to say so.

    Raises KeyboardInterrupt after a Ctrl-C.
    """
    with held() as interrupts:
        progress = Progress(question, limit, interrupts.look, silent)
        within = _asked(question, model, progress, recalled).within(question.budget.nanoseconds)
    return None if within is None else CUT * len(within), progress.spent


def listing(question: Question, model: CostModel, limit: float, recalled: Recalled) -> Listed:
    """The structures that may keep to the time that an iteration may take, if they can be listed in so many deterministic seconds.

    Raises KeyboardInterrupt after a Ctrl-C.
    """
    most = question.budget.nanoseconds
    with held() as interrupts:
        progress = Progress(question, limit, interrupts.look, silent)
        asked = _asked(question, model, progress, recalled)
        within = asked.within(most)
        if most is None or within is None or progress.left < CUT * len(within):
            return Listed(None, progress.spent)
        found: dict[Structure, int | None] = {}
        for structure in asked.of_cuts.structures(within, lambda: most, lambda: progress.left <= 0):
            if structure not in found:
                one, floor = asked.sight.candidate(structure), None
                if one is not None:
                    branching = Branching(one.sizing)
                    progress.spend(progress.part * (branching.parts + branching.crossing))
                    floor = branching.floor[0] if branching.floor is not None else None
                progress.spend(LOOK)
                found[structure] = floor
        if progress.left <= 0:
            return Listed(None, progress.spent)
    floors = sorted((floor, number, each) for number, (each, floor) in enumerate(found.items()) if floor is not None and floor <= most)
    return Listed({each: floor for floor, _, each in floors}, progress.spent)


class _Asked(NamedTuple):
    """What one question is listed by."""

    cuts: LeastCut
    of_cuts: OfCuts
    sight: Sight

    def within(self, most: int | None) -> list[tuple[int, tuple[Tasks, ...]]] | None:
        """The cuts that may take no more than so many ns; None where these are very many, or nothing is known of cuts."""
        return self.cuts.within(most) if most is not None and self.of_cuts.can else None


def _asked(question: Question, model: CostModel, progress: Progress, recalled: Recalled) -> _Asked:
    def spend(seconds: float) -> bool:
        return progress.spend(HARDER * seconds)

    sight = Sight(question, model, (), None, spend, recalled)
    cuts = LeastCut(question, model, spend, recalled)
    return _Asked(cuts, OfCuts(question, model, cuts, sight, spend, recalled), sight)
