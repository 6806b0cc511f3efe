"""Further searches about one plan: from which percent of a component's times on another design is better."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Callable, Mapping, NamedTuple, Sequence

from .....models.planning.design import Design
from .....models.planning.planned import Planned
from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ....sandbox.interrupts import unless_heard
from ...check import faults
from ...costs import cost_model
from ...searching.candidates.listing import can_list
from ...searching.cuts.remembered import Remembered
from ...searching.search import Skip
from ...searching.structures.structure import Structure
from ..placeable import Placeable
from .among import Span
from .flip import HUNDRED, WORTH
from .floors import floors
from .holding import holds_to
from .lists import Lists
from .scaled import Scaled, number_of, numbers_of

NEARLY = 1_000
"""A search that asks for a so-manieth more is hardly longer."""
Skips = Callable[[int], Skip]
"""For each question, by its number, the structures that are not searched."""


class Beaten(NamedTuple):
    """What a search of all questions found: the best that is better than the plan, with the times as they were, and whether that is proved."""

    best: Design | None
    proved: bool


def _distance(percent: int) -> int:
    return abs(percent - HUNDRED)


class Further:
    """The further searches about one plan."""

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

    def is_placed(self, design: Design | None) -> bool:
        """Is it known that a design has a placement? True where nothing is placed; after a Ctrl-C nothing is placed any more."""
        if design is None or not self.placeables:
            return True
        return unless_heard(lambda: any(each.is_placed(design) for each in self._placeables_of(design)), lambda: False)

    def _placeables_of(self, design: Design) -> list[Placeable]:
        return [self.placeables[number] for number in self._numbers_of(design)]

    def _numbers_of(self, design: Design) -> list[int]:
        return list(numbers_of(self.questions, design)) or [number_of(self.questions, design)]

    def may_be_beaten(self, component: str) -> bool:
        """Is another design better by so much, as long as nobody knows what it takes for traffic, that nothing needs to change for it?"""
        return self.better(component, HUNDRED, self.spent + self.left(self.limit) / 2) is not False

    def holds_to(self, component: str, end: int) -> int | None:
        """The percent farthest on the way to `end` up to which what was proved of the plan proves that it holds; None if not even as it is."""
        return holds_to(self.planned, partial(self.scaled, component), end)

    def left(self, until: float) -> float:
        """Deterministic seconds that are left until so many are spent; none if no search is."""
        return min(until, self.limit) - self.spent if self.searches < self.most else 0.0

    def nearest(self, component: str, end: int, at: int | None = None) -> int | None:
        """The nearest percent on the way to `end` from which on a design that is known is better, or the plan breaks its budget; None if none is.

        `at`: it is known to be so there. What is better farther on is better from some percent on: nearer by it may not be the only one.
        """
        far = end if at is None else at
        nearest = min((first for first in (self._first(component, None, far), at) if first is not None), key=_distance, default=None)
        for design in list(self.known):
            first = self._first(component, design, far if nearest is None else nearest)
            if first is not None and (nearest is None or _distance(first) < _distance(nearest)) and self._fits(design):
                nearest = first
        return nearest

    def _fits(self, design: Design) -> bool:
        """Has a design that is known a placement, as far as is known, and is it still an answer? Else it is none any more."""
        if any(self._is_answer(number, design) for number in self._numbers_of(design)):
            return True
        self.known.remove(design)
        return False

    def _is_answer(self, number: int, design: Design) -> bool:
        question = self.questions[number]
        asked = replace(question, budget=replace(question.budget, nanoseconds=None))
        return not any(faults(asked, self.model, design)) and (not self.placeables or self.placeables[number].fits(design))

    def better(self, component: str, percent: int, until: float) -> bool | None:
        """Is there a design that is better than the plan there, and has a placement? None if that was not known in time."""
        return self.beaten(self.scaled(component, percent), until)

    def beaten(self, scaled: Scaled, until: float) -> bool | None:
        """Is there a design that is as quick as is asked there, and has a placement? None if that was not known in time."""
        found = self._search(scaled, self._skips(scaled), until, any_will_do=True)
        if found is None or (found.best is None and not found.proved):
            return None
        return found.best is not None

    def reach(self, component: str, near: int, far: int) -> tuple[int, Scaled] | None:
        """The percent farthest from `near` on the way to `far` up to which one search may show that nothing is better, and that search.

        None where a design that is known is better at `near` itself.
        """
        found, step = None, 1 if far >= near else -1
        last, beyond = near - step, far + step
        while abs(beyond - last) > 1:
            middle = (last + beyond) // 2
            its = self.between(component, near, middle)
            if self._is_known(its):
                beyond = middle
            else:
                last, found = middle, (middle, its)
        return found

    def is_one_search(self, component: str, near: int, far: int) -> bool:
        """Is it hardly more to search whether something is better at any percent of these than whether it is at the farthest?"""
        between, there = self.between(component, near, far), self.scaled(component, far)
        most, asked = there.bar[0], between.bar[0]
        alike = most is not None and asked is not None and between.percent == far and asked - most <= most // NEARLY
        return alike and not self._is_known(between)

    def between(self, component: str, near: int, far: int) -> Scaled:
        """A search which shows that nothing is better at any percent of these, where it finds nothing.

        With more of the times of a component no design takes less, and none takes more than in proportion (see holding.py). So what is
        better at a lower percent than the one that is searched takes there no more than the plan, had it grown in proportion from the
        least; what is better at a higher one no more than the plan at the greatest. It is searched where both are as much.
        """
        low, high = sorted((near, far))
        least, question = self.scaled(component, low), self.planned.question
        if question.aim != SECONDS or low == high:  # fewer accelerators that keep to the time keep to it with less of it too
            return least
        most = self.scaled(component, high).takes
        at = min(low * most // least.takes, high)
        rounded = question.batches * len(question.tasks_of[component])  # its times are whole multiples of the batches
        takes = max(most, least.takes * at // low + 2 * rounded) * HUNDRED // (HUNDRED + WORTH) + rounded
        return Scaled(self.planned, self.model, component, at, self.questions, takes, Span(low, high))

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

    def _is_known(self, scaled: Scaled) -> bool:
        """Is a design known that this would find?"""
        return scaled.finds_the_plan or any(scaled.is_better(each) and self._fits(each) for each in list(self.known))

    def best(self, component: str, percent: int, until: float) -> tuple[Design | None, bool]:
        """The best design there that has a placement, and whether that is proved; None if nothing keeps to the budget, or nothing is known."""
        scaled = self.scaled(component, percent)
        found = self._search(scaled, self._skips(scaled), until)
        if found is None or not found.proved or (found.best is None and not scaled.broken):
            return self.best_known(component, percent), False
        return found.best, True

    def best_known(self, component: str, percent: int) -> Design | None:
        """The best design there of those that are known."""
        scaled = self.scaled(component, percent)
        return min((each for each in list(self.known) if scaled.is_better(each) and self._fits(each)), key=scaled.price, default=None)

    def scaled(self, component: str, percent: int) -> Scaled:
        """The questions in which a component takes so many percent of its times."""
        return Scaled(self.planned, self.model, component, percent, self.questions)

    def _search(self, scaled: Scaled, skips: Skips, until: float, any_will_do: bool = False) -> Beaten | None:
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

    def _skips(self, scaled: Scaled) -> Skips:
        """What cannot be better than the plan there: no design is quicker than in proportion to the component that is."""
        most, share = scaled.bar[0], min(scaled.percent, HUNDRED)

        def skips(number: int) -> Skip:
            known = self._floors_of(number) or {}

            def skip(structure: Structure) -> bool:
                floor = known.get(structure, 0)
                return floor is None or (most is not None and floor * share > most * HUNDRED)

            return skip

        return skips

    def _first(self, component: str, other: Design | None, end: int) -> int | None:
        """A percent at which a design is better, or without one the budget broken, and at the one before not; None if not at `end`."""

        def beaten(percent: int) -> bool:
            scaled = self.scaled(component, percent)
            return scaled.broken if other is None else scaled.is_better(other)

        if not beaten(end):
            return None
        near, far = HUNDRED, end
        while abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if beaten(middle) else (middle, far)
        return far
