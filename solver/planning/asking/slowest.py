"""How long a component takes on several models of accelerators at once, given or open: as long as on the slowest of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from ....models.component import Component
from ....models.machines.node_group import ACCELERATOR
from ....models.parallel import Parallel
from ....models.planning.workload import Timed
from ....models.problem import Problem
from .interpolation import time_of


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
