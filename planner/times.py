"""Time of a component on a count of accelerators, on one model of them or on several."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Callable, Mapping, NamedTuple, Sequence

from ..models.component import Component
from ..models.machines.node_group import ACCELERATOR
from ..models.parallel import DEGREES, Parallel
from ..models.planning.measured import LINEAR, LONGEST, TABLE, Measured
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
