"""Time of a component by accelerator count, on one model or the slowest of several."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from functools import partial
from typing import Callable, Mapping, NamedTuple, Sequence

from ..models.component import Component
from ..models.parallel import DEGREES, Parallel
from ..models.planning.workload import LONGEST, POWER, TABLE, Measurement, TimedComponent
from ..models.problem import Problem

GRAIN = 1000
"""Grain of unmeasured times in ns: whole microseconds.

The last digit of a logarithm then decides nothing.
"""


class Time(NamedTuple):
    """A time in ns; `extrapolated` if its count lies outside the measured counts."""

    nanoseconds: int
    extrapolated: bool


def time_of(times: TimedComponent, phase: str, accelerators: int, parallel: Parallel, model: str) -> Time | None:
    """Return the time of a phase; None if no measurement applies (see `times_of`)."""
    return times_of(times, phase, parallel, model)(accelerators)


def times_of(times: TimedComponent, phase: str, parallel: Parallel, model: str) -> Callable[[int], Time | None]:
    """Return the time by the accelerators of a model, None if unmeasured (see docs/times.md)."""
    if times.longest_of:
        per_model = ((TimedComponent(rows, times.scaling), next((row.model for row in rows if row.model), "")) for rows in times.longest_of)
        return partial(_longest, [times_of(rows, phase, parallel, its_model) for rows, its_model in per_model])
    rows = _standing(times.measured, phase, parallel, model)
    return partial(_estimate, {count: row.nanoseconds for count, row in rows.items()}, times.scaling)


def rests_on(times: TimedComponent, phase: str, accelerators: int, parallel: Parallel, model: str) -> list[Measurement]:
    """Return the measurements (at most two) behind a time on a model."""
    rows = _standing(times.measured, phase, parallel, model)
    return [rows[count] for count in _neighbours([*rows], times.scaling, accelerators)]


def _longest(times: Sequence[Callable[[int], Time | None]], accelerators: int) -> Time | None:
    """Return the longest of several times; None unless all are known."""
    time_list = [time for time_by_count in times if (time := time_by_count(accelerators)) is not None]
    return max(time_list, key=lambda time: time.nanoseconds) if len(time_list) == len(times) else None


def _estimate(nanoseconds_of: Mapping[int, int], scaling: str, accelerators: int) -> Time | None:
    """Return the time on a number of accelerators; `nanoseconds_of` is count -> ns, ascending."""
    counts = [*nanoseconds_of]
    neighbours = _neighbours(counts, scaling, accelerators)
    if not neighbours:
        return None
    low, high = neighbours[0], neighbours[-1]
    if low == accelerators:
        return Time(nanoseconds_of[low], False)
    is_extrapolated = not counts[0] < accelerators < counts[-1]
    if low == high:
        return Time(min(LONGEST, _grain(nanoseconds_of[low] * low / accelerators)), is_extrapolated)
    power = math.log(nanoseconds_of[high] / nanoseconds_of[low]) / math.log(high / low)
    if math.log(nanoseconds_of[low]) + power * math.log(accelerators / low) >= math.log(LONGEST):
        return Time(LONGEST, is_extrapolated)
    return Time(_grain(nanoseconds_of[low] * (accelerators / low) ** power), is_extrapolated)


def _neighbours(counts: Sequence[int], scaling: str, accelerators: int) -> tuple[int, ...]:
    """Return the measured counts that decide the time on another count, ascending.

    A measured count by itself; else the nearest alone (`linear`), or the two around it or nearest
    to it (`power`); none where no count is measured, or only measured ones are possible (`table`).
    """
    place = bisect_left(counts, accelerators)
    if place < len(counts) and counts[place] == accelerators:
        return (accelerators,)
    if scaling == TABLE or not counts:
        return ()
    below = max(0, min(place - 1, len(counts) - 2))
    two = tuple(counts[below : below + 2])
    if scaling == POWER:
        return two
    return (min(two, key=lambda count: max(count, accelerators) / min(count, accelerators)),)


def _standing(measurements: Sequence[Measurement], phase: str, parallel: Parallel, model: str) -> dict[int, Measurement]:
    """Return count -> applicable measurement, in the order of the counts.

    Of several, the one that names most degrees; then one that names the model; then the one that
    names the first in the order of `DEGREES`.
    """

    def exactness(row: Measurement) -> tuple[int, bool, tuple[bool, ...]]:
        degrees_named = tuple(row.names(degree) for degree in DEGREES)
        return sum(degrees_named), row.model == model, degrees_named

    rows = (row for row in measurements if row.phase == phase and row.model in ("", model))
    holding = sorted((row for row in rows if row.holds_with(parallel)), key=exactness)
    best = {row.accelerators: row for row in holding}
    return {count: best[count] for count in sorted(best)}


def _grain(nanoseconds: float) -> int:
    return max(1, math.ceil(nanoseconds / GRAIN)) * GRAIN


def restrict_to_models(problem: Problem, component: Component, models: Sequence[str]) -> Component:
    """Return an open component restricted to these models; on several, the slowest decides."""
    if len(models) == 1:
        return replace(component, accelerator_model=models[0])
    excluded_nodes = (node.rank for node in problem.cluster.nodes if node.accelerators and node.accelerator_model not in models)
    if times := component.timed:
        rows_by_model = tuple(tuple(row for row in times.measured if row.model in ("", model)) for model in models)
        times = replace(times, measured=tuple(replace(row, model="") for row in times.measured), longest_of=rows_by_model)
    return replace(component, timed=times, excluded=tuple(sorted({*component.excluded, *excluded_nodes})))


def times_on(times: TimedComponent, models: Sequence[str]) -> Mapping[str, TimedComponent]:
    """Return the times on each of several models, also if merged into the slowest."""
    if times.longest_of:
        return {model: TimedComponent(rows, times.scaling) for model, rows in zip(models, times.longest_of)}
    return dict.fromkeys(models, times)


def slowest(times: Mapping[str, TimedComponent], phase: str, amount: int, parallel: Parallel) -> tuple[str, bool]:
    """Return the first slowest model of several, and True if all are equal."""
    time_of_model = {model: time_of(entry, phase, amount, parallel, model) for model, entry in times.items()}
    durations = {model: time.nanoseconds if time else 0 for model, time in time_of_model.items()}
    return max(durations, key=lambda model: durations[model], default=""), len(set(durations.values())) <= 1


def model_of(problem: Problem, component: Component) -> str | None:
    """Return the single model of a component, "" if any. None if its time depends on them."""
    if component.runs is not None:
        ranks = {node for node, _ in problem.build_given().masks(component.name)}
        models = tuple({problem.cluster.nodes[node].accelerator_model for node in ranks})
    else:
        models = models_there(problem, component)
    if len(models) == 1:
        return models[0]
    names = component.timed is not None and any(row.model for row in component.timed.measured)
    return None if names else ""


def models_there(problem: Problem, component: Component) -> tuple[str, ...]:
    """Return the models open to a component with a time for each, in node order."""
    if component.accelerator_model:
        return (component.accelerator_model,)
    ranks, nodes = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded), problem.cluster.nodes
    models = dict.fromkeys(nodes[rank].accelerator_model for rank in sorted(ranks) if nodes[rank].accelerators)
    timed_models = {row.model for row in component.timed.measured} if component.timed else {""}
    return tuple(model for model in models if "" in timed_models or model in timed_models)
