"""Who may hold the same accelerators: components that are colocated, given ones where the dialect says so, and those within others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .component import SUBSET, Component
from .machines.node_group import NODE

if TYPE_CHECKING:
    from .problem import Problem

Members = tuple[Component, ...]


def holders(problem: Problem) -> tuple[Members, ...]:
    """The components, those together that may hold the same accelerators as they like.

    These are the colocated sets; where a dialect says colocation by overlapping ranks, all sets with given ranks are one.
    """
    shares = problem.job.capabilities.shares_accelerators
    given: list[Component] = []
    found: list[Members] = []
    for members in problem.colocated_sets:
        if shares and any(component.runs is not None for component in members):
            given += members
        else:
            found.append(members)
    return (*found, tuple(given)) if given else tuple(found)


def around(problem: Problem, sets: tuple[Members, ...]) -> dict[str, tuple[Members, ...]]:
    """For each of these disjoint sets, by the name of its first component, those that it lies within, directly or not.

    What a set lies within it may share accelerators with. Sets that lie within each other lie within themselves too.
    """
    home = {component.name: members for members in sets for component in members}
    direct: dict[str, list[Members]] = {members[0].name: [] for members in sets}
    for relation in problem.related(SUBSET):
        inner, outer = (home[name] for name in relation.components)
        kinds = {problem.kind(problem[name]) for name in relation.components}  # given sets hold several
        if inner is not outer and len(kinds) == 1 and NODE not in kinds:
            direct[inner[0].name].append(outer)
    found: dict[str, tuple[Members, ...]] = {}
    for name, outers in direct.items():
        reached: dict[str, Members] = {}
        waiting = list(outers)
        while waiting:
            outer = waiting.pop(0)
            if outer[0].name not in reached:
                reached[outer[0].name] = outer
                waiting += direct[outer[0].name]
        found[name] = tuple(reached.values())
    return found
