"""Sensitivity of a plan to the times of one component, at seven factors.

The times of one component are multiplied by each of a few factors, the nearest to 1 first. Where
the proof of the plan does not show that the plan holds there, the question is searched again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, NamedTuple, Sequence

from ..models.account import HUNDRED, QUICKER, SLOWER, PlanChange, Sensitivity, models_of
from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.planning.cost_models import iteration
from ..models.planning.design import Design
from ..models.planning.option import Option
from ..models.planning.planned import PlanningResult
from ..models.planning.workload import SECONDS, Budget
from ..models.problem import Problem
from ..models.record import dataclass
from ..solver.session import Session
from .benders import as_listed, drop_preferences, find_no_good, this_alone
from .costs import cost_design, cost_model
from .placing import placing
from .problem import source_of
from .search.found import Price
from .search.search import search

SEARCHES = 200
"""Searches at most, of all components together."""
SPENT = 10.0
"""Deterministic seconds of all searches together, unless the caller limits them."""
WORTH = 5
"""Percent by which another plan must be better to replace the plan."""
PLACED = 48
"""Designs and parts of designs that are placed at most."""


def sensitivity(
    result: PlanningResult, most: int = SEARCHES, limit: float = SPENT,
    solve: Solve | None = None, traffic: bool = False, session: Session | None = None,
    ranges: Mapping[str, tuple[int, int]] = {},
) -> Sensitivity:  # fmt: skip
    """Judge the plan at every factor of every component, within `most` searches and `limit`.

    A deterministic second that one search leaves is there for the next one. After Ctrl-C, what is
    not decided is `left`. A plan that is not proved within `WORTH` percent is not judged at all:
    another one may be better with the times as they are. `limit` : deterministic seconds of all
    searches together. `solve` : places designs; one without a placement replaces nothing. `traffic` : True if traffic takes time. Other plans have the least that any
    placement needs. `ranges` : component -> percent of its times that an estimate goes down and up to.
    """
    run = _Run(result, most, limit, solve, traffic, session or Session())
    names = [name for name, tasks in result.question.tasks_of.items() if tasks]
    variations = []
    for name in names:
        low, high = ranges.get(name, (QUICKER[-1], SLOWER[-1]))  # of an estimate, up to its ends
        slower, quicker = [factor for factor in SLOWER if factor < high], [factor for factor in QUICKER if factor > low]
        variations += [_Variation(name, [*factors], result.bound) for factors in ((*slower, high), (*quicker, low))]
    is_best = result.proved
    if run.by_time:  # no plan is better by `WORTH` percent with the original times
        is_best = result.price[0] * HUNDRED <= result.bound * (HUNDRED + WORTH)
    if is_best:
        run.session.unless_cancelled(lambda: run.judge_all(variations), lambda: None)
    changes = tuple(variation.flip for variation in variations if variation.flip is not None)
    undecided = tuple((variation.component, variation.open[0]) for variation in variations if variation.open and variation.flip is None)
    return Sensitivity(changes, undecided, run.searches, traffic)


def scale(option: Option, percent: int, batches: int) -> Option:
    """Return the option with `percent` of its times, in multiples of `batches`."""
    times = (-(-time * percent // (HUNDRED * batches)) * batches for time in option.nanoseconds)
    return replace(option, nanoseconds=tuple(times))


@dataclass
class _Variation:
    """One component, slower or quicker.

    `open` : undecided factors in percent, nearest to 100 first. `bound` : lower bound in ns, at
    open factors above 1, or with the original times for a quicker component.
    """

    component: str
    open: list[int]
    bound: int
    holds: int = HUNDRED
    flip: PlanChange | None = None


class _VariedPlan(NamedTuple):
    """Factor of a component: the plan there, and the budget for a better design."""

    component: str
    percent: int
    plan: Design
    takes: int
    is_broken: bool
    budget: Budget


class _Run:
    """Searches for the sensitivity of a plan."""

    def __init__(
        self, result: PlanningResult, most: int, limit: float,
        solve: Solve | None, traffic: bool, session: Session,
    ) -> None:  # fmt: skip
        self.planned, self.model = result, cost_model(result.model)
        self.most, self.limit, self.traffic, self.session = most, limit, traffic, session
        self.solve, self.questions, self.left = solve, list(result.parts or (result.question,)), PLACED
        self.by_time = result.question.aim == SECONDS
        self.searches, self.spent = 0, 0.0

    def judge_all(self, variations: Sequence[_Variation]) -> None:
        """Judge the nearest factor of every way, then the next factors."""
        while variations:
            holding = []
            for number, variation in enumerate(variations):
                share = (self.limit - self.spent) / (len(variations) - number)
                if self._holds(variation, self.spent + share) and variation.open:
                    holding.append(variation)
            variations = holding

    def _holds(self, variation: _Variation, until: float) -> bool:
        """Judge the nearest open factor; return True if the plan holds there."""
        varied, better, is_decided = self._there(variation.component, variation.open[0]), None, True
        if not self._is_proved(variation, varied):
            better, is_decided = self._search(varied, until)
        if better is not None or varied.is_broken:
            flip = better or PlanChange(variation.component, HUNDRED, varied.percent, varied.takes)
            variation.flip = replace(flip, holds=variation.holds)
            return False
        if is_decided:
            if self.by_time:
                variation.bound = max(variation.bound, (varied.budget.nanoseconds or 0) + 1)
            variation.holds = variation.open.pop(0)
        return is_decided

    def _there(self, component: str, percent: int) -> _VariedPlan:
        result, question = self.planned, self.planned.question
        options, budget = result.compared.options, question.budget
        option = scale(options[component], percent, question.flow.batches)
        plan = replace(result.compared, options={**options, component: option})
        takes = iteration(self.model, question, plan) + result.best.traffic
        is_broken = budget.nanoseconds is not None and takes > budget.nanoseconds
        if not is_broken and self.by_time:
            budget = replace(budget, nanoseconds=(takes * HUNDRED - 1) // (HUNDRED + WORTH))
        elif not is_broken:
            budget = replace(budget, accelerators=result.all_accelerators - question.given.held - 1)
        return _VariedPlan(component, percent, plan, takes, is_broken, budget)

    def _is_proved(self, variation: _Variation, varied_plan: _VariedPlan) -> bool:
        """Return True if a better design there is excluded without a search.

        Every cost model adds maxima of sums of times: with longer times of a component no design
        takes less, and with `percent` of them none takes less than `percent` of an iteration.
        """
        most = varied_plan.budget.nanoseconds
        if varied_plan.budget.accelerators == 0:
            return True
        if not self.by_time:  # fewer that keep to the budget there keep to it with less time too
            return varied_plan.percent > HUNDRED and not varied_plan.is_broken
        return most is not None and most * HUNDRED < variation.bound * min(varied_plan.percent, HUNDRED)

    def _search(self, varied_plan: _VariedPlan, until: float) -> tuple[PlanChange | None, bool]:
        """Return the best better design there, and True if none is missed."""
        changes, count = list[tuple[Price, PlanChange]](), len(self.questions)
        decisions = []
        for number in range(count):
            share = (until - self.spent) / (count - number)
            decisions.append(self._search_one(number, varied_plan, self.spent + share, changes))
        return min(changes, key=lambda change: change[0])[1] if changes else None, all(decisions)

    def _search_one(self, number: int, varied_plan: _VariedPlan, until: float, changes: list[tuple[Price, PlanChange]]) -> bool:
        """Search a problem without unplaceable designs; return True if it was decided."""
        name, percent = varied_plan.component, varied_plan.percent
        plan = replace(this_alone(varied_plan.plan), segments=varied_plan.plan.segments)
        no_goods = (plan,) if self.planned.best.traffic else ()  # priced without its traffic
        while self.searches < self.most and self.spent < until:
            plain = self.questions[number]
            options = [scale(candidate, percent, plain.flow.batches) for candidate in plain.options[name]]
            variant = replace(
                plain, options={**plain.options, name: tuple(options)}, budget=varied_plan.budget, barred=(*plain.barred, *no_goods)
            )
            outcome = search(variant, self.model, until - self.spent, session=self.session)
            self.searches, self.spent = self.searches + 1, self.spent + outcome.spent
            if outcome.best is None:
                return outcome.proved
            best = as_listed(outcome.best.design, variant, self.model, variant)
            design = replace(best, options={**best.options, name: plain.options[name][options.index(best.options[name])]})
            problem = source_of(plain) if self.solve is not None else None
            verdict = self._solve(drop_preferences(placing(problem, plain, design))).verdict if problem is not None else ""
            if problem is None or verdict != IMPOSSIBLE:
                takes = cost_design(self.model, variant, best)
                traffic = outcome.best.price[0 if self.by_time else 1] - takes.nanoseconds
                to = replace(takes, traffic=traffic, models=models_of(self.questions, design))
                is_placed = verdict != UNDECIDED and not self.traffic
                changes.append((outcome.best.price, PlanChange(name, HUNDRED, percent, varied_plan.takes, to, is_placed, plain)))
                return outcome.proved
            if self.left <= 0:
                return False
            no_good = find_no_good(problem, plain, design, self._solve, self.left)
            self.questions[number] = replace(plain, barred=(*plain.barred, no_good))
        return False

    def _solve(self, part: Problem) -> Answer:
        self.left -= 1
        return Answer(UNDECIDED) if self.solve is None or self.left < 0 else self.solve(part)
