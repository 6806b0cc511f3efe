"""Sizing of a structure: choices of each block, and the maxima of its price."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.design import Block, Design
from ...models.planning.option import NO_KIND, Option
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from ...solver.session import Session
from .choices import Amount, BlockChoice, BlockChoices, parts_of, tasks_of
from .crossing import LeastCrossing, exactly
from .limits import LimitRow, Tally, rows, tallies
from .structures import OUTSIDE, BlockStructure

Load = tuple[int, int]
"""(set, index of a segment among those of the set)."""
PAIRS = 2_000
"""Maximum number of amount pairs with exact traffic before the choice."""


class Greatest(NamedTuple):
    """Greatest of several sums of loads, times `weight`."""

    weight: int
    sums: tuple[tuple[Load, ...], ...]


@dataclass(frozen=True)
class Sizing:
    """Structure with the choices of each set: a multiple-choice knapsack.

    `amounts` : kinds and amounts open to each set; None for all.
    """

    question: PlanningProblem
    model: CostModel
    structure: BlockStructure
    ways: BlockChoices
    amounts: tuple[tuple[Amount, ...], ...] | None = None

    @cached_property
    def choices(self) -> tuple[tuple[BlockChoice, ...], ...]:
        """Choices of each set."""
        if self.amounts is None:
            return tuple(self.ways.of(self.structure, number) for number in range(len(self.structure.sets)))
        return tuple(tuple(self.ways.at(self.structure, number, amounts)) for number, amounts in enumerate(self.amounts))

    def only(self, amounts: tuple[tuple[Amount, ...], ...] | None = None) -> Sizing:
        """Return the sizing restricted to these amounts; None for all, dominated ones too."""
        every = tuple(self.ways.amounts(self.structure, number) for number in range(len(self.structure.sets)))
        return replace(self, amounts=every if amounts is None else amounts)

    def with_options(self, options: Sequence[Sequence[Option]]) -> tuple[BlockChoice, ...]:
        """Return the choices with these options, whether they fit or not."""
        return tuple(self.ways.with_options(self.structure, number, chosen) for number, chosen in enumerate(options))

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Segments of each set, in the order of its loads."""
        return tuple(parts_of(self.structure, tasks_of(self.question, members)) for members in self.structure.sets)

    @cached_property
    def greatest(self) -> tuple[Greatest, ...]:
        """Maxima of all segments, and traffic inside sets."""
        parts = tuple(maximum for tasks in self.structure.parts for maximum in self.of_part(tasks))
        return (*parts, *(Greatest(1, ((load,),)) for load in sorted(self.crossing)))

    @cached_property
    def between(self) -> tuple[Between, ...]:
        """Lower bounds of the traffic between sets."""
        return between_sets(self.structure, self.choices, self.ways.crossing, self.ways.session)

    @cached_property
    def crossing(self) -> frozenset[Load]:
        """Loads of the traffic inside sets."""
        if self.ways.crossing is None:
            return frozenset()
        return frozenset(
            (number, len(segments))
            for number, segments in enumerate(self.parts)
            if any(choice.loads[-1] for choice in self.choices[number])
        )

    def of_part(self, tasks: Sequence[int]) -> list[Greatest]:
        """Return the maxima of the segment with these tasks."""
        segment, users = self.structure.segments[tasks[0]], self.structure.users
        of = {name: number for number, members in enumerate(self.structure.sets) for name in members}
        maxima = []
        for maximum in self.model.maxima(self.question, users, tasks):
            sums = [dict.fromkeys(of[self.question.tasks[task].component] for task in summed) for summed in maximum.sums]
            loads = (tuple((number, self.parts[number].index(segment)) for number in numbers) for numbers in sums)
            maxima.append(Greatest(maximum.weight, tuple(dict.fromkeys(loads))))
        return maxima

    @property
    def most(self) -> int:
        """Maximum number of accelerators."""
        total = self.question.accelerators
        limit = self.question.budget.accelerators
        return total if limit is None else min(total, limit)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Outermost sets, whose accelerators count."""
        return tuple(number for number, outer in enumerate(self.structure.inside) if outer == OUTSIDE and not self.is_bare(number))

    def is_bare(self, number: int) -> bool:
        """Return True for a component without accelerators."""
        return all(option.kind == NO_KIND for name in self.structure.sets[number] for option in self.question.options[name])

    @cached_property
    def inner(self) -> tuple[tuple[int, ...], ...]:
        """Sets directly inside each set."""
        inside = self.structure.inside
        return tuple(tuple(member for member, outer in enumerate(inside) if outer == number) for number in range(len(inside)))

    @cached_property
    def rows(self) -> tuple[LimitRow, ...]:
        """Linear limits from placement."""
        return rows(self.question, self.structure)

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """Lower bounds of used accelerators beside shared given ranks."""
        return tallies(self.question, self.structure)

    def left_over(self, number: int) -> int:
        """Return the least accelerators of a set outside its inner sets."""
        return 1 if len(self.inner[number]) == 1 else 0

    def time(self, chosen: Sequence[BlockChoice]) -> int:
        """Return the ns of an iteration with the least traffic."""
        maxima = sum(
            maximum.weight * max(sum(chosen[number].loads[part] for number, part in summed) for summed in maximum.sums)
            for maximum in self.greatest
        )
        return maxima + self.ways.beyond(self.structure, chosen)

    def accelerators(self, chosen: Sequence[BlockChoice]) -> int:
        """Return the used accelerators, a lower bound if some are shared."""
        used = sum(chosen[number].accelerators for number in self.roots)
        return max(
            [used, *(tally.base + sum(tally.weigh(number, chosen[number].options) for number in tally.sets) for tally in self.tallies)]
        )

    def fewest(self, least: Sequence[int], left: Sequence[Sequence[BlockChoice]]) -> int:
        """Return a lower bound of the accelerators with the remaining choices."""
        used = sum(least[number] for number in self.roots)
        beside = (
            tally.base + sum(min(tally.weigh(number, choice.options) for choice in left[number]) for number in tally.sets)
            for tally in self.tallies
        )
        return max([used, *beside])

    def price(self, chosen: Sequence[BlockChoice]) -> tuple[int, int]:
        """Return the price in the order of the aim."""
        return self.question.by_aim(self.time(chosen), self.accelerators(chosen))

    def allows(self, chosen: Sequence[BlockChoice]) -> bool:
        """Return True if the choices fit, within the budget of time."""
        limit = self.question.budget.nanoseconds
        return self.fits(chosen) and (limit is None or self.time(chosen) <= limit)

    def fits(self, chosen: Sequence[BlockChoice]) -> bool:
        """Return True if accelerators of each kind, outer sets and memory suffice."""
        if self.accelerators(chosen) > self.most:
            return False
        for kind, node_kind in enumerate(self.question.kinds):
            if sum(chosen[number].accelerators for number in self.roots if chosen[number].kind == kind) > node_kind.accelerators:
                return False
        if any(sum(row.weigh(number, chosen[number].options) for number in row.sets) > row.most for row in self.rows):
            return False
        return all(self._holds(chosen, number) for number in range(len(chosen)) if chosen[number].kind != NO_KIND) and all(
            self._surrounds(chosen, number) for number, members in enumerate(self.inner) if members
        )

    def _surrounds(self, chosen: Sequence[BlockChoice], number: int) -> bool:
        """Return True if the inner sets fit on the accelerators of a set."""
        inner, outer = [chosen[member] for member in self.inner[number]], chosen[number]
        used = sum(choice.accelerators for choice in inner) + self.left_over(number)
        return used <= outer.accelerators and all(choice.kind == outer.kind for choice in inner)

    def _holds(self, chosen: Sequence[BlockChoice], number: int) -> bool:
        """Return True if memory suffices for a set and those around it in every turn."""
        limit = self.question.kinds[chosen[number].kind].memory
        if limit is None:
            return True
        around = self.structure.around[number]
        return all(sum(needs) <= limit for needs in zip(*(chosen[member].needs for member in around)))

    def design(self, chosen: Sequence[BlockChoice]) -> Design:
        """Return the design with these choices."""
        structure, blocks = self.structure, []
        for number, choice in enumerate(chosen):
            inner = sum(chosen[member].accelerators for member in self.inner[number])
            if choice.accelerators > inner:
                order = sorted(structure.users[number], key=self.question.components.index)
                blocks.append(Block(choice.kind, choice.accelerators - inner, tuple(order)))
        options = {name: option for members, choice in zip(structure.sets, chosen) for name, option in zip(members, choice.options)}
        return Design(tuple(blocks), {name: options[name] for name in self.question.components}, structure.segments)


class Between(NamedTuple):
    """Lower bound of the traffic between two sets, ns: by the place of the choice of the source, then of the target."""

    source: int
    target: int
    rows: Sequence[Sequence[int]]


def between_sets(
    structure: BlockStructure, choices: Sequence[Sequence[BlockChoice]], crossing: LeastCrossing | None, session: Session
) -> tuple[Between, ...]:
    """Return the traffic between sets by their choices.

    With very many choices, those with equally many domains share a value. After Ctrl-C nothing more
    is computed: bounds get weaker, and no search uses them.
    """
    if crossing is None:
        return ()
    traffic: list[Between] = []
    for pair in crossing.pairs(structure):
        source_amounts, target_amounts = ([choice.amount for choice in choices[number]] for number in (pair.source, pair.target))
        few = len(set(source_amounts)) * len(set(target_amounts)) <= PAIRS
        range_of = {amount: exactly(amount) for amount in (*source_amounts, *target_amounts)}
        source_range, target_range = (range_of, range_of) if few else (crossing.ranges(source_amounts), crossing.ranges(target_amounts))
        rows = {}
        for source in dict.fromkeys(source_range[amount] for amount in source_amounts):
            if session.cancelled:
                return tuple(traffic)
            beside = {
                target: crossing.between(pair, source, target)
                for target in dict.fromkeys(target_range[amount] for amount in target_amounts)
            }
            rows[source] = [beside[target_range[amount]] for amount in target_amounts]
        if any(map(any, rows.values())):
            traffic.append(Between(pair.source, pair.target, tuple(rows[source_range[amount]] for amount in source_amounts)))
    return tuple(traffic)
