"""One structure said to CP-SAT: a choice for each set, what fits, and the maxima that make the time of an iteration."""

from __future__ import annotations

from typing import Callable, Sequence

from ortools.sat.python import cp_model

from ...model.amount import Amount, total
from .choices import Choice
from .sizing import Sizing

Numbers = tuple[int, ...]
"""For each set, the place of its choice."""


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
        self.time, self.accelerators = self._time(), self._sum(sizing.roots, lambda choice: choice.accelerators)
        self.model.add(self.accelerators <= sizing.most)
        if sizing.question.budget.nanoseconds is not None:
            self.model.add(self.time <= sizing.question.budget.nanoseconds)
        for numbers in excluded:
            self.model.add_bool_or([self.chosen[number][place].negated() for number, place in enumerate(numbers)])

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Numbers:
        """The places that were chosen."""
        return tuple(next(place for place, literal in enumerate(literals) if value(literal)) for literals in self.chosen)

    def _sum(self, sets: Sequence[int], amount: Callable[[Choice], int]) -> Amount:
        pairs = [(literal, amount(choice)) for number in sets for literal, choice in zip(self.chosen[number], self.sizing.choices[number])]
        kept = [(literal, weight) for literal, weight in pairs if weight]
        return cp_model.LinearExpr.weighted_sum([literal for literal, _ in kept], [weight for _, weight in kept]) if kept else 0

    def _fit(self) -> None:
        """What the sets use is there: of each kind, and inside the set around them."""
        structure = self.sizing.structure
        for kind, its in enumerate(self.sizing.question.kinds):

            def of_kind(choice: Choice, kind: int = kind) -> int:
                return choice.accelerators if choice.kind == kind else 0

            self.model.add(self._sum(self.sizing.roots, of_kind) <= its.accelerators)
            for number in range(len(structure.sets)):
                if inner := self.sizing.inner(number):
                    self.model.add(self._sum(inner, of_kind) <= self._sum((number,), of_kind))

    def _hold(self) -> None:
        """Sets inside others need their memory together with these; what a set needs alone was looked at before."""
        structure, question = self.sizing.structure, self.sizing.question
        for number, around in enumerate(structure.around):
            if len(around) == 1:
                continue
            always = self._memory(around, lambda name: name in question.resident, kept=True)
            limit = self._limit(number)
            self.model.add(always <= limit)
            for segment in sorted(set(structure.segments)):
                working = {
                    question.tasks[task].component for task, its in enumerate(structure.segments) if its == segment
                } - question.resident
                if working & set(structure.users[number]):
                    self.model.add(always + self._memory(around, working.__contains__, kept=False) <= limit)

    def _memory(self, sets: Sequence[int], whose: Callable[[str], bool], kept: bool) -> Amount:
        """MiB of the sets: of those that match all of it, of the others what they keep; or only what the former add to that."""

        def of(number: int, choice: Choice) -> int:
            total = 0
            for name, option in zip(self.sizing.structure.sets[number], choice.options):
                if kept:
                    total += option.memory if whose(name) else option.kept
                elif whose(name):
                    total += option.memory - option.kept
            return total

        parts = [self._sum((number,), lambda choice, number=number: of(number, choice)) for number in sets]  # type: ignore[misc]
        return total(parts)

    def _limit(self, number: int) -> Amount:
        unlimited = 1 << 40
        kinds = self.sizing.question.kinds
        return self._sum((number,), lambda choice: memory if (memory := kinds[choice.kind].memory) is not None else unlimited)

    def _time(self) -> Amount:
        found: list[tuple[cp_model.IntVar, int]] = []
        for index, each in enumerate(self.sizing.maxima):
            sums = [total(self._of(task) for task in its) for its in each.sums]
            most = max(sum(self._longest(task) for task in its) for its in each.sums)
            value = self.model.new_int_var(0, most, f"maximum {index}")
            for expression in sums:
                self.model.add(value >= expression)
            found.append((value, each.weight))
        return cp_model.LinearExpr.weighted_sum([value for value, _ in found], [weight for _, weight in found]) if found else 0

    def _of(self, task: int) -> Amount:
        number, place = self.sizing.place[task]
        return self._sum((number,), lambda choice: choice.times[place])

    def _longest(self, task: int) -> int:
        number, place = self.sizing.place[task]
        return max(choice.times[place] for choice in self.sizing.choices[number])

    def minimise(self, expression: Amount) -> None:
        """Sets what is as small as possible."""
        self.model.minimize(expression)

    def at_most(self, expression: Amount, value: int) -> None:
        """Requires that it is no more."""
        self.model.add(expression <= value)
