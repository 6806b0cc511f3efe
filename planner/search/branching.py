"""Branch and bound over the choices of one structure: a multiple-choice knapsack with maxima.

A choice for each set, accelerators as the knapsack; the objective is a weighted sum of maxima of
load sums. A node of the search tree is a `Domains`; propagation of bounds narrows it to a fixed
point, and the set with most choices is halved.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush
from typing import Sequence

from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from .bounds import Curve, raise_bound
from .found import ENDLESS, FREE, NOTHING, Price, SearchResult
from .sizing import ChoiceRow, Places, Sizing
from .structures import OUTSIDE

COUNTED = 50
"""Number of amount pairs whose traffic is computed in the time of one subproblem."""
RELAXED = 500
"""Maximum number of relaxed subproblems of a structure before the real ones are listed."""
ROUNDS = 20
"""Maximum number of passes over all sets; later subproblems remove the rest."""


@dataclass
class Domains:
    """Remaining choices of each set by accelerators, with lower bounds of maxima and traffic."""

    left: list[list[int]]
    floors: list[int]
    between: int = 0


class Branching:
    """Search tree over the choices of one structure.

    `floor` : lower bound of all designs of the structure better than its incumbent `found`. `parts` :
    subproblems solved, and traffic between sets computed in their time. `proved` : True if the
    structure has no better design among the best. `possible` : False if the structure has no design.
    """

    def __init__(self, sizing: Sizing, number: int = 0, relaxation: Sizing | None = None) -> None:
        """`relaxation` : the same structure where all options need less memory; then only amounts that can be cheaper are listed here."""
        self.sizing, self.number, self.floor = sizing, number, FREE
        self.found: SearchResult | None = None
        self.parts, self.proved, self.possible, self._begun = 0, False, True, False
        self._below: Price | None = None
        self._waiting: list[tuple[Price, int, Domains]] = []
        self._relaxed = Branching(relaxation, number) if relaxation is not None else None

    def search(self, below: Price | None, parts: int) -> int:
        """Solve up to `parts` more subproblems below the cutoff; return the number solved.

        The first is the whole structure.
        """
        before = self.parts
        if self._relaxed is not None:
            self.parts += self._relaxed.search(below, parts)
            self.floor, self.possible = max(self.floor, self._relaxed.floor), self._relaxed.possible
            is_open = (self._relaxed.proved or self._relaxed.parts >= RELAXED) and (below is None or self.floor < below)
            if parts and not is_open:
                self.proved = self._relaxed.proved
                return self.parts - before
            self._leave(self._relaxed, below)
        if not self._begun:
            self._begin()
        if below is not None and (self._below is None or below < self._below):
            self._below = below
        while before and self._waiting and self.parts < before + parts:
            price, _, domains = heappop(self._waiting)
            if self._below is None or price < self._below:
                for part in self._divide(domains):
                    self._add(part)
            else:
                self._waiting.clear()
        self.proved = not self._waiting
        floors = [price for price, *_ in self._waiting[:1]] + ([self.found.price] if self.found else [])
        if self.proved and below is not None:
            floors.append(below)
        self.floor = max(self.floor, min(floors, default=NOTHING))
        return self.parts - before

    def _leave(self, relaxation: Branching, below: Price | None) -> None:
        """List the amounts at which the relaxed structure is below incumbent and cutoff."""
        self._relaxed, every = None, relaxation.sizing.choices
        if relaxation.found is not None:
            near = {name: (option.kind, option.amount) for name, option in relaxation.found.design.options.items()}
            sets = self.sizing.structure.sets
            same = Branching(replace(self.sizing, amounts=tuple((near[members[0]],) for members in sets)), self.number)
            while not same.proved:
                self.parts += same.search(below, RELAXED)
            self.found = same.found
        prices = [price for price in (below, self.found.price if self.found is not None else None) if price is not None]
        if prices:
            relaxation._below = self._below = min(prices)
            domains = relaxation.domains()
            remaining = domains.left if relaxation.narrow(domains) else [[] for _ in every]
            amounts = (dict.fromkeys(choices[place].amount for place in places) for choices, places in zip(every, remaining))
            self.sizing = replace(self.sizing, amounts=tuple(amounts))

    def domains(self) -> Domains:
        """Return the domains with all choices."""
        return Domains([list(range(len(choices))) for choices in self.sizing.choices], [0] * len(self.sizing.greatest))

    def _begin(self) -> None:
        """Narrow all choices; without any that fit, there is no design."""
        sizing, count_before, self._begun = self.sizing, self.sizing.ways.counted, True
        if all(sizing.choices):
            self._add(self.domains())
            self.parts += (sizing.ways.counted - count_before) // COUNTED
        self.possible = self.possible and (bool(self._waiting) or self.found is not None or self._below is not None)

    def _add(self, domains: Domains) -> None:
        """Narrow a subproblem; keep it if it may hold an improvement."""
        self.parts += 1
        if not self.narrow(domains):
            return
        self._try(tuple(places[0] for places in domains.left))
        self._raise(domains)
        price = self._price(domains)
        if self._below is None or price < self._below:
            heappush(self._waiting, (price, -self.parts, domains))

    def _raise(self, domains: Domains) -> None:
        """Raise the maxima, as all sets share the accelerators.

        A sum is no less than with all but one of its sets as fast as they can be. The choices behind
        the greatest of these are tried.
        """
        sizing, remaining, spare = self.sizing, domains.left, self._spare(domains)
        roots = [number for number, outer in enumerate(sizing.structure.inside) if outer == OUTSIDE]
        counts = {number: [choice.accelerators for choice in sizing.choices[number]] for number in roots}
        fewest = {number: counts[number][remaining[number][0]] for number in roots}
        for index, maximum in enumerate(sizing.greatest if spare is not None else ()):
            lows = {
                load: min(map(sizing.loads[load[0]][load[1]].__getitem__, remaining[load[0]])) for keys in maximum.sums for load in keys
            }
            rests: dict[int, dict[int, int]] = {}
            for keys in maximum.sums:
                total = sum(map(lows.__getitem__, keys))
                for number, part in keys:
                    rests.setdefault(number, {})[part] = max(total - lows[number, part], rests.get(number, {}).get(part, 0))
            slow = {
                number: {
                    place: max(sizing.loads[number][part][place] + rest for part, rest in parts.items()) for place in remaining[number]
                }
                for number, parts in rests.items()
                if number in counts
            }
            curves = [Curve([(counts[number][place], time) for place, time in times.items()]) for number, times in slow.items()]
            most = spare[1] - sum(count for number, count in fewest.items() if number not in slow) if spare is not None else 0
            value = raise_bound(curves, domains.floors[index], most)
            self._try(
                tuple(
                    next((place for place in remaining[number] if slow.get(number, {}).get(place, 0) <= value), remaining[number][0])
                    for number in range(len(remaining))
                )
            )
            domains.floors[index] = value

    def _try(self, places: Places) -> None:
        """Take choices as the incumbent if they improve on it."""
        sizing = self.sizing
        if sizing.allows(places):
            price = sizing.price(places)
            if self._below is None or price < self._below:
                self._below = price
                self.found = SearchResult(price, self.number, sizing.design(places))

    def _divide(self, domains: Domains) -> Sequence[Domains]:
        """Return two halves of a subproblem; () if its only solution was tried."""
        if all(len(places) == 1 for places in domains.left):
            return ()
        low, high = Domains(list(domains.left), list(domains.floors), domains.between), domains
        number = max(range(len(domains.left)), key=lambda candidate: len(domains.left[candidate]))
        places = domains.left[number]
        half = (len(places) + 1) // 2
        low.left[number], high.left[number] = places[:half], places[half:]
        return low, high

    # -- propagation

    def narrow(self, domains: Domains) -> bool:
        """Remove choices without a price below the cutoff; return False if nothing is left."""
        for _ in range(ROUNDS):
            before = list(map(len, domains.left))
            if not self._pass(domains):
                return False
            if before == list(map(len, domains.left)):
                if not self.sizing.between:
                    return True
                if not self._cross(domains):
                    return False
                if before == list(map(len, domains.left)):
                    return True
        return True

    def _price(self, domains: Domains) -> Price:
        """Return a lower bound of the price."""
        time = sum(maximum.weight * floor for maximum, floor in zip(self.sizing.greatest, domains.floors)) + domains.between
        count = max(sum(row.least(domains.left).values()) - row.most for row in self.sizing.used)
        return self.sizing.question.by_aim(time, count)

    def _pass(self, domains: Domains) -> bool:
        """Narrow by each maximum and each row once."""
        sizing, remaining = self.sizing, domains.left
        lows = [[min(map(loads.__getitem__, remaining[number])) for loads in segments] for number, segments in enumerate(sizing.loads)]
        for index, maximum in enumerate(sizing.greatest):
            sums = max(sum(lows[number][part] for number, part in keys) for keys in maximum.sums)
            domains.floors[index] = max(domains.floors[index], sums)
        spare = self._spare(domains)
        if spare is None:
            return False
        for maximum, floor in zip(sizing.greatest, domains.floors):
            cap = floor + spare[0] // max(maximum.weight, 1)
            for keys in maximum.sums:
                rest = cap - sum(lows[number][part] for number, part in keys)
                for number, part in keys:
                    loads, limit = sizing.loads[number][part], rest + lows[number][part]
                    remaining[number] = [place for place in remaining[number] if loads[place] <= limit]
        rows = [(row, 0) for row in sizing.rows]
        return all(
            all(remaining) and _keep(remaining, row, most) for row, most in [*((row, spare[1]) for row in sizing.used), *rows]
        ) and all(remaining)

    def _cross(self, domains: Domains) -> bool:
        """Remove choices with too much traffic between them; return False if nothing is left."""
        remaining, lows = domains.left, []
        for pair in self.sizing.between:
            targets = remaining[pair.target]
            lows.append(min(min(map(row.__getitem__, targets)) for row in _distinct(pair.rows, remaining[pair.source])))
        domains.between = sum(lows)
        spare = self._spare(domains)
        if spare is None:
            return False
        for pair, value in zip(self.sizing.between, lows):
            source, target, limit = pair.source, pair.target, value + spare[0]
            least_of = {id(row): min(map(row.__getitem__, remaining[target])) for row in _distinct(pair.rows, remaining[source])}
            remaining[source] = [place for place in remaining[source] if least_of[id(pair.rows[place])] <= limit]
            source_rows = _distinct(pair.rows, remaining[source])
            remaining[target] = [place for place in remaining[target] if any(row[place] <= limit for row in source_rows)]
            if not remaining[source] or not remaining[target]:
                return False
        return True

    def _spare(self, domains: Domains) -> Price | None:
        """Return spare ns and most accelerators under the cutoff; None if it allows none."""
        sizing, below = self.sizing, self._below
        time, count = sizing.question.by_aim(*self._price(domains))
        budget = sizing.question.budget.nanoseconds
        times, most = ENDLESS if budget is None else budget, sizing.most
        if below is not None and sizing.question.aim == SECONDS:
            times = min(times, below[0] if count < below[1] else below[0] - 1)
            most = min(most, below[1] - 1) if time == below[0] else most
        elif below is not None:
            most = min(most, below[0] if time < below[1] else below[0] - 1)
            times = min(times, below[1] - 1) if count == below[0] else times
        return (times - time, most) if time <= times and count <= most else None


def _keep(remaining: list[list[int]], row: ChoiceRow, most: int) -> bool:
    """Remove choices by a row, raised by `most`; return False if nothing is left."""
    lows = row.least(remaining)
    spare = row.most + most - sum(lows.values())
    for number, weights in row.weights.items():
        limit = lows[number] + spare
        remaining[number] = [place for place in remaining[number] if weights[place] <= limit]
    return all(remaining[number] for number in row.weights)


def _distinct(rows: Sequence[Sequence[int]], places: Sequence[int]) -> Sequence[Sequence[int]]:
    """Return the distinct rows at these places; choices with equal domains share a row."""
    return list({id(rows[place]): rows[place] for place in places}.values())
