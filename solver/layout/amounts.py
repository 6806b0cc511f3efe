"""How large a bundle may be: as is asked for, in whole replicas, processes and groups of shards, and so that shares come out even."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, Sequence

from ...models.component import Component
from ...models.memory.work import whole_groups
from ...models.problem import Problem

if TYPE_CHECKING:
    from .bundle import Bundle
    from .layout import Layout


def allowed(layout: Layout, bundle: Bundle, room: int) -> Sequence[int]:
    """Every number of units up to `room` that satisfies all members of a searched bundle, ascending."""
    step = lcm(bundle.unit, *(component.step for component in bundle.components)) // bundle.unit
    every = range(-(-bundle.least // step) * step, min(bundle.most, room) + 1, step)
    names = {component.name for component in bundle.components}
    if not any(share.component in names for share in layout.problem.shares) and not any(map(is_uneven, bundle.components)):
        return every
    return tuple(units for units in every if all(fits(layout.problem, each, units * bundle.unit) for each in bundle.components))


def fits(problem: Problem, component: Component, resources: int) -> bool:
    """Does it ask for so many, and is all of it even?"""
    return component.may_have(resources) and even(problem, component, resources)


def even(problem: Problem, component: Component, resources: int) -> bool:
    """Do all shares of the component come out even, and its ranks as whole groups of shards, with so many resources?"""
    processes = resources // component.per_process
    if not whole_groups(component.divided_among, resources, component.parallel):
        return False
    return all(share.divides(processes) for share in problem.shares if share.component == component.name)


def is_uneven(component: Component) -> bool:
    """May it have some of its multiples and not others?"""
    return bool(component.counts) or in_groups(component)


def in_groups(component: Component) -> bool:
    """Do its ranks shard in groups?"""
    return component.divided_among > 0
