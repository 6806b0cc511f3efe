"""Domains of the blocks of a structure, narrowed by price: bounds from maxima and from shared accelerators."""

from __future__ import annotations

from functools import cached_property, cmp_to_key
from heapq import heapify, heappop, heappush
from typing import Mapping, NamedTuple, Sequence

from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from .choices import Choice
from .found import ENDLESS, Price
from .resources import Resources
from .sizing import Between, Greatest, Load, Sizing

FEW = 64
"""Choices of one set with one of another of which it is looked exactly what crosses between them, where that is not known of all."""
ROUNDS = 20
"""Times that all sets are looked at again; what is still left out after that is left out later."""

Row = Sequence[int] | Mapping[int, int]
Rows = Sequence[Sequence[int]] | Mapping[int, Mapping[int, int]]
"""What crosses between two sets, by the place of a choice of the source, then by that of one of the target."""


Step = tuple[int, int, int]
"""Accelerators, a value and the place of a choice: the values fall as the accelerators rise."""


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
        """Lower bound of the accelerators."""
        used = sum(self.accelerators[number][domains.left[number][0]] for number in self.sizing.roots)
        return max(used, self.sizing.question.given.shared)

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


class Gain(NamedTuple):
    """So many more accelerators for a set save so much: from a choice with `fewer` to that at `place`."""

    number: int
    step: int
    saved: int
    place: int
    fewer: int


def _by_slope(one: Gain, other: Gain) -> int:
    """What saves most with each accelerator comes first; exact, as bounds are."""
    return other.saved * one.step - one.saved * other.step


class Split(NamedTuple):
    """A set, and the accelerators at which the relaxation takes one part below and one above."""

    number: int
    accelerators: int


class Raised(NamedTuple):
    """What a maximum is at least, and for each set the place of a choice that comes near it; where the relaxation is not whole."""

    value: int
    places: dict[int, int]
    split: Split | None = None


def raised(narrowing: Narrowing, domains: Domains, each: Greatest, most: int) -> Raised | None:
    """What a maximum is at least with so many accelerators; None if nothing fits."""
    slowest = _slowest(narrowing, domains, each, most)
    if slowest is None:
        return None
    best = Raised(slowest[0], slowest[1])
    for its in each.sums:
        if len(its) > 1 and (found := _shared(narrowing, domains, dict(its), most)).value >= best.value:
            best = found
    return best


def _slowest(narrowing: Narrowing, domains: Domains, each: Greatest, most: int) -> tuple[int, dict[int, int]] | None:
    """The smallest value that every sum can keep to with so many accelerators, if the others of each sum are as fast as they can be.

    Exact where every sum is of one set: the slowest set gets more, until there are no more.
    """
    roots, left = narrowing.sizing.roots, domains.left
    least = [[min(map(loads.__getitem__, left[number])) for loads in its] for number, its in enumerate(narrowing.loads)]
    floor = max(sum(least[number][part] for number, part in loads) for loads in each.sums)
    beside: dict[Load, int] = {}  # of each set, which has one load in a maximum: what the others take in the longest sum with it
    for loads in each.sums:
        total = sum(least[number][part] for number, part in loads)
        for load in loads:
            others = total - least[load[0]][load[1]]
            beside[load] = max(others, beside.get(load, others))
    steps = {number: [(narrowing.accelerators[number][left[number][0]], 0, left[number][0])] for number in roots}
    for (number, part), others in beside.items():
        if number in steps:
            steps[number] = _falling(narrowing, number, left[number], part, others)
    used = sum(its[0][0] for its in steps.values())
    if used > most:
        return None
    at = dict.fromkeys(steps, 0)
    waiting = [(-its[0][1], number) for number, its in steps.items()]
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
    return reached, {number: its[at[number]][2] for number, its in steps.items()}


def _falling(narrowing: Narrowing, number: int, left: Sequence[int], part: int, beside: int = 0) -> list[Step]:
    """(accelerators, value, place) of the choices of a set that are better than all with fewer accelerators."""
    accelerators, loads = narrowing.accelerators[number], narrowing.loads[number][part]
    found: list[Step] = []
    for place in left:
        value = loads[place] + beside
        if not found or value < found[-1][1]:
            if found and found[-1][0] == accelerators[place]:
                found.pop()
            found.append((accelerators[place], value, place))
    return found


def _shared(narrowing: Narrowing, domains: Domains, parts: dict[int, int], most: int) -> Raised:
    """What a sum over several sets is at least: the relaxation in which a set may lie between two choices.

    Each accelerator goes where it saves most, along the lower convex hull of each set's choices.
    """
    left, roots = domains.left, narrowing.sizing.roots
    places = {number: left[number][0] for number in roots}
    spare = most - sum(narrowing.accelerators[number][place] for number, place in places.items())
    total = 0
    gains: list[Gain] = []
    for number, part in parts.items():
        loads = narrowing.loads[number][part]
        if number not in places:
            total += min(map(loads.__getitem__, left[number]))
            continue
        line = hull(_falling(narrowing, number, left[number], part))
        total += line[0][1]
        places[number] = line[0][2]
        for (fewer, slow, _), (more, fast, place) in zip(line, line[1:]):
            gains.append(Gain(number, more - fewer, slow - fast, place, fewer))
    gains.sort(key=cmp_to_key(_by_slope))  # of one set they are so in the order of its hull
    for number, step, gain, place, fewer in gains:
        if step > spare:
            return Raised(total - gain * spare // step, places, Split(number, fewer) if spare else None)
        spare -= step
        total -= gain
        places[number] = place
    return Raised(total, places)


def hull(steps: Sequence[Step]) -> list[Step]:
    """The steps on the lower convex hull."""
    found: list[Step] = []
    for step in steps:
        while len(found) > 1 and _above(found[-2], found[-1], step):
            found.pop()
        found.append(step)
    return found


def _above(one: Step, middle: Step, other: Step) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])
