"""Who may hold the same accelerators: components that are colocated, given ones where the dialect says so, and those within others."""

from __future__ import annotations

from typing import Iterator

from .component import COLOCATED, SUBSET, TOGETHER, Component, Relation
from .machines.node_group import NODE
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


def through_others(problem: Problem, part: Problem) -> Iterator[Relation]:
    """What follows in a problem of the places of components through others between them, and in a part of it without these does not.

    Who is together with one that is together with a third is together with the third; the same of who lies within whom. `part` has some
    of the components, and the relations between these.
    """
    gone = {name for kind in (*TOGETHER, SUBSET) for each in problem.related(kind) for name in each.components}
    gone -= {component.name for component in part.components}
    if not gone:
        return
    home = {component.name: members[0].name for members in part.colocated_sets for component in members}
    inside = {name: {its[0].name for its in outers} for name, outers in around(part, part.colocated_sets).items()}
    outer = around(problem, problem.colocated_sets)
    for members in problem.colocated_sets:
        kept = [component for component in members if component.name in home]
        for other in kept[1:]:
            if home[other.name] != home[kept[0].name]:
                yield Relation(COLOCATED, (kept[0].name, other.name), reason=_places(gone & _names(members)))
        for host in (its for its in outer[members[0].name] if kept and its is not members):
            one = kept[0]
            around_it = next((its for its in host if its.name in home and problem.kind(its) == problem.kind(one)), None)
            if around_it is not None and home[around_it.name] not in inside[home[one.name]]:
                names = _names(members, host, *_between(outer, members, host))
                yield Relation(SUBSET, (one.name, around_it.name), reason=_places(gone & names))


def _between(outer: dict[str, tuple[Members, ...]], members: Members, host: Members) -> Iterator[Members]:
    """The sets that one lies within and that lie within another."""
    return (its for its in outer[members[0].name] if host in outer[its[0].name])


def _names(*sets: Members) -> set[str]:
    return {component.name for members in sets for component in members}


def _places(names: set[str]) -> str:
    return f"the place of {' and '.join(sorted(names))}"
