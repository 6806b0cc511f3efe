"""Domains of the blocks of a structure, narrowed by price and accelerators."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Iterable, Sequence

from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from .choices import BlockChoice
from .found import ENDLESS, Price
from .limits import LimitRow
from .sizing import Greatest, Load, Sizing

ROUNDS = 20
"""Maximum number of passes over all sets; later subproblems remove the rest."""
Crossings = Sequence[Sequence[int]]
"""Traffic between two sets, by choice of the source, then of the target."""
Step = tuple[int, int, int]
"""(accelerators, value, choice): values fall with rising accelerators."""
Left = list[list[int]]
"""For each set, the remaining choices by number of accelerators."""


@dataclass
class Domains:
    """Remaining choices of each set, and the interval of each maximum.

    `left` : for each set, indices of the remaining choices, by number of accelerators. `floors`,
    `caps` : lower and upper bounds of the maxima. `between` : lower bound of the traffic between
    sets.
    """

    left: list[list[int]]
    floors: list[int]
    caps: list[int]
    between: int = 0

    def copy(self) -> Domains:
        """Return an independent copy."""
        return Domains(list(self.left), list(self.floors), list(self.caps), self.between)


@dataclass(frozen=True)
class Resources:
    """Resource limits of the sets of a structure.

    `accelerators` : accelerators of the choices of each set.
    """

    sizing: Sizing
    accelerators: list[list[int]]

    def narrow(self, left: Left, most: int) -> bool:
        """Remove choices beyond so many accelerators; return False if nothing is left."""
        sizing = self.sizing
        self._enough_of_all(left, sizing.roots, most)
        for kind, node_kind in enumerate(sizing.question.kinds):
            if len(sizing.question.kinds) > 1 and all(left):
                self._enough_of(kind, left, sizing.roots, node_kind.accelerators)
        for number, inner in enumerate(sizing.inner):
            if inner and all(left):
                self._inside(left, number, inner)
        for row, weights in self._weighed:
            if all(left):
                self._within(left, row.sets, row.most, weights)
        return all(left)

    @cached_property
    def _weighed(self) -> list[tuple[LimitRow, dict[int, list[int]]]]:
        """Rows with the weights of all choices."""
        return [
            (row, {number: [row.weigh(number, choice.options) for choice in self.sizing.choices[number]] for number in row.sets})
            for row in self.sizing.rows
        ]

    def _within(self, left: Left, sets: Sequence[int], most: int, weights: dict[int, list[int]]) -> None:
        """Remove choices by a row: the weights of these sets are at most `most`."""
        least = {number: min(map(weights[number].__getitem__, left[number])) for number in sets}
        spare = most - sum(least.values())
        for number in sets:
            own_weights, limit = weights[number], least[number] + spare
            left[number] = [place for place in left[number] if own_weights[place] <= limit]

    def _enough_of_all(self, left: Left, sets: Sequence[int], most: int) -> None:
        """Remove choices by an upper bound of the accelerators of these sets."""
        least = {number: self.accelerators[number][left[number][0]] for number in sets}
        spare = most - sum(least.values())
        for number in sets:
            counts, limit = self.accelerators[number], least[number] + spare
            if counts[left[number][-1]] > limit:
                left[number] = left[number][: bisect_right(left[number], limit, key=counts.__getitem__)]

    def _enough_of(self, kind: int, left: Left, sets: Sequence[int], most: int) -> None:
        """Remove choices by an upper bound of the accelerators of a kind."""

        def uses(number: int, place: int) -> int:
            return self.accelerators[number][place] if kind == self.sizing.choices[number][place].kind else 0

        least = {number: min(uses(number, place) for place in left[number]) for number in sets}
        spare = most - sum(least.values())
        for number in sets:
            left[number] = [place for place in left[number] if uses(number, place) <= least[number] + spare]

    def _inside(self, left: Left, number: int, inner: Iterable[int]) -> None:
        """Remove choices of a set without capacity for its inner sets on the same kind."""
        choices = self.sizing.choices
        kinds = {choices[number][place].kind for place in left[number]}.intersection(
            *({choices[member][place].kind for place in left[member]} for member in inner)
        )
        for member in (number, *inner):
            left[member] = [place for place in left[member] if choices[member][place].kind in kinds]
        if not all(left):
            return
        needed = {member: self.accelerators[member][left[member][0]] for member in inner}
        total = sum(needed.values()) + self.sizing.left_over(number)
        left[number] = [place for place in left[number] if self.accelerators[number][place] >= total]
        if left[number]:
            spare = self.accelerators[number][left[number][-1]] - total
            for member, least in needed.items():
                left[member] = [place for place in left[member] if self.accelerators[member][place] <= least + spare]


@dataclass(frozen=True)
class Narrowing:
    """Propagation: removes choices of a structure to a fixed point."""

    sizing: Sizing

    def start(self) -> Domains:
        """Return the domains with all choices."""
        return Domains(
            [list(range(len(choices))) for choices in self.choices], [0] * len(self.sizing.greatest), [ENDLESS] * len(self.sizing.greatest)
        )

    @cached_property
    def choices(self) -> tuple[tuple[BlockChoice, ...], ...]:
        """Choices of each set."""
        return self.sizing.choices

    @cached_property
    def accelerators(self) -> list[list[int]]:
        """Accelerators of the choices of each set."""
        return [[choice.accelerators for choice in choices] for choices in self.choices]

    @cached_property
    def _resources(self) -> Resources:
        return Resources(self.sizing, self.accelerators)

    @cached_property
    def loads(self) -> list[list[list[int]]]:
        """Loads in ns of the choices of each set, by segment."""
        return [[list(column) for column in zip(*(choice.loads for choice in choices))] for choices in self.choices]

    def narrow(self, domains: Domains, below: Price | None) -> bool:
        """Remove choices without a price below the cutoff; return False if nothing is left."""
        for _ in range(ROUNDS):
            before = [len(places) for places in domains.left]
            if not all(before) or not self._narrow(domains, below) or not all(domains.left):
                return False
            if before == [len(places) for places in domains.left]:
                if not self.sizing.between:
                    return True
                if not self._cross(domains, below):
                    return False
                if before == [len(places) for places in domains.left]:
                    return True
        return True

    def price(self, domains: Domains) -> Price:
        """Return a lower bound of the price."""
        time = sum(maximum.weight * floor for maximum, floor in zip(self.sizing.greatest, domains.floors)) + domains.between
        return self.sizing.question.by_aim(time, self._fewest(domains))

    def _fewest(self, domains: Domains) -> int:
        """Return a lower bound of the accelerators."""
        least = [self.accelerators[number][places[0]] for number, places in enumerate(domains.left)]
        some = (
            [[self.choices[number][place] for place in places] for number, places in enumerate(domains.left)] if self.sizing.tallies else []
        )
        return self.sizing.fewest(least, some)

    def _narrow(self, domains: Domains, below: Price | None) -> bool:
        """Run a pass over all maxima and resources."""
        sizing, left = self.sizing, domains.left
        least = [[min(map(loads.__getitem__, left[number])) for loads in segments] for number, segments in enumerate(self.loads)]
        time = domains.between
        for index, maximum in enumerate(sizing.greatest):
            sums = max(sum(least[number][part] for number, part in summed) for summed in maximum.sums)
            domains.floors[index] = max(domains.floors[index], sums)
            time += maximum.weight * domains.floors[index]
        most = self.allowed(time, self._fewest(domains), below)
        if most is None:
            return False
        worst = [[max(map(loads.__getitem__, left[number])) for loads in segments] for number, segments in enumerate(self.loads)]
        for index, maximum in enumerate(sizing.greatest):
            slowest = max(sum(worst[number][part] for number, part in summed) for summed in maximum.sums)
            cap = min(domains.caps[index], slowest, domains.floors[index] + (most[0] - time) // max(maximum.weight, 1))
            domains.caps[index] = cap
            if cap < domains.floors[index]:
                return False
            for summed in maximum.sums:
                total = sum(least[number][part] for number, part in summed)
                for number, part in summed:
                    loads, limit = self.loads[number][part], cap - total + least[number][part]
                    if worst[number][part] <= limit:
                        continue
                    left[number] = [place for place in left[number] if loads[place] <= limit]
        return all(left) and self._resources.narrow(left, most[1])

    def _cross(self, domains: Domains, below: Price | None) -> bool:
        """Remove choices with too much traffic between them; return False if nothing is left."""
        left, least = domains.left, []
        rows_of = [pair.rows for pair in self.sizing.between]
        for pair, rows in zip(self.sizing.between, rows_of):
            targets = left[pair.target]
            least.append(min(min(map(row.__getitem__, targets)) for row in _distinct(rows, left[pair.source])))
        domains.between = sum(least)
        time, used = self.sizing.question.by_aim(*self.price(domains))
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

    def allowed(self, time: int, used: int, below: Price | None) -> Price | None:
        """Return the (ns, accelerators) allowed by the cutoff; None if none are."""
        budget = self.sizing.question.budget.nanoseconds
        times, most = ENDLESS if budget is None else budget, self.sizing.most
        if below is not None and self.sizing.question.aim == SECONDS:
            times = min(times, below[0] if used < below[1] else below[0] - 1)
            most = min(most, below[1] - 1) if time == below[0] else most
        elif below is not None:
            most = min(most, below[0] if time < below[1] else below[0] - 1)
            times = min(times, below[1] - 1) if used == below[0] else times
        return (times, most) if time <= times and used <= most else None


def _distinct(rows: Crossings, places: Sequence[int]) -> Crossings:
    """Return the distinct rows at these places; choices with equal domains share a row."""
    return list({id(rows[place]): rows[place] for place in places}.values())


def raised(narrowing: Narrowing, domains: Domains, maximum: Greatest, most: int) -> tuple[int, dict[int, int]] | None:
    """Return a lower bound of a maximum, and choices near it; None if infeasible.

    The smallest value for which all sums are possible with the others as fast as they can be. Exact
    if every sum has a single set: the slowest set gets accelerators until none are left.
    """
    roots, left = narrowing.sizing.roots, domains.left
    least = [[min(map(loads.__getitem__, left[number])) for loads in segments] for number, segments in enumerate(narrowing.loads)]
    floor = max(sum(least[number][part] for number, part in loads) for loads in maximum.sums)
    beside: dict[Load, int] = {}  # of each set, which has one load in a maximum: what the others take in the longest sum with it
    for loads in maximum.sums:
        total = sum(least[number][part] for number, part in loads)
        for load in loads:
            rest = total - least[load[0]][load[1]]
            beside[load] = max(rest, beside.get(load, rest))
    steps = {number: [(narrowing.accelerators[number][left[number][0]], 0, left[number][0])] for number in roots}
    for (number, part), rest in beside.items():
        if number in steps:
            steps[number] = _falling(narrowing, number, left[number], part, rest)
    used = sum(own_steps[0][0] for own_steps in steps.values())
    if used > most:
        return None
    at = dict.fromkeys(steps, 0)
    waiting = [(-own_steps[0][1], number) for number, own_steps in steps.items()]
    heapify(waiting)
    while waiting and -waiting[0][0] > floor:
        value, number = heappop(waiting)
        falling, place = steps[number], at[number] + 1
        if place == len(falling) or used + falling[place][0] - falling[place - 1][0] > most:
            heappush(waiting, (value, number))
            break
        used += falling[place][0] - falling[place - 1][0]
        at[number] = place
        heappush(waiting, (-falling[place][1], number))
    reached = max([floor, *(-value for value, _ in waiting)])
    return reached, {number: own_steps[at[number]][2] for number, own_steps in steps.items()}


def _falling(narrowing: Narrowing, number: int, left: Sequence[int], part: int, beside: int = 0) -> list[Step]:
    """Return (accelerators, value, choice) of choices faster than all smaller ones."""
    accelerators, loads = narrowing.accelerators[number], narrowing.loads[number][part]
    found: list[Step] = []
    for place in left:
        value = loads[place] + beside
        if not found or value < found[-1][1]:
            if found and found[-1][0] == accelerators[place]:
                found.pop()
            found.append((accelerators[place], value, place))
    return found
