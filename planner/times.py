"""Time of a component on a count of accelerators, on one model of them or on several."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from functools import partial
from typing import Callable, Mapping, NamedTuple, Sequence

from ..models.component import Component
from ..models.machines.node_group import ACCELERATOR
from ..models.parallel import DEGREES, Parallel
from ..models.planning.measured import LONGEST, POWER, TABLE, Measured
from ..models.planning.workload import Timed
from ..models.problem import Problem

GRAIN = 1000
"""Times that were not measured are whole microseconds, so that the last digit of a logarithm decides nothing."""


class Time(NamedTuple):
    """A time in ns, and whether its count lies outside of those that were measured."""

    nanoseconds: int
    extrapolated: bool


def time_of(timed: Timed, phase: str, accelerators: int, parallel: Parallel, model: str) -> Time | None:
    """The time of a phase on so many accelerators of a model, with these degrees; None if nothing measured says it (see `times_of`)."""
    return times_of(timed, phase, parallel, model)(accelerators)


def times_of(timed: Timed, phase: str, parallel: Parallel, model: str) -> Callable[[int], Time | None]:
    """Time of a phase by the number of accelerators of a model; None without a measurement.

    docs/times.md states the rule.
    """
    if timed.longest_of:
        each = ((Timed(rows, timed.scaling), next((row.model for row in rows if row.model), "")) for rows in timed.longest_of)
        return partial(_longest, [times_of(its, phase, parallel, its_model) for its, its_model in each])
    rows = _standing(timed.measured, phase, parallel, model)
    return partial(_on, {count: row.nanoseconds for count, row in rows.items()}, timed.scaling)


def rests_on(
    timed: Timed,
    phase: str,
    accelerators: int,
    parallel: Parallel,
    model: str,
) -> list[Measured]:
    """The one or two measurements from which the time on one model follows; none without a time."""
    rows = _standing(timed.measured, phase, parallel, model)
    return [rows[count] for count in _neighbours([*rows], timed.scaling, accelerators)]


def _longest(times: Sequence[Callable[[int], Time | None]], accelerators: int) -> Time | None:
    """The longest of several times where all are known."""
    found = [time for each in times if (time := each(accelerators)) is not None]
    return max(found, key=lambda time: time.nanoseconds) if len(found) == len(times) else None


def _on(measured: Mapping[int, int], scaling: str, accelerators: int) -> Time | None:
    """Time on a number of accelerators by the ns of each measured count, in the order of counts."""
    counts = [*measured]
    used = _neighbours(counts, scaling, accelerators)
    if not used:
        return None
    low, high = used[0], used[-1]
    if low == accelerators:
        return Time(measured[low], False)
    outside = not counts[0] < accelerators < counts[-1]
    if low == high:
        return Time(min(LONGEST, _grain(measured[low] * low / accelerators)), outside)
    power = math.log(measured[high] / measured[low]) / math.log(high / low)
    if math.log(measured[low]) + power * math.log(accelerators / low) >= math.log(LONGEST):
        return Time(LONGEST, outside)
    return Time(_grain(measured[low] * (accelerators / low) ** power), outside)


def _neighbours(counts: Sequence[int], scaling: str, accelerators: int) -> tuple[int, ...]:
    """Measured counts, of these in ascending order, from which the time on another count follows.

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


def _standing(
    measured: Sequence[Measured],
    phase: str,
    parallel: Parallel,
    model: str,
) -> dict[int, Measured]:
    """Count -> the measurement that stands on it, in the order of the counts.

    Of those that hold, the one that names most degrees; of these one that names the model; of these
    the one that names the first in the order of `DEGREES`.
    """

    def exactness(row: Measured) -> tuple[int, bool, tuple[bool, ...]]:
        named = tuple(row.names(degree) for degree in DEGREES)
        return sum(named), row.model == model, named

    rows = (row for row in measured if row.phase == phase and row.model in ("", model))
    holding = sorted((row for row in rows if row.holds_with(parallel)), key=exactness)
    best = {row.accelerators: row for row in holding}
    return {count: best[count] for count in sorted(best)}


def _grain(nanoseconds: float) -> int:
    return max(1, math.ceil(nanoseconds / GRAIN)) * GRAIN


def evenly_on(problem: Problem, component: Component) -> tuple[str, ...]:
    """The several models that a component is on by its given ranks, in the order of the nodes, where its times name models; else none."""
    if component.runs is None or component.timed is None or problem.kind(component) != ACCELERATOR:
        return ()
    masks = problem.given().masks(component.name)
    nodes = sorted(node for (node, kind), mask in masks.items() if kind == ACCELERATOR and mask)
    models = tuple(dict.fromkeys(problem.cluster.nodes[node].accelerator_model for node in nodes))
    return models if len(models) > 1 and any(each.model for each in component.timed.measured) else ()


def on_the_slowest(problem: Problem, component: Component) -> Component:
    """The component; where its given ranks are on several models, with the times of the slowest of them, which name no model.

    Data parallel ranks have equal shares of the work, whichever accelerator each of them has, and a phase ends with the last of them: it
    takes as long as with all ranks on the slowest model. Where one of these models has no time, there is none.
    """
    models, timed = evenly_on(problem, component), component.timed
    return component if not models or timed is None else replace(component, timed=_longest_on(timed, models))


def on_models(problem: Problem, component: Component, models: Sequence[str]) -> Component:
    """A component whose place is open, on accelerators of these models alone: on several at once with the times of the slowest of them.

    It may then be on some of these too, where it is said to take no less long than it does.
    """
    if len(models) == 1:
        return replace(component, accelerator_model=models[0])
    others = (node.rank for node in problem.cluster.nodes if node.accelerators and node.accelerator_model not in models)
    timed = component.timed and _longest_on(component.timed, models)
    return replace(component, timed=timed, excluded=tuple(sorted({*component.excluded, *others})))


def _longest_on(timed: Timed, models: Sequence[str]) -> Timed:
    each = tuple(tuple(row for row in timed.measured if row.model in ("", model)) for model in models)
    return replace(timed, measured=tuple(replace(row, model="") for row in timed.measured), longest_of=each)


def times_on(timed: Timed, models: Sequence[str]) -> Mapping[str, Timed]:
    """The times that a component has on each of several models that it is on at once, also where its times are those of the slowest."""
    if timed.longest_of:
        return {model: Timed(rows, timed.scaling) for model, rows in zip(models, timed.longest_of)}
    return dict.fromkeys(models, timed)


def slowest(times: Mapping[str, Timed], phase: str, amount: int, parallel: Parallel) -> tuple[str, bool]:
    """The first of several models, all of which have times, on which so many take longest, "" where there are none; do all take as long?"""
    known = {model: time_of(timed, phase, amount, parallel, model) for model, timed in times.items()}
    takes = {model: its.nanoseconds if its else 0 for model, its in known.items()}
    return max(takes, key=lambda model: takes[model], default=""), len(set(takes.values())) <= 1


def untimed_on(problem: Problem, component: Component) -> str:
    """The time that is missing where given ranks are on several models, such as "`actor` takes to train on 4 A800"; "" where none is."""
    timed, models, missing = component.timed, evenly_on(problem, component), ""
    if timed is None or not models:
        return ""
    amount, names_degrees = problem.given().amount(component.name), any(each.parallel for each in timed.measured)
    for parallel in problem.job.choices.get(component.name, (component.parallel,)):
        each = ((phase, model) for phase in timed.phases for model in models)
        lacks = next(((phase, model) for phase, model in each if time_of(timed, phase, amount, parallel, model) is None), None)
        if lacks is None:
            return ""
        task = f"`{component.name}` takes{f' to {lacks[0]}' if len(timed.phases) > 1 else ''}"
        missing = missing or f"{task} on {amount} {lacks[1]}{f' with {parallel}' if names_degrees else ''}"
    return missing


def model_of(problem: Problem, component: Component) -> str | None:
    """The one model that a component is on; "" where it is on several, or may be; None where its time depends on which these are.

    Times that name models say how long it takes on several at once where these are known: see planner/times.py.
    """
    if component.runs is not None:
        nodes = problem.cluster.nodes
        given = {nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
        return given.pop() if len(given) == 1 else None if untimed_on(problem, component) else ""
    its = models_there(problem, component)
    if len(its) == 1:
        return its[0]
    names = component.timed is not None and any(each.model for each in component.timed.measured)
    return None if names else ""


def models_there(problem: Problem, component: Component) -> tuple[str, ...]:
    """The models that a component whose place is open may be on, and has a time for, in the order of the nodes."""
    if component.accelerator_model:
        return (component.accelerator_model,)
    ranks, nodes = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded), problem.cluster.nodes
    its = dict.fromkeys(nodes[rank].accelerator_model for rank in sorted(ranks) if nodes[rank].accelerators)
    timed = {each.model for each in component.timed.measured} if component.timed else {""}
    return tuple(model for model in its if "" in timed or model in timed)
