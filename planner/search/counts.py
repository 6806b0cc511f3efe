"""CP-SAT model of one structure: one choice a block, limits, and the maxima of its price."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, NamedTuple, Sequence

from ortools.sat.python import cp_model

from ...models.planning.design import Design
from ...models.planning.workload import SECONDS
from ...solver.model.amount import Amount, total
from ...solver.model.engine import Outcome, Status, run
from .choices import Choice
from .sizing import Load, Sizing

Numbers = tuple[int, ...]
"""For each set, the place of its choice."""


LEAST = 0.05
"""Deterministic seconds that a search gets at least, however little is left."""


class Counts:
    """The model. Each choice is a literal, so that its relaxation is the convex hull of the choices of each set."""

    def __init__(self, sizing: Sizing, excluded: Sequence[Numbers] = ()) -> None:
        self.sizing, self.model = sizing, cp_model.CpModel()
        self.chosen = [
            [self.model.new_bool_var(f"set {number} choice {place}") for place in range(len(its))]
            for number, its in enumerate(sizing.choices)
        ]
        for literals in self.chosen:
            self.model.add_exactly_one(literals)
        self._fit()
        self._hold()
        self.time, self.accelerators = self._time(), self._used()
        self.model.add(self.accelerators <= sizing.most)
        if sizing.question.budget.nanoseconds is not None:
            self.model.add(self.time <= sizing.question.budget.nanoseconds)
        for numbers in excluded:
            self.model.add_bool_or([self.chosen[number][place].negated() for number, place in enumerate(numbers)])

    def _used(self) -> Amount:
        """All that is used; where given components share their accelerators, whatever else is used beside these."""
        used = self._sum(self.sizing.roots, _accelerators)
        if not self.sizing.tallies:
            return used
        most = sum(kind.accelerators for kind in self.sizing.question.kinds)
        value = self.model.new_int_var(0, most, "used")
        self.model.add(value >= used)
        for each in self.sizing.tallies:
            weights = ((number, [each.weigh(number, choice.options) for choice in self.sizing.choices[number]]) for number in each.sets)
            self.model.add(value >= total((each.base, *(self._weighed(number, its) for number, its in weights))))
        return value

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Numbers:
        """The places that were chosen."""
        return tuple(next(place for place, literal in enumerate(literals) if value(literal)) for literals in self.chosen)

    def _sum(self, sets: Sequence[int], amount: Callable[[Choice], int]) -> Amount:
        pairs = [(literal, amount(choice)) for number in sets for literal, choice in zip(self.chosen[number], self.sizing.choices[number])]
        return _weighted(pairs)

    def _weighed(self, number: int, weights: Sequence[int]) -> Amount:
        return _weighted(list(zip(self.chosen[number], weights)))

    def _fit(self) -> None:
        """What the sets use is there: of each kind, and inside the set around them."""
        structure = self.sizing.structure
        for kind, its in enumerate(self.sizing.question.kinds):

            def of_kind(choice: Choice, kind: int = kind) -> int:
                return choice.accelerators if choice.kind == kind else 0

            self.model.add(self._sum(self.sizing.roots, of_kind) <= its.accelerators)
            for number in range(len(structure.sets)):
                if inner := self.sizing.inner[number]:
                    self.model.add(self._sum(inner, of_kind) <= self._sum((number,), of_kind))
        for row in self.sizing.rows:
            weights = ((number, [row.weigh(number, choice.options) for choice in self.sizing.choices[number]]) for number in row.sets)
            self.model.add(total(self._weighed(number, its) for number, its in weights) <= row.most)
        for number, inner in enumerate(self.sizing.inner):
            if inner:
                used = total((self._sum(inner, _accelerators), self.sizing.left_over(number)))
                self.model.add(used <= self._sum((number,), _accelerators))

    def _hold(self) -> None:
        """Sets inside others need their memory together with these; what a set needs alone was looked at before."""
        sizing = self.sizing
        for number, around in enumerate(sizing.structure.around):
            if len(around) == 1:
                continue
            for turn in range(len(sizing.question.all_turns) + 1):
                self.model.add(total(self._need(each, turn) for each in around) <= self._limit(number))

    def _need(self, number: int, place: int) -> Amount:
        return self._sum((number,), lambda choice: choice.needs[place])

    def _limit(self, number: int) -> Amount:
        unlimited = 1 << 40
        kinds = self.sizing.question.kinds
        return self._sum((number,), lambda choice: memory if (memory := kinds[choice.kind].memory) is not None else unlimited)

    def _time(self) -> Amount:
        found: list[tuple[cp_model.IntVar, int]] = []
        for index, each in enumerate(self.sizing.greatest):
            most = max(sum(self._longest(load) for load in its) for its in each.sums)
            value = self.model.new_int_var(0, most, f"maximum {index}")
            for its in each.sums:
                self.model.add(value >= total(self._load(load) for load in its))
            found.append((value, each.weight))
        return cp_model.LinearExpr.weighted_sum([value for value, _ in found], [weight for _, weight in found]) if found else 0

    def _load(self, load: Load) -> Amount:
        return self._sum((load[0],), lambda choice: choice.loads[load[1]])

    def _longest(self, load: Load) -> int:
        return max(choice.loads[load[1]] for choice in self.sizing.choices[load[0]])

    def seek(self, expression: Amount) -> None:
        """Says what is to be as small as possible."""
        self.model.minimize(expression)

    def at_most(self, expression: Amount, value: int) -> None:
        """Requires that it is no more."""
        self.model.add(expression <= value)


def _weighted(pairs: Sequence[tuple[cp_model.IntVar, int]]) -> Amount:
    kept = [(literal, weight) for literal, weight in pairs if weight]
    return cp_model.LinearExpr.weighted_sum([literal for literal, _ in kept], [weight for _, weight in kept]) if kept else 0


def _accelerators(choice: Choice) -> int:
    return choice.accelerators


class Sized(NamedTuple):
    """The places of the best choices, if there are better ones than what is known; what is proved of what matters first, in its units."""

    places: Numbers | None
    bound: int
    proved: bool
    spent: float


def sized(sizing: Sizing, below: tuple[int, int] | None, excluded: Sequence[Design], limit: float, seed: int) -> Sized:
    """The best choices of a structure whose price is smaller than `below`, and none of `excluded`."""
    counts = Counts(sizing, [numbers for design in excluded if (numbers := _numbers(sizing, design)) is not None])
    by_time = sizing.question.aim == SECONDS
    first, second = (counts.time, counts.accelerators) if by_time else (counts.accelerators, counts.time)
    if below is not None:
        counts.at_most(first, below[0])
    counts.seek(first)
    one = _twice(counts, max(limit, LEAST), seed)
    if one.values is None:
        proved = one.status is Status.INFEASIBLE
        return Sized(None, 0 if proved or one.bound is None else one.bound, proved, one.spent)
    best, spent = one.values, one.spent
    bound, proved = (one.bound if one.bound is not None else 0), False
    if one.status is Status.OPTIMAL:
        counts.at_most(first, one.objective)
        if below is not None and one.objective == below[0]:
            counts.at_most(second, below[1] - 1)
        counts.seek(second)
        two = _twice(counts, max(limit - spent, LEAST), seed)
        spent += two.spent
        if two.status is Status.INFEASIBLE:
            return Sized(None, one.objective, True, spent)
        best = two.values if two.values is not None else best
        bound, proved = one.objective, two.status is Status.OPTIMAL
    chosen = tuple(its[place] for its, place in zip(sizing.choices, best))
    if sizing.ways.beyond(sizing.structure, chosen):  # of what crosses between sets the solver does not know: another may have less
        proved = False
    better = sizing.allows(chosen) and (below is None or sizing.price(chosen) < below)
    return Sized(best if better else None, bound, proved, spent)


def _twice(counts: Counts, limit: float, seed: int) -> Outcome[Numbers]:
    """What the solver says; that there is nothing only if it says so without presolve too (or-tools #5274)."""
    one = run(counts, limit, seed)
    if one.status is not Status.INFEASIBLE:
        return one
    two = run(counts, max(limit - one.spent, LEAST), seed, presolve=False)
    return replace(two, spent=one.spent + two.spent)


def _numbers(sizing: Sizing, design: Design) -> Numbers | None:
    """The places of a design's choices; None if it is none of this structure's."""
    found = []
    for number, members in enumerate(sizing.structure.sets):
        options = tuple(design.options[name] for name in members)
        place = next((place for place, choice in enumerate(sizing.choices[number]) if choice.options == options), None)
        if place is None:
            return None
        found.append(place)
    return tuple(found)
