"""The questions in which one component takes another time than was said, and what is better there than the plan."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Iterator, NamedTuple, Sequence

from .....models.planning.design import Design
from .....models.planning.option import Option
from .....models.planning.planned import Planned, Priced
from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel, iteration, segment_times
from ...counting import silent
from ...searching.candidates.listing import Listed, expected, listing
from ...searching.crossing.least import LeastCrossing
from ...searching.cuts.remembered import Recalled, Remembered
from ...searching.search import Searched, Skip, search
from ...searching.structures.structure import Structure
from .among import Span
from .flip import HUNDRED, WORTH


def number_of(questions: Sequence[Question], design: Design) -> int:
    """Of which question a design is, by its options, or else by its degrees; the first, where it is of none."""
    return next(chain(numbers_of(questions, design), _by_degrees(questions, design)), 0)


def numbers_of(questions: Sequence[Question], design: Design) -> Iterator[int]:
    """Of which questions it is, by its options: of several that differ only in what others take."""
    its = design.options.items()
    return (number for number, question in enumerate(questions) if all(option in question.options[name] for name, option in its))


def _by_degrees(questions: Sequence[Question], design: Design) -> Iterator[int]:
    degrees = {name: option.parallel for name, option in design.options.items()}
    for number, question in enumerate(questions):
        if all(any(each.parallel == its for each in question.options[name]) for name, its in degrees.items()):
            yield number


class _Its(NamedTuple):
    """One of the questions with the other times, and its options of the component: as they were -> as they are here."""

    question: Question
    options: dict[Option, Option]


class Scaled:
    """The questions in which one component takes another time: several where degrees follow others, each with other degrees."""

    def __init__(
        self, planned: Planned, model: CostModel, component: str, percent: int, questions: Sequence[Question], most: int | None = None,
        span: Span | None = None,
    ) -> None:  # fmt: skip
        """`questions`: of which the plan is the best answer of all. `most`: ns that a design may take here, where not those of a better one.

        `span`: the percents of which it is asked whether a design is better at any of them; none: this one alone.
        """
        self.model, self.component, self.percent, self._planned, self._most = model, component, percent, planned, most
        self.span = span or Span(percent, percent)
        self._questions, self._made = list(questions), dict[int, _Its]()
        self.plan = self._of(planned.compared)
        self._used = planned.held - planned.question.held
        self.takes = iteration(model, planned.question, self.plan) + planned.best.traffic
        self._known = (self.plan,) if planned.best.traffic else ()
        """What traffic it takes is known of the plan alone: without it, it is no other plan."""

    def ask(self, number: int, question: Question) -> None:
        """Puts this question as one of them, in which the component takes another time."""
        self._questions[number] = question
        self._made.pop(number, None)

    def question(self, number: int) -> Question:
        """One of the questions, in which the component takes another time."""
        return self._its(number).question

    def _its(self, number: int) -> _Its:
        if number not in self._made:
            question = self._questions[number]
            options = {option: self._scale(option) for option in question.options[self.component]}
            scaled = replace(question, options={**question.options, self.component: tuple(options.values())})
            self._made[number] = _Its(scaled, options)
        return self._made[number]

    def _scale(self, option: Option) -> Option:
        batches = self._planned.question.batches
        times = (-(-time * self.percent // (HUNDRED * batches)) * batches for time in option.nanoseconds)
        return replace(option, nanoseconds=tuple(times))

    def _of(self, design: Design) -> Design:
        """A design of the questions as they were, with the times of these."""
        return replace(design, options={**design.options, self.component: self._scale(design.options[self.component])})

    def as_it_was(self, number: int, design: Design) -> Design:
        """A design of one of these questions, with the times as they were."""
        own = next(plain for plain, its in self._its(number).options.items() if its == design.options[self.component])
        return replace(design, options={**design.options, self.component: own})

    def priced(self, design: Design) -> Priced:
        """A design of the questions as they were, with what it takes here, and the least that crosses."""
        its = self._of(design)
        times = tuple(segment_times(self.model, self._planned.question, its))
        return Priced(its, sum(times), times, self._crosses(design))

    def price(self, design: Design) -> tuple[int, int]:
        """What is as small as possible, and what comes second, of a design of the questions as they were."""
        its = self.priced(design)
        time, used = its.nanoseconds + its.traffic, design.used(self._planned.question)
        return (time, used) if self._planned.question.aim == SECONDS else (used, time)

    def _crosses(self, design: Design) -> int:
        """The least that crosses, by the question of the design as it was; times make no difference for it."""
        question = self._questions[number_of(self._questions, design)]
        return LeastCrossing(question, question.crossing).of(design) if question.crossing is not None else 0

    @property
    def broken(self) -> bool:
        """Does the plan take more than it may?"""
        most = self._planned.question.budget.nanoseconds
        return most is not None and self.takes > most

    @property
    def bar(self) -> tuple[int | None, int | None]:
        """(ns, accelerators) that a design may have at most to be better; None: any."""
        budget = self._planned.question.budget
        if self._most is not None:
            return self._most, budget.accelerators
        if self.broken:
            return budget.nanoseconds, budget.accelerators
        if self._planned.question.aim == SECONDS:
            return (self.takes * HUNDRED - 1) // (HUNDRED + WORTH), budget.accelerators
        return budget.nanoseconds, self._used - 1

    @property
    def finds_the_plan(self) -> bool:
        """Is the plan itself as quick here as is asked, and no design that is left out?"""
        time, used = self.bar
        return not self._known and (time is None or self.takes <= time) and (used is None or self._used <= used)

    def is_better(self, design: Design) -> bool:
        """Is a design of the questions as they were better here than the plan: by `WORTH` percent of time, or by an accelerator?"""
        (time, used), its = self.bar, self.priced(design)
        within = time is None or its.nanoseconds + its.traffic <= time
        return within and (used is None or design.used(self._planned.question) <= used)

    def asked(self, number: int) -> Question:
        """One of the questions, in which the component takes another time, and a design no more than one that is better here."""
        question, (time, used) = self.question(number), self.bar
        return replace(question, budget=replace(question.budget, nanoseconds=time, accelerators=used))

    def search(
        self, number: int, limit: float, seed: int, skip: Skip, any_will_do: bool, remembered: Remembered, among: Sequence[Structure] | None
    ) -> Searched:
        """The best design of one of the questions that is better here than the plan, or any, if there is one.

        `remembered`: what the searches of this question found until now. `among`: the only structures that may have one, if they are known.
        """
        if self.bar[1] == 0:
            return Searched((), None, True)
        asked = self.asked(number)
        recalled = self._recalled(asked, remembered)
        return search(asked, self.model, limit, seed, 1, self._known, None, False, skip, silent, any_will_do, recalled, among)

    def _recalled(self, asked: Question, remembered: Remembered) -> Recalled:
        return Recalled(asked, remembered, *((self.component, self.percent) if self.percent != HUNDRED else ()))

    def expected(self, number: int, limit: float, remembered: Remembered) -> tuple[float | None, float]:
        """Deterministic seconds that this is expected to take, None where these are very many; and those that it took to say so."""
        asked = self.asked(number)
        return expected(asked, self.model, limit, self._recalled(asked, remembered))

    def listing(self, number: int, limit: float, remembered: Remembered) -> Listed:
        """The structures of one of the questions that may have a design that is better here than the plan."""
        asked = self.asked(number)
        return listing(asked, self.model, limit, self._recalled(asked, remembered))
