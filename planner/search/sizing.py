"""Sizing of a structure: choices of each set, the rows that they keep to, and the maxima of its price."""

from __future__ import annotations

from functools import cached_property
from typing import Collection, NamedTuple, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.design import Block, Design
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from .choices import Amount, BlockChoice, BlockChoices, parts_of, tasks_of
from .rows import ChoiceRow, bound_used, rows
from .structures import BlockStructure

Load = tuple[int, int]
"""(set, index of a segment among those of the set)."""
Places = Sequence[int]
"""For each set, the index of its choice."""


class Greatest(NamedTuple):
    """Greatest of several sums of loads, times `weight`."""

    weight: int
    sums: tuple[tuple[Load, ...], ...]


class WeightedRow(NamedTuple):
    """ChoiceRow with the weights of all choices: set -> weight by choice."""

    weights: dict[int, list[int]]
    most: int

    def excess(self, places: Places) -> int:
        """Return the sum of the weights of these choices beyond `most`."""
        return sum(weights[places[number]] for number, weights in self.weights.items()) - self.most

    def least(self, left: Sequence[Sequence[int]]) -> dict[int, int]:
        """Return set -> least weight of the remaining choices."""
        return {number: min(map(weights.__getitem__, left[number])) for number, weights in self.weights.items()}


class Between(NamedTuple):
    """Lower bound of the traffic between two sets, ns: by the place of the choice of the source, then of the target."""

    source: int
    target: int
    rows: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Sizing:
    """Structure with the choices of each set: a multiple-choice knapsack.

    `amounts` : kinds and amounts open to each set; None for all.
    """

    question: PlanningProblem
    model: CostModel
    structure: BlockStructure
    ways: BlockChoices
    amounts: tuple[Collection[Amount], ...] | None = None

    @cached_property
    def choices(self) -> tuple[tuple[BlockChoice, ...], ...]:
        """Choices of each set, fewest accelerators first."""
        amounts: Sequence[Collection[Amount] | None] = self.amounts or (None,) * len(self.structure.sets)
        return tuple(self.ways.choices_of(self.structure, number, some) for number, some in enumerate(amounts))

    @cached_property
    def loads(self) -> list[list[list[int]]]:
        """Loads in ns of the choices of each set, by segment."""
        return [[list(column) for column in zip(*(choice.loads for choice in choices))] for choices in self.choices]

    @cached_property
    def greatest(self) -> tuple[Greatest, ...]:
        """Maxima of all segments, and traffic inside sets."""
        parts = [parts_of(self.structure, tasks_of(self.question, members)) for members in self.structure.sets]
        of = {name: number for number, members in enumerate(self.structure.sets) for name in members}
        maxima = []
        for tasks in self.structure.parts:
            segment = self.structure.segments[tasks[0]]
            for maximum in self.model.maxima(self.question, self.structure.users, tasks):
                sums = [dict.fromkeys(of[self.question.tasks[task].component] for task in tasks_of_sum) for tasks_of_sum in maximum.sums]
                loads = (tuple((number, parts[number].index(segment)) for number in numbers) for numbers in sums)
                maxima.append(Greatest(maximum.weight, tuple(dict.fromkeys(loads))))
        traffic_parts = enumerate(parts) if self.ways.crossing is not None else ()
        return (*maxima, *(Greatest(1, (((number, len(segments)),),)) for number, segments in traffic_parts))

    @cached_property
    def between(self) -> tuple[Between, ...]:
        """Lower bounds of the traffic between sets.

        Choices with equally many domains share a value. After Ctrl-C nothing
        more is computed: bounds get weaker, and no search uses them.
        """
        traffic: list[Between] = []
        crossing = self.ways.crossing
        if crossing is None:
            return ()
        for pair in crossing.pairs(self.structure):
            source_amounts, target_amounts = ([choice.amount for choice in self.choices[number]] for number in (pair.source, pair.target))
            source_range, target_range = crossing.ranges(source_amounts), crossing.ranges(target_amounts)
            by_range = {}
            for source in dict.fromkeys(source_range[amount] for amount in source_amounts):
                if self.ways.session.cancelled:
                    return tuple(traffic)
                targets = dict.fromkeys(target_range[amount] for amount in target_amounts)
                bounds = {target: crossing.bound_between(pair, source, target) for target in targets}
                by_range[source] = [bounds[target_range[amount]] for amount in target_amounts]
            if any(map(any, by_range.values())):
                traffic.append(Between(pair.source, pair.target, tuple(by_range[source_range[amount]] for amount in source_amounts)))
        return tuple(traffic)

    @cached_property
    def rows(self) -> tuple[WeightedRow, ...]:
        """Limits on the choices."""
        return tuple(map(self._weigh, rows(self.question, self.structure, self.ways.limits)))

    @cached_property
    def used(self) -> tuple[WeightedRow, ...]:
        """Lower bounds of the used accelerators."""
        return tuple(map(self._weigh, bound_used(self.question, self.structure)))

    def _weigh(self, row: ChoiceRow) -> WeightedRow:
        return WeightedRow({number: [row.weigh(number, choice) for choice in self.choices[number]] for number in row.sets}, row.most)

    @property
    def most(self) -> int:
        """Maximum number of accelerators."""
        total = self.question.accelerators
        limit = self.question.budget.accelerators
        return total if limit is None else min(total, limit)

    def time(self, places: Places) -> int:
        """Return the ns of an iteration with the least traffic."""
        maxima = sum(
            maximum.weight * max(sum(self.loads[number][part][places[number]] for number, part in keys) for keys in maximum.sums)
            for maximum in self.greatest
        )
        return maxima + self.ways.beyond(self.structure, self.choose(places))

    def price(self, places: Places) -> tuple[int, int]:
        """Return the price by the aim; a lower bound if accelerators are shared."""
        return self.question.by_aim(self.time(places), max(row.excess(places) for row in self.used))

    def fits(self, places: Places) -> bool:
        """Return True if the choices keep to all rows."""
        return all(row.excess(places) <= self.most for row in self.used) and all(row.excess(places) <= 0 for row in self.rows)

    def allows(self, places: Places) -> bool:
        """Return True if the choices fit, within the budget of time."""
        limit = self.question.budget.nanoseconds
        return self.fits(places) and (limit is None or self.time(places) <= limit)

    def choose(self, places: Places) -> tuple[BlockChoice, ...]:
        """Return the choices at these places."""
        return tuple(choices[place] for choices, place in zip(self.choices, places))

    def design(self, places: Places) -> Design:
        """Return the design with these choices."""
        structure, blocks, choices = self.structure, [], self.choose(places)
        for number, choice in enumerate(choices):
            inner = sum(choices[member].accelerators for member, outer in enumerate(structure.inside) if outer == number)
            if choice.accelerators > inner:
                order = sorted(structure.users[number], key=self.question.components.index)
                blocks.append(Block(choice.kind, choice.accelerators - inner, tuple(order)))
        options = {name: option for members, choice in zip(structure.sets, choices) for name, option in zip(members, choice.options)}
        return Design(tuple(blocks), {name: options[name] for name in self.question.components}, structure.segments)
