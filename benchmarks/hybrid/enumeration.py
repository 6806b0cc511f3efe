"""The peer: every partition of the models, every allocation to its sets, and for each the best strategies.

Re-implemented from the idea of HybridFlow, arXiv 2409.19256, Algorithm 1, whose code is not public: models of a set share its accelerators, every set
has at least as many as its models need to fit into memory, all accelerators are given out, and what a set takes on a count is kept, not computed again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import product
from math import comb
from typing import Iterator, Sequence

from placewright.models.planning.option import Option
from placewright.models.planning.problem import PlanningProblem

Loads = tuple[int, ...]
"""Nanoseconds of a set in each stage."""
CHECK = 4096
"""Plans after which the clock is looked at; it is too after the loads of a set were computed."""


class _Cut(Exception):
    """The time ran out."""


@dataclass
class Enumeration:
    """What it came to: `cost` in ns of the best plan so far, how many plans were priced, and of how many there are."""

    question: PlanningProblem
    unit: int
    limit: float
    cost: int | None = None
    plans: int = 0
    all_plans: int = 0
    seconds: float = 0.0
    finished: bool = False
    known: dict[tuple[tuple[str, ...], int], list[Loads]] = field(default_factory=dict)
    """Set and units -> what it may take on them: the loads that no other choice of strategies beats in every stage."""

    def run(self) -> Enumeration:
        """Prices every plan, or those that it comes to within `limit` CPU seconds."""
        self.began = time.process_time()
        self.options = {name: _by_units(its, self.unit) for name, its in self.question.options.items()}
        units = self.question.kinds[0].accelerators // self.unit
        placements = [(sets, [self._least(its, units) for its in sets]) for sets in partitions(self.question.components)]
        placements = [(sets, least) for sets, least in placements if sum(least) <= units]
        placements.sort(key=lambda each: len(each[0]))  # those with few allocations first, so that a cut leaves the best of many
        self.all_plans = sum(comb(units - sum(least) + len(sets) - 1, len(sets) - 1) for sets, least in placements)
        try:
            for sets, least in placements:
                self._price(sets, least, units)
            self.finished = True
        except _Cut:
            self.finished = False
        self.seconds = time.process_time() - self.began
        return self

    def _price(self, sets: Sequence[tuple[str, ...]], least: Sequence[int], units: int) -> None:
        """Prices every allocation of one partition."""
        stages = range(len(self.question.flow.phases))
        for counts in allocations(least, units):
            self.plans += 1
            for loads in product(*(self._on(its, count) for its, count in zip(sets, counts))):
                cost = sum(max(its[stage] for its in loads) for stage in stages)
                if self.cost is None or cost < self.cost:
                    self.cost = cost
            if self.plans % CHECK == 0:
                self._look_at_the_clock()

    def _look_at_the_clock(self) -> None:
        if time.process_time() - self.began > self.limit:
            raise _Cut

    def _least(self, members: Sequence[str], units: int) -> int:
        """The fewest units on which the models fit together; more than there are where they never do."""
        for count in range(1, units + 1):
            its = [self.options[name].get(count) for name in members]
            smallest = [min(options, key=lambda option: (option.memory, option.kept)) for options in its if options]
            if len(smallest) == len(members) and self._fits(smallest):
                return count
        return units + 1

    def _on(self, members: tuple[str, ...], count: int) -> list[Loads]:
        if (members, count) not in self.known:
            self.known[members, count] = self._loads(members, [self.options[name].get(count, []) for name in members])
            self._look_at_the_clock()
        return self.known[members, count]

    def _loads(self, members: Sequence[str], options: Sequence[Sequence[Option]]) -> list[Loads]:
        found = []
        for chosen in product(*options):
            if self._fits(chosen):
                loads = [0] * len(self.question.flow.phases)
                for name, option in zip(members, chosen):
                    for task, nanoseconds in zip(self.question.tasks_of[name], option.nanoseconds):
                        loads[self.question.phase(task)] += nanoseconds
                found.append(tuple(loads))
        best: list[Loads] = []
        for its in sorted(set(found)):
            if not any(all(theirs <= mine for theirs, mine in zip(other, its)) for other in best):
                best.append(its)
        return best

    def _fits(self, chosen: Sequence[Option]) -> bool:
        """Models of a set take turns: one needs all its memory while the others keep what they keep."""
        limit, kept = self.question.kinds[0].memory, sum(option.kept for option in chosen)
        return limit is None or kept + max(option.memory - option.kept for option in chosen) <= limit


def _by_units(options: Sequence[Option], unit: int) -> dict[int, list[Option]]:
    found: dict[int, list[Option]] = {}
    for option in options:
        found.setdefault(option.amount // unit, []).append(option)
    return found


def partitions(names: Sequence[str]) -> Iterator[list[tuple[str, ...]]]:
    """Every way to put the names into sets."""
    if not names:
        yield []
        return
    for rest in partitions(names[1:]):
        yield [(names[0],), *rest]
        for place, its in enumerate(rest):
            yield [*rest[:place], (names[0], *its), *rest[place + 1 :]]


def allocations(least: Sequence[int], units: int) -> Iterator[tuple[int, ...]]:
    """Every way to give out all units, to each set at least so many."""
    if len(least) == 1:
        yield (units,)
        return
    for first in range(least[0], units - sum(least[1:]) + 1):
        for rest in allocations(least[1:], units - first):
            yield (first, *rest)
