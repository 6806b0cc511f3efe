"""What a maximum is at least because all sets need accelerators at the same time."""

from __future__ import annotations

from functools import cmp_to_key
from heapq import heapify, heappop, heappush
from typing import NamedTuple, Sequence

from .domains import Domains, Narrowing
from .hull import Step, hull
from .sizing import Greatest, Load


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
