"""How long a component takes on a count of accelerators that nobody measured, and by which assumption."""

from __future__ import annotations

import math
from functools import partial
from typing import Callable, Mapping, NamedTuple, Sequence

from ....models.parallel import DEGREES, Parallel
from ....models.planning.measured import LINEAR, SECOND, TABLE, Measured
from ....models.planning.workload import Timed

GRAIN = 1000
"""Times that were not measured are whole microseconds, so that the last digit of a logarithm decides nothing."""

LONGEST = 10**7 * SECOND
"""About four months: no time that follows from others is longer, so that sums stay within what is counted with."""


class Time(NamedTuple):
    """A time in ns, and whether its count lies outside of those that were measured."""

    nanoseconds: int
    extrapolated: bool


def time_of(timed: Timed, phase: str, accelerators: int, parallel: Parallel, model: str) -> Time | None:
    """The time of a phase on so many accelerators of a model, with these degrees; None if nothing measured says it (see `times_of`)."""
    return times_of(timed, phase, parallel, model)(accelerators)


def times_of(timed: Timed, phase: str, parallel: Parallel, model: str) -> Callable[[int], Time | None]:
    """The time of a phase on any number of accelerators of a model, with these degrees; None for one of which nothing measured says it.

    On a count that was measured it is what was measured. Other counts follow from measurements with exactly these degrees and this
    model; where there are none, from those that name some of the degrees, as many as any does, and else from those that hold for any.
    Those of ``tp: 2`` and those of ``pp: 2`` are not mixed: see `points`.
    """
    if timed.longest_of:
        each = ((Timed(rows, timed.scaling), next((row.model for row in rows if row.model), "")) for rows in timed.longest_of)
        return partial(_longest, [times_of(its, phase, parallel, its_model) for its, its_model in each])
    known = {point.accelerators: point.nanoseconds for point in points(timed.measured, phase, parallel, model)}
    counts = {row.accelerators for row in timed.measured} - set(known)
    exact = {count: its[-1].nanoseconds for count in counts if (its := points(timed.measured, phase, parallel, model, on=count))}
    return partial(_on, known, sorted(known), timed.scaling, exact)


def _longest(times: Sequence[Callable[[int], Time | None]], accelerators: int) -> Time | None:
    """The longest of several times where all are known."""
    found = [time for each in times if (time := each(accelerators)) is not None]
    return max(found, key=lambda time: time.nanoseconds) if len(found) == len(times) else None


def _on(known: Mapping[int, int], counts: Sequence[int], scaling: str, exact: Mapping[int, int], accelerators: int) -> Time | None:
    """The time on so many, by those that are known, whose counts are given in order; on others `exact` is what was measured less exactly."""
    measured = known.get(accelerators, exact.get(accelerators))
    if measured is not None:
        return Time(measured, False)
    if scaling == TABLE or not known:
        return None
    outside = not counts[0] < accelerators < counts[-1]
    if scaling == LINEAR or len(counts) == 1:
        nearest = min(counts, key=lambda count: abs(math.log(count / accelerators)))
        return Time(min(LONGEST, _grain(known[nearest] * nearest / accelerators)), outside)
    above = next((place for place, count in enumerate(counts) if count > accelerators), len(counts) - 1)
    low, high = counts[max(above, 1) - 1], counts[max(above, 1)]
    power = math.log(known[high] / known[low]) / math.log(high / low)
    if math.log(known[low]) + power * math.log(accelerators / low) >= math.log(LONGEST):
        return Time(LONGEST, outside)
    return Time(_grain(known[low] * (accelerators / low) ** power), outside)


def points(measured: Sequence[Measured], phase: str, parallel: Parallel, model: str, on: int | None = None) -> list[Measured]:
    """The measurements that say most exactly what is asked, those that name more of the degrees last; only those `on` a count where given.

    Of those that name equally many degrees, but not the same, they are the ones that name the first in the order of `DEGREES`.
    """
    its = [each for each in measured if each.phase == phase and each.model in ("", model) and each.holds_with(parallel)]
    its = its if on is None else [each for each in its if each.accelerators == on]
    closest = max(its, key=lambda each: (_closeness(each, parallel), each.model == model, _named(each, parallel)), default=None)
    if closest is None:
        return []
    same = _closeness(closest, parallel), closest.model, _named(closest, parallel)
    found = (each for each in its if (_closeness(each, parallel), each.model, _named(each, parallel)) == same)
    return sorted(found, key=lambda each: len(each.named))


def _closeness(measured: Measured, parallel: Parallel) -> int:
    """More is closer: all degrees, of which those that it does not name are 1; some of them, the more the closer; none."""
    if measured.parallel is None:
        return 0
    return len(DEGREES) + 1 if measured.parallel == parallel else len(measured.named)


def _named(measured: Measured, parallel: Parallel) -> tuple[bool, ...]:
    """Which degrees it names, where these are not all that are asked: ``tp`` alone is more than ``pp`` alone."""
    return () if measured.parallel in (None, parallel) else tuple(name in measured.named for name in DEGREES)


def _grain(nanoseconds: float) -> int:
    return max(1, math.ceil(nanoseconds / GRAIN)) * GRAIN
