"""Why a component with none of its degrees has room on the nodes that it may use."""

from __future__ import annotations

from dataclasses import replace

from ....models.component import Component
from ....models.findings.wording import with_noun
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ....models.record import dataclass
from ...rules.groups.group_in_node import groups_over_nodes
from ..asking.room import Room

NO_WAY, NO_PLAN = "can be run in no way", "is in no plan"
"""What is said of a component that cannot be run, and of one that its own ranks alone run."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What room is lacking, what helps, and the figures of it; `way`: what that means for the component."""

    told: str
    help: str
    witnesses: tuple[int, ...]
    way: str = NO_WAY


def too_wide(problem: Problem, component: Component, space: Room) -> Lacking | None:
    """Where one node has to hold together more accelerators than any node has that it may use, whatever its degrees.

    A plan has each group, and each process, on one node; ranks that the file itself gives may lie over nodes where their framework takes
    them, and stay where nobody says how long the component takes.
    """
    choices = [problem.divided(component.name, each) for each in problem.job.choices.get(component.name, (component.parallel,))]
    need, parallel = min(((space.group(problem, replace(component, parallel=its)), its) for its in choices), key=lambda each: each[0])
    may = {node for kind in range(len(space.kinds)) for node in space.allowed(problem, component, kind)}
    have = max((space.free[node] for node in may if node in space.free), default=0)
    if need <= have:
        return None
    told = f"{parallel} needs {with_noun(need, 'accelerator')} of one node, and the largest that it may use has {have}"
    helps, way = "lower its degrees, or let it use larger nodes", NO_WAY
    if _lies_over_nodes(problem, component):
        told, way = f"{told}; its own ranks over nodes are slow, and not refused", NO_PLAN
        helps = "lower its degrees, let it use larger nodes, or leave its `seconds` out: its ranks then stay"
    return Lacking(told, helps, (need, have), way)


def _lies_over_nodes(problem: Problem, component: Component) -> bool:
    """Has it ranks of its own with a group over nodes, where its framework takes these?"""
    own, able = problem.job.own.get(component.name), problem.job.capabilities
    tp = problem.divided(component.name, problem.own_degrees(component)).tp
    return (
        own is not None and able.groups_may_cross and bool(groups_over_nodes(tp, Assignment({component.name: own}).repeats(component.name)))
    )


def too_many(problem: Problem, component: Component, space: Room) -> Lacking | None:
    """Where the smallest of its replicas takes more accelerators than there are that it may use."""
    shapes = problem.job.shapes.get(component.name, {})
    if any(not each.least for each in shapes.values()):
        return None  # what a process takes then depends on its framework's way
    choices = problem.job.choices.get(component.name, (component.parallel,))
    least = {its: shapes[its].least if its in shapes else replace(component, parallel=its).step for its in choices}
    parallel, need = min(least.items(), key=lambda each: each[1])
    one = replace(component, parallel=problem.divided(component.name, parallel))
    size, have = space.group(problem, one), max(space.most(problem, one, kind) for kind in range(len(space.kinds)))
    if need <= have:
        return None
    whole = f" in groups of {size} on one node" if size > 1 else ""
    told = f"{parallel} needs {with_noun(need, 'accelerator')}{'' if shapes else ' for a replica'}, and it may use {have}{whole}"
    return Lacking(told, "lower its degrees, or let it use other nodes", (need, have))
