"""Components that may hold the same accelerators, and problems restricted to some components."""

from __future__ import annotations

from dataclasses import replace
from typing import AbstractSet as Set
from typing import Iterator

from .component import COLOCATED, SUBSET, TOGETHER, Component, Relation
from .machines.node_group import NODE
from .problem import Problem

Members = tuple[Component, ...]


def sharing_sets(problem: Problem) -> tuple[Members, ...]:
    """Return the sets of components that may hold the same accelerators freely.

    These are the colocated sets. If a dialect expresses colocation by overlapping ranks, all sets
    with given ranks are one.
    """
    shares = problem.job.capabilities.shares_accelerators
    explicit: list[Component] = []
    sets: list[Members] = []
    for members in problem.colocated_sets:
        if shares and any(component.runs is not None for component in members):
            explicit += members
        else:
            sets.append(members)
    return (*sets, tuple(explicit)) if explicit else tuple(sets)


def find_around(problem: Problem, sets: tuple[Members, ...]) -> dict[str, tuple[Members, ...]]:
    """Return first component of a set -> sets around it, directly or not.

    A set may share accelerators with the sets around it. Sets inside each other are also inside
    themselves. `sets` are disjoint.
    """
    home = {component.name: members for members in sets for component in members}
    direct: dict[str, list[Members]] = {members[0].name: [] for members in sets}
    for relation in problem.find_relations(SUBSET):
        inner, outer = (home[name] for name in relation.components)
        kinds = {problem.kind(problem[name]) for name in relation.components}  # several if given
        if inner is not outer and len(kinds) == 1 and NODE not in kinds:
            direct[inner[0].name].append(outer)
    enclosing: dict[str, tuple[Members, ...]] = {}
    for name, outers in direct.items():
        sets_around: dict[str, Members] = {}
        waiting = list(outers)
        while waiting:
            outer = waiting.pop(0)
            if outer[0].name not in sets_around:
                sets_around[outer[0].name] = outer
                waiting += direct[outer[0].name]
        enclosing[name] = tuple(sets_around.values())
    return enclosing


def implied_relations(problem: Problem, part: Problem) -> Iterator[Relation]:
    """Yield relations implied by components outside of `part`.

    Colocation and inclusion are transitive. `part` has some of the components, and the relations
    between them.
    """
    names_outside = {name for kind in (*TOGETHER, SUBSET) for relation in problem.find_relations(kind) for name in relation.components}
    names_outside -= {component.name for component in part.components}
    if not names_outside:
        return
    home = {component.name: members[0].name for members in part.colocated_sets for component in members}
    sets_around = {name: {outer_set[0].name for outer_set in outers} for name, outers in find_around(part, part.colocated_sets).items()}
    outer = find_around(problem, problem.colocated_sets)
    for members in problem.colocated_sets:
        members_left = [component for component in members if component.name in home]
        for second in members_left[1:]:
            if home[second.name] != home[members_left[0].name]:
                yield Relation(COLOCATED, (members_left[0].name, second.name), reason=_places(names_outside & _names(members)))
        for host in (outer_set for outer_set in outer[members[0].name] if members_left and outer_set is not members):
            first = members_left[0]
            enclosing = next((member for member in host if member.name in home and problem.kind(member) == problem.kind(first)), None)
            if enclosing is not None and home[enclosing.name] not in sets_around[home[first.name]]:
                names = _names(members, host, *_find_between(outer, members, host))
                yield Relation(SUBSET, (first.name, enclosing.name), reason=_places(names_outside & names))


def _find_between(outer: dict[str, tuple[Members, ...]], members: Members, host: Members) -> Iterator[Members]:
    """Yield the sets between `members` and `host` in the nesting."""
    return (between for between in outer[members[0].name] if host in outer[between[0].name])


def _names(*sets: Members) -> set[str]:
    return {component.name for members in sets for component in members}


def _places(names: set[str]) -> str:
    return f"the place of {' and '.join(sorted(names))}"


def restrict(problem: Problem, names: Set[str]) -> Problem:
    """Return the problem restricted to `names`; relations implied by the rest are kept."""
    components = tuple(component for component in problem.components if component.name in names)
    if len(components) == len(problem.components):
        return problem
    choices = {name: degrees for name, degrees in problem.job.choices.items() if name in names}
    relations = tuple(relation for relation in problem.job.relations if names >= set(relation.components))
    part = replace(problem, job=replace(problem.job, components=components, choices=choices, relations=relations))
    consequences = tuple(implied_relations(problem, part))
    return replace(part, job=replace(part.job, relations=(*relations, *consequences))) if consequences else part


def given_part(problem: Problem) -> Problem:
    """Return the problem restricted to components with given ranks."""
    return restrict(problem, {component.name for component in problem.components if component.runs is not None})
