"""Sizing of a structure: choices of each set, the rows that they keep to, and the maxima of its price.

Everything that a choice of each set must keep to is a row: accelerators of a kind, nested sets,
their memory, areas, and the limits between components.
"""

from __future__ import annotations

from functools import cached_property, partial
from math import lcm
from typing import Callable, Collection, Iterator, NamedTuple, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.design import Block, Design
from ...models.planning.option import Area, SharedBlock
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from .choices import BlockChoice, BlockChoices, Limit, parts_of, tasks_of
from .crossing import Amount
from .found import ENDLESS
from .structures import OUTSIDE, BlockStructure

Load = tuple[int, int]
"""(set, index of a segment among those of the set)."""
Places = Sequence[int]
"""For each set, the index of its choice."""


class Greatest(NamedTuple):
    """Greatest of several sums of loads, times `weight`."""

    weight: int
    sums: tuple[tuple[Load, ...], ...]


class ChoiceRow(NamedTuple):
    """Weights of the choices of some sets sum to at most `most`: set -> weight by choice."""

    weights: dict[int, list[int]]
    most: int

    def excess(self, places: Places) -> int:
        """Return the sum of the weights of these choices beyond `most`."""
        return sum(weights[places[number]] for number, weights in self.weights.items()) - self.most

    def least(self, left: Sequence[Sequence[int]]) -> dict[int, int]:
        """Return set -> least weight of the remaining choices."""
        return {number: min(map(weights.__getitem__, left[number])) for number, weights in self.weights.items()}


Weigh = Callable[[int, BlockChoice], int]
"""Weight of a choice of a set."""


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
    def rows(self) -> tuple[ChoiceRow, ...]:
        """Limits on the choices. A lower limit is a row of negative weights."""
        return tuple(self._list_rows())

    @cached_property
    def used(self) -> tuple[ChoiceRow, ...]:
        """Lower bounds of the used accelerators: the largest sum of weights less `most` counts.

        Shared accelerators of given ranks, held in any case, and the outermost sets that cannot use
        them, with all inside these.
        """
        bounds = []
        for entries in self.question.together_shared:
            excluded = {kind: _find_excluded(self.structure, kind, entries) for kind in range(len(self.question.kinds))}
            sets = sorted(frozenset[int]().union(*excluded.values()))
            bounds.append(self._row(sets, -sum(entry.accelerators for entry in entries), _count_weights(excluded)))
        return tuple(bounds)

    def _row(self, sets: Sequence[int], most: int, weigh: Weigh) -> ChoiceRow:
        return ChoiceRow({number: [weigh(number, choice) for choice in self.choices[number]] for number in sets}, most)

    def _list_rows(self) -> Iterator[ChoiceRow]:
        question, structure = self.question, self.structure
        roots = tuple(number for number, outer in enumerate(structure.inside) if outer == OUTSIDE)
        for kind, node_kind in enumerate(question.kinds if len(question.kinds) > 1 else ()):
            yield self._row(roots, node_kind.accelerators, _count_weights({kind: frozenset(roots)}))
        for number in range(len(structure.sets)):
            yield from self._list_nested_rows(number)
        for area in question.areas:
            sets = tuple(number for number in roots if not area.components.isdisjoint(structure.sets[number]))
            yield from (self._row(sets, most, partial(_weigh_area, area, size)) for size, most in area.rooms.items() if sets)
        of = {name: number for number, members in enumerate(structure.sets) for name in members}
        for limit in self.ways.limits.every:
            if limit.holds_in(structure):
                yield self._row(sorted({of[name] for name in limit.weigh}), limit.most, partial(_weigh_limit, structure, limit))

    def _list_nested_rows(self, number: int) -> Iterator[ChoiceRow]:
        """Yield the rows of a set around others, or within others."""
        kinds, chain = self.question.kinds, self.structure.around[number]
        inner = tuple(member for member, outer in enumerate(self.structure.inside) if outer == number)
        if inner:
            yield self._row(
                (number, *inner), -count_left_over(inner), lambda at, choice: -choice.accelerators if at == number else choice.accelerators
            )
        for member in inner if len(kinds) > 1 else ():
            yield from (self._row((number, member), 1, partial(_unlike, number, kind)) for kind in range(len(kinds)))
        if len(chain) > 1:
            sizes = [ENDLESS if kind.memory is None else kind.memory for kind in kinds]
            yield from (self._row(chain, 0, _memory(number, sizes, turn)) for turn in range(len(self.question.all_turns) + 1))

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
        amounts = [choice.amount for choice in self.choose(places)]
        return maxima + (self.ways.crossing.beyond(self.structure, amounts) if self.ways.crossing is not None else 0)

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


def count_left_over(inner: Sequence[int]) -> int:
    """Return the least accelerators of a set outside its inner sets."""
    return int(len(inner) == 1)


def _count_weights(excluded: dict[int, frozenset[int]]) -> Weigh:
    """Return the accelerators of choices on a kind by the sets that count there."""
    return lambda number, choice: choice.accelerators if number in excluded.get(choice.kind, ()) else 0


def _unlike(outer: int, kind: int, number: int, choice: BlockChoice) -> int:
    """Return 1 for an inner set on a kind, or an outer set on another."""
    return int((choice.kind == kind) != (number == outer))


def _memory(inner: int, sizes: Sequence[int], turn: int) -> Weigh:
    """Return MiB of a choice in a turn, less the capacity for inner sets."""
    return lambda number, choice: choice.needs[turn] - (sizes[choice.kind] if number == inner else 0)


def _weigh_area(area: Area, size: int, number: int, choice: BlockChoice) -> int:
    whole = choice.kind == area.kind and lcm(*(option.group for option in choice.options)) % size == 0
    return choice.accelerators if whole else 0


def _weigh_limit(structure: BlockStructure, limit: Limit, number: int, choice: BlockChoice) -> int:
    return sum(limit.weigh[name](option) for name, option in zip(structure.sets[number], choice.options) if name in limit.weigh)


def _find_excluded(structure: BlockStructure, kind: int, entries: Sequence[SharedBlock]) -> frozenset[int]:
    """Return outermost sets that cannot use these accelerators, with all inside them."""
    numbers = {number for number, users in enumerate(structure.users) if not any(entry.lets(kind, users) for entry in entries)}
    return frozenset(number for number in numbers if structure.inside[number] == OUTSIDE or structure.inside[number] not in numbers)
