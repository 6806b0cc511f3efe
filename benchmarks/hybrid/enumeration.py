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

from placewright.models.planning.question import Option, Question

Loads = tuple[int, ...]
"""Nanoseconds of a set in each stage."""
Table = list[list[Loads]]
"""Units -> what a set may take on them: the loads that no other choice of strategies beats in every stage."""
CHECK = 4096
"""Plans after which the clock is looked at."""


@dataclass
class Enumeration:
    """What it came to: `cost` in ns of the best plan so far, how many plans were priced, and of how many there are."""

    question: Question
    unit: int
    limit: float
    cost: int | None = None
    plans: int = 0
    all_plans: int = 0
    seconds: float = 0.0
    finished: bool = False
    tables: dict[tuple[str, ...], Table] = field(default_factory=dict)

    def run(self) -> Enumeration:
        """Prices every plan, or those that it comes to within `limit` CPU seconds."""
        began = time.process_time()
        units = self.question.kinds[0].accelerators // self.unit
        self.finished = True
        for sets in partitions(self.question.components):
            tables = [self._table(its, units) for its in sets]
            least = [next((count for count, its in enumerate(table) if its), units + 1) for table in tables]
            free = units - sum(least)
            if free < 0:
                continue
            self.all_plans += comb(free + len(sets) - 1, len(sets) - 1)
            if self.finished:
                self.finished = self._price(tables, least, units, began)
        self.seconds = time.process_time() - began
        return self

    def _price(self, tables: Sequence[Table], least: Sequence[int], units: int, began: float) -> bool:
        """Prices every allocation of one partition; False where the time ran out."""
        stages = range(len(self.question.phases))
        for counts in allocations(least, units):
            self.plans += 1
            for loads in product(*(table[count] for table, count in zip(tables, counts))):
                cost = sum(max(its[stage] for its in loads) for stage in stages)
                if self.cost is None or cost < self.cost:
                    self.cost = cost
            if self.plans % CHECK == 0 and time.process_time() - began > self.limit:
                return False
        return True

    def _table(self, members: tuple[str, ...], units: int) -> Table:
        if members not in self.tables:
            options = {name: _by_units(self.question.options[name], self.unit) for name in members}
            self.tables[members] = [self._loads(members, [options[name].get(count, []) for name in members]) for count in range(units + 1)]
        return self.tables[members]

    def _loads(self, members: Sequence[str], options: Sequence[Sequence[Option]]) -> list[Loads]:
        found = []
        for chosen in product(*options):
            if self._fits(members, chosen):
                loads = [0] * len(self.question.phases)
                for name, option in zip(members, chosen):
                    for task, nanoseconds in zip(self.question.tasks_of[name], option.nanoseconds):
                        loads[self.question.phase(task)] += nanoseconds
                found.append(tuple(loads))
        best: list[Loads] = []
        for its in sorted(set(found)):
            if not any(all(theirs <= mine for theirs, mine in zip(other, its)) for other in best):
                best.append(its)
        return best

    def _fits(self, members: Sequence[str], chosen: Sequence[Option]) -> bool:
        """In each stage the models that work in it need all their memory, the others what they keep."""
        kept, limit = sum(option.kept for option in chosen), self.question.kinds[0].memory
        rises = dict.fromkeys(range(len(self.question.phases)), 0)
        for name, option in zip(members, chosen):
            for stage in {self.question.phase(task) for task in self.question.tasks_of[name]}:
                rises[stage] += option.memory - option.kept
        return limit is None or kept + max(rises.values()) <= limit


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
