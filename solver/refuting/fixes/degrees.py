"""Other parallel degrees: smaller groups, which find room where larger ones do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.component import Component, Parallel
from ....models.demand import Demand
from ..conflict import OTHER, Change
from .trial import Apply, Trial, with_component


def other_degrees(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The degrees nearest to what was asked for with which it is possible."""
    component = trial.problem[demand.component]
    for parallel in _smaller(component):
        if trial.works(_with(component, parallel)):
            share = 1 - parallel.replica / component.parallel.replica
            text = f"use {parallel} instead of {component.parallel} for {component.name}"
            yield Change(text, (OTHER, share), _with(component, parallel))
            return


def _smaller(component: Component) -> list[Parallel]:
    """Smaller degrees that divide those that were asked for, the largest first."""
    its = component.parallel
    found = [replace(its, tp=tp, pp=pp) for tp in _divisors(its.tp) for pp in _divisors(its.pp) if (tp, pp) != (its.tp, its.pp)]
    nested = [each for each in found if each.tp % component.per_process == 0 or component.per_process % each.tp == 0]
    return sorted(nested, key=lambda each: (-each.replica, -each.tp))


def _with(component: Component, parallel: Parallel) -> Apply:
    return with_component(component.name, lambda its: replace(its, parallel=parallel))


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]
