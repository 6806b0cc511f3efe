"""Which models each component is on whose times name models: each choice is a question of its own, the most promising first."""

from __future__ import annotations

from dataclasses import field
from heapq import heapify, heappop, heappush
from typing import Callable

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import Planned
from ....models.planning.question import Question
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ....models.record import dataclass
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..costs.cost_model import CostModel
from ..searching.price import Price
from ..searching.search import Searched, search
from ..searching.sizes.settling import Settle
from .bounded_choice import Choice, Left, least_price, no_dearer
from .choices_of_models import MOST_PARTS, how_many
from .every_choice import models_of, of_every_choice
from .spanning import Models, as_loosely_spanning, as_spanning, models_in, own_models, sets_of_models

MOST_PLANNED, MOST_BOUNDED = 24, 400
"""Choices that are planned at most, and that are bounded: some components of one, or all."""
UNDECIDED = 0.25
"""Of the time: so much counts for a choice of which nothing was found, since nobody says how long that took."""


@dataclass
class Choosing:
    """The best plan of all choices of models.

    Attributes
    ----------
    plan : how one choice is planned in so many deterministic seconds.
    over_nodes : may tensor parallel groups lie over nodes, though nothing is told of that yet?
    answers : of the choices that were planned.
    best : the best of these that is better than what was known before; None where none is.
    left : what no plan of choices that were left when time was over costs less than.
    only_over_nodes : the same of choices with groups over nodes of which no other plan is better.
    """

    problem: Problem
    workload: Workload
    model: CostModel
    plan: Callable[[float], Solve]
    limit: float
    seed: int
    settle: Settle | None
    answer_interrupted: bool
    over_nodes: bool
    answers: list[Answer] = field(default_factory=list)
    best: Planned | None = None
    left: list[Price] = field(default_factory=list)
    only_over_nodes: list[int] = field(default_factory=list)
    spent: float = 0.0
    _bounded: int = 0
    _planned: list[Models] = field(default_factory=list)
    _floor: Price | None = (0, 0)

    def look(self, known: Price | None) -> None:
        """Plans what may be better than a plan that costs so much, each choice once; as good is the file's own placement alone.

        From the most promising that is left it goes on to the most promising of what that comes to, until it is planned or no better. Of
        many choices one question is asked at first, and the models of its best design are planned; or where it is not known, those on
        which all may be anywhere: so that others need not be looked at. The file's own are looked at whatever the time is.
        """
        sets, own = sets_of_models(self.problem), own_models(self.problem)
        left: list[Left] = []
        following: Left | None = Left((0, 0), 0, 0, Choice({}, (0, 0)))
        if how_many(self.problem) > MOST_PARTS and all(sets.values()):
            known = self._first_of_all(known)
            if self._is_out(Choice({}, self._floor), known, own):
                return
            if not self.answers:
                known = self._first({name: its[-1] for name, its in sets.items()}, known, {})
        if sets and all(own.get(name) in its for name, its in sets.items()):
            known = self._first({name: own[name] for name in sets}, known, own)
        while following is not None or left:
            least, _, _, choice = following or heappop(left)
            following = None
            name = next((name for name in sets if name not in choice.models), None)
            if self._is_out(choice, known, own):
                self._leave_over_nodes(choice)
            elif self._is_over:
                self.left.append(least)
                self._leave_over_nodes(choice)
            elif name is None and choice.models not in self._planned:
                known = self._plan(choice, known)
            elif name is not None:
                for models in sets[name]:
                    more = self._bound({**choice.models, name: models})
                    heappush(left, Left(more.least or least, sum(map(len, more.models.values())), self._bounded, more))
                alike = [
                    each for each in left if len(each.choice.models) > len(choice.models) and not self._is_out(each.choice, known, own)
                ]
                following = min((each for each in alike if choice.models.items() <= each.choice.models.items()), default=None)
                if following is not None:
                    left.remove(following)
                    heapify(left)

    def _first_of_all(self, known: Price | None) -> Price | None:
        """The price of the best that is known with the most promising choice planned; from now on it is known what no choice costs less than."""
        every = of_every_choice(self.problem)
        if every is None:
            return known
        question, sets = every
        self._bounded += 1
        searched = self._searched(no_dearer(question, known))
        least = self._least(question, searched)
        if least is not None or known is not None:
            self._floor = least
        if least is not None and searched.best is not None and (known is None or least < known):
            models = models_of(sets, searched.best.design, sets_of_models(self.problem))
            known = self._plan(Choice(models, least), known)
        if self.over_nodes and known is not None and (wide := of_every_choice(self.problem, over_nodes=True)) is not None:
            its = self._least(wide[0], self._searched(no_dearer(wide[0], known)))
            self.only_over_nodes += [] if its is None else [its[0]]
        return known

    def _first(self, models: Models, known: Price | None, own: Models) -> Price | None:
        """The price of the best that is known with one choice planned, where that may be better."""
        choice = self._bound(models)
        return known if models in self._planned or self._is_out(choice, known, own) else self._plan(choice, known)

    @property
    def _is_over(self) -> bool:
        return was_heard() or self.spent >= self.limit or len(self.answers) >= MOST_PLANNED or self._bounded >= MOST_BOUNDED

    def _is_out(self, choice: Choice, known: Price | None, own: Models) -> bool:
        """Is no plan of it better than one that costs so much?"""
        if known is None or choice.least is None:
            return choice.least is None
        is_own = bool(own) and all(own.get(name) == its for name, its in choice.models.items())
        return choice.least > known if is_own else choice.least >= known

    def _leave_over_nodes(self, choice: Choice) -> None:
        if choice.over_nodes is not None:
            self.only_over_nodes.append(choice.over_nodes)

    def _bound(self, models: Models) -> Choice:
        """What no plan costs less than with some components on these models."""
        self._bounded += 1
        loose = as_loosely_spanning(self.problem, models)
        least = self._search(asked(loose, loose.job.workload or self.workload))
        wide = self._search(asked(loose, loose.job.workload or self.workload, over_nodes=True)) if self.over_nodes else None
        if least is None or self._floor is None:
            return Choice(models, None, None if wide is None else wide[0])
        return Choice(models, max(least, self._floor), None if wide is None else wide[0])

    def _search(self, question: Question) -> Price | None:
        return self._least(question, self._searched(question))

    def _searched(self, question: Question) -> Searched:
        left = max(self.limit - self.spent, 0.0)
        searched = search(question, self.model, left, self.seed, 1, (), self.settle, self.answer_interrupted)
        self.spent += searched.spent
        return searched

    def _least(self, question: Question, searched: Searched) -> Price | None:
        return least_price(question, searched.bound, searched.best.price if searched.best and searched.first_proved else None)

    def _plan(self, choice: Choice, known: Price | None) -> Price | None:
        """The price of the best that is known with a choice planned."""
        models, answer = choice.models, self._answer(choice.models)
        if answer.planned is None:
            self._leave_over_nodes(choice)
        if answer.planned is None and answer.verdict != IMPOSSIBLE:
            self.left.append(choice.least or (0, 0))
            self.spent += UNDECIDED * self.limit
        better = self._better(answer, known)
        if better is not None and answer.plan is not None:
            there = models_in(self.problem, answer.plan.assignment)
            there = {name: there[name] for name in models}
            if there != models:  # what is on some of its models alone takes as long as on these
                other = self._answer(there)
                if other.planned is not None and other.planned.price <= better.price:
                    answer, better = other, other.planned
        if better is not None:
            self.best = better
            return better.price
        return known

    def _answer(self, models: Models) -> Answer:
        self._planned.append(models)
        answer = self.plan(max(self.limit - self.spent, 0.0))(as_spanning(self.problem, models))
        self.spent += answer.planned.spent if answer.planned is not None else 0.0
        self.answers.append(answer)
        return answer

    def _better(self, answer: Answer, known: Price | None) -> Planned | None:
        """What was planned, if it is better than what costs so much."""
        its = answer.planned
        if its is None:
            return None
        return its if known is None or its.price < known or (its.is_own and its.price == known) else None

    @property
    def is_impossible(self) -> bool:
        """Is it known that no choice has a plan, with each group on one node?"""
        return not self.left and all(each.verdict == IMPOSSIBLE for each in self.answers)

    @property
    def bounds(self) -> list[int]:
        """What no plan costs less than: of choices that were left, and of what was planned; what was cut costs no less than the best."""
        return [*(least[0] for least in self.left), *(each.planned.bound for each in self.answers if each.planned is not None)]
