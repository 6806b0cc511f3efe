"""One structure: what is still open of it, and what its maxima are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Mapping, Sequence

from ....models.planning.design import Block, Design
from ....models.planning.question import NO_KIND, Question
from ..costs.cost_model import CostModel, Maximum
from ..structures.structure import Structure
from .choices import Choice, choices, roots, tasks_of


@dataclass(frozen=True)
class Sizing:
    """A structure with the ways to run each of its sets: one of each is to be chosen."""

    question: Question
    model: CostModel
    structure: Structure

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """For each set, the ways to run it."""
        return tuple(choices(self.question, self.model, self.structure, number) for number in range(len(self.structure.sets)))

    @cached_property
    def maxima(self) -> tuple[Maximum, ...]:
        """What is to be summed up, over all parts of the iteration."""
        segments: dict[int, list[int]] = {}
        for task, segment in enumerate(self.structure.segments):
            segments.setdefault(segment, []).append(task)
        users = self.structure.users
        return tuple(each for its in segments.values() for each in self.model.maxima(self.question, users, its))

    @cached_property
    def place(self) -> Mapping[int, tuple[int, int]]:
        """Task -> (its set, its place in the times of the set's choices)."""
        return {
            task: (number, place)
            for number, its in enumerate(self.structure.sets)
            for place, task in enumerate(tasks_of(self.question, its))
        }

    @property
    def most(self) -> int:
        """How many accelerators may be used."""
        total = sum(kind.accelerators for kind in self.question.kinds)
        limit = self.question.budget.accelerators
        return total if limit is None else min(total, limit)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The sets whose accelerators are counted: what lies inside others is counted there."""
        return tuple(number for number in roots(self.structure) if not self.is_bare(number))

    def is_bare(self, number: int) -> bool:
        """Is it a component that needs no accelerators?"""
        return all(choice.kind == NO_KIND for choice in self.choices[number])

    def time(self, chosen: Sequence[Choice]) -> int:
        """Nanoseconds of an iteration."""
        return sum(each.weight * max(sum(self._time(chosen, task) for task in its) for its in each.sums) for each in self.maxima)

    def _time(self, chosen: Sequence[Choice], task: int) -> int:
        number, place = self.place[task]
        return chosen[number].times[place]

    def design(self, chosen: Sequence[Choice]) -> Design:
        """The answer with these choices."""
        structure, blocks = self.structure, []
        for number, choice in enumerate(chosen):
            inner = sum(chosen[each].accelerators for each, outer in enumerate(structure.inside) if outer == number)
            if choice.accelerators > inner:
                order = sorted(structure.users[number], key=self.question.components.index)
                blocks.append(Block(choice.kind, choice.accelerators - inner, tuple(order)))
        options = {name: option for its, choice in zip(structure.sets, chosen) for name, option in zip(its, choice.options)}
        return Design(tuple(blocks), {name: options[name] for name in self.question.components}, structure.segments)

    def inner(self, number: int) -> tuple[int, ...]:
        """The sets that lie directly inside a set."""
        return tuple(each for each, outer in enumerate(self.structure.inside) if outer == number)
