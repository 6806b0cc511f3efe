"""Searches of the questions of one plan with other times of a component, and what becomes known by them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Callable, Mapping, NamedTuple, Sequence

from .....models.planning.design import Design
from .....models.planning.planned import Planned
from .....models.planning.question import Question
from ....sandbox.interrupts import unless_heard
from ...check import faults
from ...costs import cost_model
from ...searching.candidates.listing import can_list
from ...searching.cuts.remembered import Remembered
from ...searching.search import Skip
from ...searching.structures.structure import Structure
from ..models_of import models_of
from ..placeable import Placeable
from .among import Span
from .flip import HUNDRED
from .floors import floors
from .lists import Lists
from .scaled import Scaled, number_of, numbers_of

Skips = Callable[[int], Skip]
"""For each question, by its number, the structures that are not searched."""


class Beaten(NamedTuple):
    """What a search of all questions found: the best that is better than the plan, with the times as they were, and whether that is proved."""

    best: Design | None
    proved: bool


class Searcher:
    """Searches, all within one limit; `known` are the designs that they came by."""

    def __init__(
        self, planned: Planned, seed: int, most: int, limit: float, placeables: Sequence[Placeable] = (), questions: Sequence[Question] = ()
    ) -> None:
        """`placeables`: one for each question of which the plan is the best answer; none where nothing is placed.

        `questions`: what is searched instead of these, where they ask for more.
        """
        self.planned, self.model, self.seed, self.most = planned, cost_model(planned.model), seed, most
        self.searches, self.spent, self.limit = 0, 0.0, limit
        self.questions = list(questions or planned.parts or (planned.question,))
        self.placeables = placeables
        self._remembered = [Remembered() for _ in self.questions]
        self._floors: dict[int, Mapping[Structure, int | None] | None] = {}
        self.lists = [Lists(number) for number, _ in enumerate(self.questions)]
        self.known = [each.design for each in planned.others] + list(planned.seen)
        """Designs that may be better somewhere: each narrows what is to be searched."""

    def left(self, until: float) -> float:
        """Deterministic seconds that are left until so many are spent; none if no search is."""
        return min(until, self.limit) - self.spent if self.searches < self.most else 0.0

    def scaled(self, component: str, percent: int) -> Scaled:
        """The questions in which a component takes so many percent of its times."""
        return Scaled(self.planned, self.model, component, percent, self.questions)

    @cached_property
    def to_be_listed(self) -> Sequence[int]:
        """The questions with very many structures, by their numbers; none where it is not known of each how these are listed."""
        many = [number for number, _ in enumerate(self.questions) if self._floors_of(number) is None]
        return many if all(can_list(self.questions[number], self.model) for number in many) else []

    def expected(self, number: int, asked: Scaled) -> float | None:
        """Deterministic seconds that it is expected to take to list what a search may find of one question; None where these are very many."""
        its, spent = asked.expected(number, self.left(self.limit), self._remembered[number])
        self.spent += spent
        return its

    def make_list(self, number: int, asked: Scaled, spans: Mapping[str, Span], until: float) -> bool:
        """Lists what a search may find of one question, until so many deterministic seconds are spent; whether there was time for it.

        `spans`: for each component the percents at which nothing is better that this search does not find.
        """
        if (limit := self.left(until)) <= 0:
            return False
        rounded = self.planned.question.batches * len(self.planned.question.tasks)
        is_made, spent = self.lists[number].make(asked, spans, rounded, limit, self._remembered[number])
        self.spent += spent
        return is_made

    def is_placed(self, design: Design | None) -> bool:
        """Is it known that a design has a placement? True where nothing is placed; after a Ctrl-C nothing is placed any more."""
        if design is None or not self.placeables:
            return True
        return unless_heard(lambda: any(each.is_placed(design) for each in self._placeables_of(design)), lambda: False)

    def fits(self, design: Design) -> bool:
        """Has a design that is known a placement, as far as is known, and is it still an answer? Else it is none any more."""
        if any(self._is_answer(number, design) for number in self._numbers_of(design)):
            return True
        self.known.remove(design)
        return False

    def question_of(self, design: Design | None) -> Question | None:
        """The question that a design is an answer to, where that has other kinds than the one of the plan; else None."""
        own = self.planned.question.kinds
        if design is None or all(each.kinds == own for each in self.questions):
            return None
        its = next((self.questions[number] for number in self._numbers_of(design) if self._is_design(number, design)), None)
        return its if its is not None and its.kinds != own else None

    def models_of(self, design: Design) -> Mapping[str, tuple[str, ...]]:
        """Component -> the models that it is on in a design, where the questions that it is an answer to say it."""
        return models_of([self.questions[number] for number in self._numbers_of(design)], design)

    def _placeables_of(self, design: Design) -> list[Placeable]:
        return [self.placeables[number] for number in self._numbers_of(design)]

    def _numbers_of(self, design: Design) -> list[int]:
        return list(numbers_of(self.questions, design)) or [number_of(self.questions, design)]

    def _is_answer(self, number: int, design: Design) -> bool:
        return self._is_design(number, design) and (not self.placeables or self.placeables[number].fits(design))

    def _is_design(self, number: int, design: Design) -> bool:
        """Is it one of this question, whatever time it takes?"""
        question = self.questions[number]
        return not any(faults(replace(question, budget=replace(question.budget, nanoseconds=None)), self.model, design))

    def search(self, scaled: Scaled, skips: Skips, until: float, any_will_do: bool = False) -> Beaten | None:
        """The best that is better than the plan there, or any, and has a placement; None if no search is left, or nothing is placed any more."""
        best, proved, count = None, True, len(self.questions)
        for number in range(count):
            skip, its = skips(number), self.spent + self.left(until) / (count - number)  # none of several leaves the others nothing
            found = self._search_one(number, scaled, skip, its, any_will_do)
            if found is None:
                return None
            if any_will_do and found.best is not None:
                return found
            proved = proved and found.proved
            if found.best is not None and (best is None or scaled.price(found.best) < scaled.price(best)):
                best = found.best
        return Beaten(best, proved)

    def _search_one(self, number: int, scaled: Scaled, skip: Skip, until: float, any_will_do: bool) -> Beaten | None:
        """The same of one of the questions."""
        while True:
            if (left := self.left(until)) <= 0:
                return None
            among = self.lists[number].among(scaled)
            searched = scaled.search(number, left, self.seed, skip, any_will_do, self._remembered[number], among)
            self.searches, self.spent = self.searches + 1, self.spent + searched.spent
            self.lists[number].rule_out(scaled, searched.without)
            if searched.best is None:
                return Beaten(None, searched.proved)
            self._came_by([scaled.as_it_was(number, each) for each in searched.seen])
            design = scaled.as_it_was(number, searched.best.design)
            if not self.placeables or self.placeables[number].fits(design):
                break
            if self.placeables[number].used_up:
                return None
            self.questions[number] = self.placeables[number].without(design)
            self._remembered[number] = Remembered()
            scaled.ask(number, self.questions[number])
        self._came_by([design])
        return Beaten(design, searched.proved)

    def _came_by(self, designs: Sequence[Design]) -> None:
        self.known += [each for each in designs if each not in self.known]

    def _floors_of(self, number: int) -> Mapping[Structure, int | None] | None:
        if number not in self._floors:
            share = self.left(self.limit) / 2 / (len(self.questions) - len(self._floors))
            self._floors[number], spent = floors(self.questions[number], self.model, share)
            self.spent += spent
        return self._floors[number]

    def skips(self, scaled: Scaled) -> Skips:
        """What cannot be better than the plan there: no design is quicker than in proportion to the component that is."""
        most, share = scaled.bar[0], min(scaled.percent, HUNDRED)

        def skips(number: int) -> Skip:
            known = self._floors_of(number) or {}

            def skip(structure: Structure) -> bool:
                floor = known.get(structure, 0)
                return floor is None or (most is not None and floor * share > most * HUNDRED)

            return skip

        return skips
