"""The question in which one component takes another time than was said, and what is better there than the plan."""

from __future__ import annotations

from dataclasses import replace

from .....models.planning.design import Design
from .....models.planning.planned import Planned, Priced
from .....models.planning.question import Option, Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel, iteration, segment_times
from ...crossing.least import LeastCrossing
from ...search import Searched, Skip, search
from .flip import HUNDRED, WORTH


class Scaled:
    """The question in which one component takes another time."""

    def __init__(self, planned: Planned, model: CostModel, component: str, percent: int) -> None:
        self.model, self.component, self.percent = model, component, percent
        self.ask(planned.question)
        self.plan = self._of(planned.compared)
        self.takes = iteration(model, self.question, self.plan) + planned.best.traffic
        crossing = planned.question.crossing
        self._crosses = LeastCrossing(planned.question, crossing).of if crossing is not None else _nothing
        self._known = (self.plan,) if planned.best.traffic else ()
        """What traffic it takes is known of the plan alone: without it, it is no other plan."""

    def ask(self, question: Question) -> None:
        """Puts this question, in which the component takes another time."""
        self._options = {option: self._scale(option, question.batches) for option in question.options[self.component]}
        self.question = replace(question, options={**question.options, self.component: tuple(self._options.values())})

    def _scale(self, option: Option, batches: int) -> Option:
        times = (-(-time * self.percent // (HUNDRED * batches)) * batches for time in option.nanoseconds)
        return replace(option, nanoseconds=tuple(times))

    def _of(self, design: Design) -> Design:
        """A design of the question as it was, with the times of this one."""
        own = self._scale(design.options[self.component], self.question.batches)
        return replace(design, options={**design.options, self.component: own})

    def as_it_was(self, design: Design) -> Design:
        """A design of this question, with the times as they were."""
        own = next(plain for plain, its in self._options.items() if its == design.options[self.component])
        return replace(design, options={**design.options, self.component: own})

    def priced(self, design: Design) -> Priced:
        """A design of the question as it was, with what it takes here, and the least that crosses."""
        its = self._of(design)
        times = tuple(segment_times(self.model, self.question, its))
        return Priced(its, iteration(self.model, self.question, its), times, self._crosses(its))

    @property
    def broken(self) -> bool:
        """Does the plan take more than it may?"""
        most = self.question.budget.nanoseconds
        return most is not None and self.takes > most

    @property
    def bar(self) -> tuple[int | None, int | None]:
        """(ns, accelerators) that a design may have at most to be better; None: any."""
        if self.broken:
            return self.question.budget.nanoseconds, self.question.budget.accelerators
        if self.question.aim == SECONDS:
            return (self.takes * HUNDRED - 1) // (HUNDRED + WORTH), self.question.budget.accelerators
        return self.question.budget.nanoseconds, self.plan.accelerators - 1

    def is_better(self, design: Design) -> bool:
        """Is a design of the question as it was better here than the plan: by `WORTH` percent of time, or by an accelerator?"""
        (time, used), its = self.bar, self._of(design)
        within = time is None or iteration(self.model, self.question, its) + self._crosses(its) <= time
        return within and (used is None or its.accelerators <= used)

    def search(self, limit: float, seed: int, skip: Skip) -> Searched:
        """The best design that is better here than the plan, if there is one."""
        time, used = self.bar
        if used == 0:
            return Searched((), None, True)
        budget = replace(self.question.budget, nanoseconds=time, accelerators=used)
        return search(replace(self.question, budget=budget), self.model, limit, seed, excluded=self._known, skip=skip)


def _nothing(design: Design) -> int:
    """What crosses where that takes no time."""
    return 0
