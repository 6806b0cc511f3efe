"""What is still open of each set, and what follows from that: choices that cannot be part of anything better are left out."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Sequence

from .....models.planning.workload import SECONDS
from .....models.record import dataclass
from ..price import ENDLESS, Price
from .between_sets import Between
from .choice import Choice
from .resources import Resources
from .sizing import Sizing

FEW = 64
"""Choices of one set with one of another of which it is looked exactly what crosses between them, where that is not known of all."""
ROUNDS = 20
"""Times that all sets are looked at again; what is still left out after that is left out later."""

Row = Sequence[int] | Mapping[int, int]
Rows = Sequence[Sequence[int]] | Mapping[int, Mapping[int, int]]
"""What crosses between two sets, by the place of a choice of the source, then by that of one of the target."""


@dataclass
class Domains:
    """Choices that are left for each set, and between what each of the maxima lies.

    Attributes
    ----------
    left : for each set, the places of its choices, which are in the order of their accelerators.
    floors, caps : what each maximum is at least and at most.
    between : what crosses between sets at least, besides.
    """

    left: list[list[int]]
    floors: list[int]
    caps: list[int]
    between: int = 0

    def copy(self) -> Domains:
        """Another one, to be narrowed apart from this."""
        return Domains(list(self.left), list(self.floors), list(self.caps), self.between)


@dataclass(frozen=True)
class Narrowing:
    """Leaves out choices of one structure until nothing more follows."""

    sizing: Sizing

    def start(self) -> Domains:
        """All choices."""
        return Domains(
            [list(range(len(its))) for its in self.choices], [0] * len(self.sizing.greatest), [ENDLESS] * len(self.sizing.greatest)
        )

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """For each set, its choices."""
        return self.sizing.choices

    @cached_property
    def accelerators(self) -> list[list[int]]:
        """For each set, the accelerators of its choices."""
        return [[choice.accelerators for choice in its] for its in self.choices]

    @cached_property
    def _resources(self) -> Resources:
        return Resources(self.sizing, self.accelerators)

    @cached_property
    def loads(self) -> list[list[list[int]]]:
        """For each set and each part in which it works, the ns of its choices."""
        return [[list(its) for its in zip(*(choice.loads for choice in choices))] for choices in self.choices]

    def narrow(self, domains: Domains, below: Price | None) -> bool:
        """Leaves out what cannot be part of an answer with a price smaller than `below`; whether anything is left."""
        for _ in range(ROUNDS):
            before = [len(its) for its in domains.left]
            if not all(before) or not self._narrow(domains, below) or not all(domains.left):
                return False
            if before == [len(its) for its in domains.left]:
                if not self.sizing.between:
                    return True
                if not self._cross(domains, below):
                    return False
                if before == [len(its) for its in domains.left]:
                    return True
        return True

    def price(self, domains: Domains) -> Price:
        """What an answer costs at least."""
        time = sum(each.weight * floor for each, floor in zip(self.sizing.greatest, domains.floors)) + domains.between
        return self._price(time, self._fewest(domains))

    def _price(self, time: int, used: int) -> Price:
        return (time, used) if self.sizing.question.aim == SECONDS else (used, time)

    def _fewest(self, domains: Domains) -> int:
        """How many accelerators are used at least."""
        least = [self.accelerators[number][its[0]] for number, its in enumerate(domains.left)]
        some = [[self.choices[number][place] for place in its] for number, its in enumerate(domains.left)] if self.sizing.tallies else []
        return self.sizing.fewest(least, some)

    def _narrow(self, domains: Domains, below: Price | None) -> bool:
        """Once through all maxima and all that is used."""
        sizing, left = self.sizing, domains.left
        least = [[min(map(loads.__getitem__, left[number])) for loads in its] for number, its in enumerate(self.loads)]
        time = domains.between
        for index, each in enumerate(sizing.greatest):
            sums = max(sum(least[number][part] for number, part in its) for its in each.sums)
            domains.floors[index] = max(domains.floors[index], sums)
            time += each.weight * domains.floors[index]
        most = self.allowed(time, self._fewest(domains), below)
        if most is None:
            return False
        worst = [[max(map(loads.__getitem__, left[number])) for loads in its] for number, its in enumerate(self.loads)]
        for index, each in enumerate(sizing.greatest):
            slowest = max(sum(worst[number][part] for number, part in its) for its in each.sums)
            cap = min(domains.caps[index], slowest, domains.floors[index] + (most[0] - time) // max(each.weight, 1))
            domains.caps[index] = cap
            if cap < domains.floors[index]:
                return False
            for its in each.sums:
                total = sum(least[number][part] for number, part in its)
                for number, part in its:
                    loads, limit = self.loads[number][part], cap - total + least[number][part]
                    if worst[number][part] <= limit:
                        continue
                    left[number] = [place for place in left[number] if loads[place] <= limit]
        return all(left) and self._resources.narrow(left, most[1])

    def _cross(self, domains: Domains, below: Price | None) -> bool:
        """Leaves out choices between which too much crosses; whether anything is left."""
        left, least = domains.left, []
        rows_of = [self._rows(each, left) for each in self.sizing.between]
        for pair, rows in zip(self.sizing.between, rows_of):
            its = left[pair.target]
            least.append(min(min(map(row.__getitem__, its)) for row in _distinct(rows, left[pair.source])))
        domains.between = sum(least)
        price = self.price(domains)
        time, used = price if self.sizing.question.aim == SECONDS else (price[1], price[0])
        most = self.allowed(time, used, below)
        if most is None:
            return False
        for pair, rows, value in zip(self.sizing.between, rows_of, least):
            source, target, limit = pair.source, pair.target, value + most[0] - time
            least_of = {id(row): min(map(row.__getitem__, left[target])) for row in _distinct(rows, left[source])}
            left[source] = [place for place in left[source] if least_of[id(rows[place])] <= limit]
            kept = _distinct(rows, left[source])
            left[target] = [place for place in left[target] if any(row[place] <= limit for row in kept)]
            if not left[source] or not left[target]:
                return False
        return True

    def _rows(self, pair: Between, left: Sequence[Sequence[int]]) -> Rows:
        """What crosses between two sets by the choices that are left; where these are few, exactly."""
        if pair.exact is None or len(left[pair.source]) * len(left[pair.target]) > FEW:
            return pair.rows
        ones, others = self.choices[pair.source], self.choices[pair.target]
        return {
            place: {other: pair.exact(ones[place].amount, others[other].amount) for other in left[pair.target]}
            for place in left[pair.source]
        }

    def allowed(self, time: int, used: int, below: Price | None) -> Price | None:
        """ns and accelerators that an answer may take which is better than `below`, where it takes at least so much; None if none can."""
        budget = self.sizing.question.budget.nanoseconds
        times, most = ENDLESS if budget is None else budget, self.sizing.most
        if below is not None and self.sizing.question.aim == SECONDS:
            times = min(times, below[0] if used < below[1] else below[0] - 1)
            most = min(most, below[1] - 1) if time == below[0] else most
        elif below is not None:
            most = min(most, below[0] if time < below[1] else below[0] - 1)
            times = min(times, below[1] - 1) if used == below[0] else times
        return (times, most) if time <= times and used <= most else None


def _distinct(rows: Rows, places: Sequence[int]) -> Sequence[Row]:
    """The rows at these places, those that are the same one only once: choices that need as few domains share theirs."""
    rows_at: list[Row] = [rows[place] for place in places]
    return list({id(row): row for row in rows_at}.values())
