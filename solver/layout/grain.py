"""What must not be cut: how many resources of a component one NUMA domain, one node or one wider domain holds whole."""

from __future__ import annotations

from math import lcm
from typing import Iterable

from ...models.component import Component
from ...models.locality import EP, REPLICA, TP, WHOLE, Keep
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS, NODE_LEVEL, NUMA
from ...models.problem import Problem


def size_of(component: Component, keep: Keep) -> int:
    """Accelerators of one group that a demand keeps together; all of them where it is the whole component of a known size, else 1."""
    parallel = component.parallel
    if keep.what == WHOLE:
        return component.least if component.least == component.most and keep.domains == 1 else 1
    return {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}[keep.what]


def whole_in(problem: Problem, component: Component, level: str) -> int:
    """What the component has in each domain of a level is a multiple of this, by what is said of that level itself."""
    asked = (keep for keep in component.keep if keep.required and keep.level == level)
    kept = lcm(*(size_of(component, keep) for keep in asked if keep.what != WHOLE or level not in LEVELS))
    strided = component.contiguous and component.stride > 1 and component.group_size > 1
    if level == NUMA and kept > 1 and strided:
        return lcm(kept, component.block)  # every group is all over its block
    if level != NODE_LEVEL or problem.kind(component) == NODE:
        return kept
    # A tensor parallel group stays on one node, unless its own demand says otherwise; a process always does.
    crosses = any(keep.what == TP for keep in component.keep)
    if crosses:
        group = component.per_process * (component.stride if strided and component.per_process > 1 else 1)
    else:
        group = component.unit
    return lcm(kept, group, problem.whole_replica(component))


def piece(problem: Problem, members: Iterable[Component]) -> int:
    """Resources that one NUMA domain holds whole."""
    return lcm(*(whole_in(problem, component, NUMA) for component in members))


def unit(problem: Problem, members: Iterable[Component]) -> int:
    """Resources that one node holds whole."""
    members = tuple(members)
    return lcm(piece(problem, members), *(whole_in(problem, component, NODE_LEVEL) for component in members))


def is_single(members: Iterable[Component]) -> bool:
    """Is all of one of them one piece, for one node or one NUMA domain?"""
    asked = ((component, keep) for component in members for keep in component.keep if keep.required and keep.what == WHOLE)
    return any(keep.level not in LEVELS and keep.domains == 1 and component.least == component.most for component, keep in asked)


def wholes(problem: Problem, members: Iterable[Component]) -> tuple[tuple[str, int], ...]:
    """(level above the node, what its domains hold multiples of), the widest first; only where that says more than the unit."""
    members, least = tuple(members), unit(problem, members)
    found = [(level, lcm(*(whole_in(problem, component, level) for component in members))) for level in LEVELS]
    return tuple((level, lcm(size, least)) for level, size in found if least % size)
