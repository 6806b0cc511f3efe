"""Sizing of one structure: open choices of each block and the maxima that make its price."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.design import Block, Design
from ...models.planning.option import NO_KIND, Option
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from ...solver.session import Session
from .choices import Amount, BlockChoice, BlockChoices, parts_of, tasks_of
from .crossing import LeastCrossing, exactly
from .limits import LimitRow, Tally, rows, tallies
from .structures import OUTSIDE, BlockStructure

Load = tuple[int, int]
"""A set, and the place of a part of the iteration among those in which it works."""


PAIRS = 2_000
"""Amounts of one set with one of another of which it is told exactly what crosses between them, before they are chosen."""


class Greatest(NamedTuple):
    """`weight` times the greatest of several sums of loads."""

    weight: int
    sums: tuple[tuple[Load, ...], ...]


@dataclass(frozen=True)
class Sizing:
    """A structure with the ways to run each of its sets: one of each is to be chosen.

    Attributes
    ----------
    amounts : for each set, the kinds and amounts that are looked at; None: all of them.
    """

    question: PlanningProblem
    model: CostModel
    structure: BlockStructure
    ways: BlockChoices
    amounts: tuple[tuple[Amount, ...], ...] | None = None

    @cached_property
    def choices(self) -> tuple[tuple[BlockChoice, ...], ...]:
        """For each set, the ways to run it."""
        if self.amounts is None:
            return tuple(self.ways.of(self.structure, number) for number in range(len(self.structure.sets)))
        return tuple(tuple(self.ways.at(self.structure, number, its)) for number, its in enumerate(self.amounts))

    def only(self, amounts: tuple[tuple[Amount, ...], ...] | None = None) -> Sizing:
        """The same with these kinds and amounts of each set alone; None: with each that can be, one that is no better than another too."""
        every = tuple(self.ways.amounts(self.structure, number) for number in range(len(self.structure.sets)))
        return replace(self, amounts=every if amounts is None else amounts)

    def with_options(self, options: Sequence[Sequence[Option]]) -> tuple[BlockChoice, ...]:
        """The choices with these options of each set's components, of one kind and amount; whether they fit is not asked."""
        return tuple(self.ways.with_options(self.structure, number, its) for number, its in enumerate(options))

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """For each set, the parts of the iteration in which it works, in the order of the loads of its choices."""
        return tuple(parts_of(self.structure, tasks_of(self.question, its)) for its in self.structure.sets)

    @cached_property
    def greatest(self) -> tuple[Greatest, ...]:
        """What is to be summed up, over all parts of the iteration, and what crosses inside each set."""
        parts = tuple(each for tasks in self.structure.parts for each in self.of_part(tasks))
        return (*parts, *(Greatest(1, ((load,),)) for load in sorted(self.crossing)))

    @cached_property
    def between(self) -> tuple[Between, ...]:
        """What crosses between sets by their choices at least."""
        return between_sets(self.structure, self.choices, self.ways.crossing, self.ways.session)

    @cached_property
    def crossing(self) -> frozenset[Load]:
        """What crosses inside each set of which something may, as loads."""
        if self.ways.crossing is None:
            return frozenset()
        return frozenset(
            (number, len(its)) for number, its in enumerate(self.parts) if any(choice.loads[-1] for choice in self.choices[number])
        )

    def of_part(self, tasks: Sequence[int]) -> list[Greatest]:
        """What is to be summed up of the part of the iteration in which these tasks run."""
        segment, users = self.structure.segments[tasks[0]], self.structure.users
        of = {name: number for number, its in enumerate(self.structure.sets) for name in its}
        found = []
        for maximum in self.model.maxima(self.question, users, tasks):
            sums = [dict.fromkeys(of[self.question.tasks[task].component] for task in its) for its in maximum.sums]
            loads = (tuple((number, self.parts[number].index(segment)) for number in its) for its in sums)
            found.append(Greatest(maximum.weight, tuple(dict.fromkeys(loads))))
        return found

    @property
    def most(self) -> int:
        """How many accelerators may be used."""
        total = self.question.accelerators
        limit = self.question.budget.accelerators
        return total if limit is None else min(total, limit)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The sets whose accelerators are counted: what lies inside others is counted there."""
        return tuple(number for number, outer in enumerate(self.structure.inside) if outer == OUTSIDE and not self.is_bare(number))

    def is_bare(self, number: int) -> bool:
        """Is it a component that needs no accelerators?"""
        return all(option.kind == NO_KIND for name in self.structure.sets[number] for option in self.question.options[name])

    @cached_property
    def inner(self) -> tuple[tuple[int, ...], ...]:
        """For each set, the sets that lie directly inside it."""
        inside = self.structure.inside
        return tuple(tuple(each for each, outer in enumerate(inside) if outer == number) for number in range(len(inside)))

    @cached_property
    def rows(self) -> tuple[LimitRow, ...]:
        """What placing leaves of it, as sums over its sets."""
        return rows(self.question, self.structure)

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """What is used at least where given components share their accelerators."""
        return tallies(self.question, self.structure)

    def left_over(self, number: int) -> int:
        """How many accelerators of a set are at least in none of the sets inside it: all of them in one would make both the same set."""
        return 1 if len(self.inner[number]) == 1 else 0

    def time(self, chosen: Sequence[BlockChoice]) -> int:
        """Nanoseconds of an iteration, with the least that crosses."""
        maxima = sum(
            each.weight * max(sum(chosen[number].loads[part] for number, part in its) for its in each.sums) for each in self.greatest
        )
        return maxima + self.ways.beyond(self.structure, chosen)

    def accelerators(self, chosen: Sequence[BlockChoice]) -> int:
        """How many accelerators are used, at least where some of them are shared."""
        used = sum(chosen[number].accelerators for number in self.roots)
        return max([used, *(each.base + sum(each.weigh(number, chosen[number].options) for number in each.sets) for each in self.tallies)])

    def fewest(self, least: Sequence[int], left: Sequence[Sequence[BlockChoice]]) -> int:
        """How many are used at least with any choices of these that are left; `least` of each set."""
        used = sum(least[number] for number in self.roots)
        beside = (
            each.base + sum(min(each.weigh(number, choice.options) for choice in left[number]) for number in each.sets)
            for each in self.tallies
        )
        return max([used, *beside])

    def price(self, chosen: Sequence[BlockChoice]) -> tuple[int, int]:
        """What is as small as possible, and what comes second."""
        time, used = self.time(chosen), self.accelerators(chosen)
        return (time, used) if self.question.aim == SECONDS else (used, time)

    def allows(self, chosen: Sequence[BlockChoice]) -> bool:
        """Do the choices fit, within the time that may be spent?"""
        limit = self.question.budget.nanoseconds
        return self.fits(chosen) and (limit is None or self.time(chosen) <= limit)

    def fits(self, chosen: Sequence[BlockChoice]) -> bool:
        """Is all that the choices use there: accelerators of each kind, those of the set around, and memory?"""
        if self.accelerators(chosen) > self.most:
            return False
        for kind, its in enumerate(self.question.kinds):
            if sum(chosen[number].accelerators for number in self.roots if chosen[number].kind == kind) > its.accelerators:
                return False
        if any(sum(row.weigh(number, chosen[number].options) for number in row.sets) > row.most for row in self.rows):
            return False
        return all(self._holds(chosen, number) for number in range(len(chosen)) if chosen[number].kind != NO_KIND) and all(
            self._surrounds(chosen, number) for number, its in enumerate(self.inner) if its
        )

    def _surrounds(self, chosen: Sequence[BlockChoice], number: int) -> bool:
        """Do the sets directly inside a set lie on accelerators of it?"""
        inner, outer = [chosen[each] for each in self.inner[number]], chosen[number]
        used = sum(each.accelerators for each in inner) + self.left_over(number)
        return used <= outer.accelerators and all(each.kind == outer.kind for each in inner)

    def _holds(self, chosen: Sequence[BlockChoice], number: int) -> bool:
        """Is there memory for a set and those around it, in every turn?"""
        limit = self.question.kinds[chosen[number].kind].memory
        if limit is None:
            return True
        around = self.structure.around[number]
        return all(sum(needs) <= limit for needs in zip(*(chosen[each].needs for each in around)))

    def design(self, chosen: Sequence[BlockChoice]) -> Design:
        """The answer with these choices."""
        structure, blocks = self.structure, []
        for number, choice in enumerate(chosen):
            inner = sum(chosen[each].accelerators for each in self.inner[number])
            if choice.accelerators > inner:
                order = sorted(structure.users[number], key=self.question.components.index)
                blocks.append(Block(choice.kind, choice.accelerators - inner, tuple(order)))
        options = {name: option for its, choice in zip(structure.sets, chosen) for name, option in zip(its, choice.options)}
        return Design(tuple(blocks), {name: options[name] for name in self.question.components}, structure.segments)


class Between(NamedTuple):
    """Lower bound of the traffic between two sets, ns: by the place of the choice of the source, then of the target."""

    source: int
    target: int
    rows: Sequence[Sequence[int]]


def between_sets(
    structure: BlockStructure, choices: Sequence[Sequence[BlockChoice]], crossing: LeastCrossing | None, session: Session
) -> tuple[Between, ...]:
    """What crosses by the choices of each set; of very many, all that need as few domains are looked at together.

    After Ctrl-C nothing further is counted: what is left out makes what is proved smaller, and nothing is searched with it any more.
    """
    if crossing is None:
        return ()
    found: list[Between] = []
    for pair in crossing.pairs(structure):
        ones, others = ([choice.amount for choice in choices[number]] for number in (pair.source, pair.target))
        few = len(set(ones)) * len(set(others)) <= PAIRS
        range_of = {each: exactly(each) for each in (*ones, *others)}
        one, other = (range_of, range_of) if few else (crossing.ranges(ones), crossing.ranges(others))
        rows = {}
        for its in dict.fromkeys(one[each] for each in ones):
            if session.cancelled:
                return tuple(found)
            beside = {each: crossing.between(pair, its, each) for each in dict.fromkeys(other[each] for each in others)}
            rows[its] = [beside[other[each]] for each in others]
        if any(map(any, rows.values())):
            found.append(Between(pair.source, pair.target, tuple(rows[one[each]] for each in ones)))
    return tuple(found)
