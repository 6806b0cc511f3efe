"""Multipliers of a cut: what an accelerator is worth in each of its parts, and how much each sum counts of those of which one is the longest."""

from __future__ import annotations

from functools import cached_property
from operator import add
from typing import NamedTuple, Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..price import ENDLESS
from ..relaxed.busy import Busy
from ..structures.at_once import Tasks, numbers
from .remembered import Weights

SCALE = 1 << 20
"""Multipliers are whole numbers of so small parts, so that what they prove is exact."""
NEAR = 1.08
"""Of numbers of accelerators that are no further from each other than by this factor, one is enough to look for multipliers."""
IMPOSSIBLE = ENDLESS * SCALE
"""More than anything costs."""
SHORTER = 0.6
"""How much shorter a step is after one that led to no higher bound."""
BEYOND = 25
"""Steps are as long as if a so-manieth more were to be reached: the nearer they come, the shorter they would be."""
PACE = 5
"""Steps by which it is seen how fast a bound rises."""
LEAST = 0.02
"""How much a sum that counts for nothing is moved by a step: as much as one that counts for so much of all."""


class Group(NamedTuple):
    """Tasks on the same accelerators, and the parts in which these are counted, by their places in the cut: both a bit each.

    Very many are looked up: two numbers are hashed and joined quicker than tuples of them.
    """

    tasks: Tasks
    parts: int


class Sum(NamedTuple):
    """A sum of times of tasks, of which the longest of a maximum counts `weight` times; the maximum by its part and its number there."""

    maximum: tuple[Tasks, int]
    weight: int
    tasks: tuple[int, ...]


class Times:
    """How long each task takes at least on each number of accelerators, in ns of a batch where batches are handed on.

    Attributes
    ----------
    accelerators : of each kind and amount that any component can be run with, the fewest first.
    of : of each task its times; `ENDLESS` where its component cannot be run so. One that needs no accelerators takes as long on any number.
    most : how many accelerators there are.
    """

    def __init__(self, question: Question, model: CostModel, accelerators: Sequence[int], of: Sequence[Sequence[int]], most: int) -> None:
        self.question, self.model, self.accelerators, self.of, self.most = question, model, accelerators, of, most

    @staticmethod
    def asked(question: Question, model: CostModel) -> Times:
        """Those of a question."""
        divisor, busy = model.divisor(question), Busy(question)
        found: list[list[int]] = []
        for task, its in enumerate(question.tasks):
            place, best = question.tasks_of[its.component].index(task), dict[tuple[int, int], int]()
            for option in question.options[its.component]:
                key = (option.kind, option.amount if option.kind != NO_KIND else 0)
                best[key] = min(best.get(key, ENDLESS), option.nanoseconds[place] // divisor)
            found.append([best.get(amount, best.get((NO_KIND, 0), ENDLESS)) for amount in busy.amounts])
        return Times(question, model, [amount for _, amount in busy.amounts], found, busy.most)

    @cached_property
    def thinned(self) -> Times:
        """With fewer numbers of accelerators, where there are many: good enough to look for multipliers."""
        kept: list[int] = []
        for place, each in enumerate(self.accelerators):
            if not kept or each >= NEAR * self.accelerators[kept[-1]] or each == self.accelerators[kept[-1]]:
                kept.append(place)
        if any(min(its) < ENDLESS <= min(its[place] for place in kept) for its in self.of):
            return self
        return Times(
            self.question,
            self.model,
            [self.accelerators[place] for place in kept],
            [[its[place] for place in kept] for its in self.of],
            self.most,
        )

    def counts(self, task: int) -> bool:
        """Does its component take accelerators?"""
        options = self.question.options[self.question.tasks[task].component]
        return not options or options[0].kind != NO_KIND

    def sums(self, tasks: Tasks) -> Sequence[Sum]:
        """What a part of the iteration with these tasks is long: the longest of the sums of each maximum."""
        blocks = [(name,) for name in self.question.components]
        maxima = self.model.maxima(self.question, blocks, numbers(tasks))
        return [Sum((tasks, number), each.weight, its) for number, each in enumerate(maxima) for its in each.sums]


class Multipliers:
    """Any multipliers give a bound; the better they are, the higher it is.

    Attributes
    ----------
    shares : of each sum of the cut; those of a maximum come to one together.
    prices : ns that an accelerator costs in each part.
    """

    def __init__(self, times: Times, sums: Sequence[Sum], shares: Sequence[float], prices: Sequence[float]) -> None:
        self._times, self._sums = times, sums
        self.shares, self.prices = list(shares), list(prices)
        self._exact_prices = [int(price * SCALE) for price in prices]
        self._rows: dict[int, list[int]] = {}
        self._known: dict[Group, tuple[int, int]] = {}

    @property
    def weights(self) -> Weights:
        """These, for any other times."""
        return Weights(self.shares, self.prices)

    @cached_property
    def _worths(self) -> Sequence[int]:
        """What a ns of each task counts for, in parts of `SCALE`."""
        exact = [int(share * SCALE) for share in self.shares]
        left: dict[tuple[Tasks, int], int] = {}
        for share, its in zip(exact, self._sums):
            left[its.maximum] = left.get(its.maximum, SCALE) - share
        worths = [0] * len(self._times.of)
        for place, its in enumerate(self._sums):
            share = exact[place] + left.pop(its.maximum, 0)  # so that they come to one
            for task in its.tasks:
                worths[task] += its.weight * share
        return worths

    def bound(self, groups: Sequence[Group]) -> int:
        """ns that nothing takes less of in which these are on the same accelerators; `ENDLESS` where some cannot be."""
        return self.in_ns(sum(self._best(group)[0] for group in groups))

    def raised(self, groups: Sequence[Group], target: int, steps: int) -> tuple[Multipliers, int]:
        """Better ones for these groups, and in how many steps: in so many, or until the bound is about `target`.

        It ends too where the bound would not be so high after all of them, at the pace of the last ones.
        """
        best = Multipliers(self._times.thinned, self._sums, self.shares, self.prices)
        value, length = best.bound(groups), 1.0
        values = [value]
        for left in range(steps, 0, -1):
            if value >= target or (len(values) > PACE and (value - values[-PACE - 1]) * left < (target - value) * PACE):
                break
            other = best._moved(groups, target - value + target // BEYOND, length)
            if (reached := other.bound(groups)) > value:
                best, value = other, reached
            else:
                length *= SHORTER
            values.append(value)
        return Multipliers(self._times, self._sums, best.shares, best.prices), len(values)

    def _moved(self, groups: Sequence[Group], missing: int, length: float) -> Multipliers:
        """A step in the direction in which the bound rises: dearer where too many accelerators are taken, more for what takes longer."""
        used, takes = [0] * len(self.prices), [0] * len(self._times.of)
        for group in groups:
            place = self._best(group)[1]
            for part in numbers(group.parts):
                used[part] += self._times.accelerators[place]
            for task in numbers(group.tasks):
                takes[task] = self._times.of[task][place]
        rises = [float(each.weight * sum(takes[task] for task in each.tasks)) for each in self._sums]
        mean: dict[tuple[Tasks, int], float] = {}
        for rise, share, each in zip(rises, self.shares, self._sums):
            mean[each.maximum] = mean.get(each.maximum, 0.0) + rise * share
        rises = [rise - mean[each.maximum] for rise, each in zip(rises, self._sums)]
        moves = [max(share, LEAST) for share in self.shares]
        over = [float(each - self._times.most) for each in used]
        least = (sum(self.prices) or 1.0) / 1000
        widths = [max(price, least) ** 2 for price in self.prices]
        norm = sum(r * r * m for r, m in zip(rises, moves)) + sum(o * o * w for o, w in zip(over, widths))
        if not norm:
            return self
        step = length * missing / norm
        shares = [max(0.0, share + step * rise * move) for share, rise, move in zip(self.shares, rises, moves)]
        total: dict[tuple[Tasks, int], float] = {}
        for share, each in zip(shares, self._sums):
            total[each.maximum] = total.get(each.maximum, 0.0) + share
        shares = [share / total[each.maximum] if total[each.maximum] else old for share, old, each in zip(shares, self.shares, self._sums)]
        prices = [max(0.0, price + step * each * width) for price, each, width in zip(self.prices, over, widths)]
        return Multipliers(self._times, self._sums, shares, prices)

    def cost(self, group: Group) -> int:
        """The least that a group costs, in parts of `SCALE`; the prices of what there is are to be taken off the sum of all groups."""
        return self._best(group)[0]

    def in_ns(self, costs: int) -> int:
        """The bound for groups that cost so much together."""
        return ENDLESS if costs >= IMPOSSIBLE else max(0, -((self._times.most * sum(self._exact_prices) - costs) // SCALE))

    def _best(self, group: Group) -> tuple[int, int]:
        """The least that a group costs, and at which place of the amounts."""
        if (known := self._known.get(group)) is not None:
            return known
        price = sum(self._exact_prices[part] for part in numbers(group.parts))
        costs: Sequence[int] = [price * each for each in self._times.accelerators]
        for task in numbers(group.tasks):
            costs = list(map(add, costs, self._row(task)))
        least = min(costs)
        found = self._known[group] = least, costs.index(least)
        return found

    def _row(self, task: int) -> list[int]:
        if task not in self._rows:
            worth = self._worths[task]
            self._rows[task] = [IMPOSSIBLE if time >= ENDLESS else worth * time for time in self._times.of[task]]
        return self._rows[task]
