"""Given components hold the room that searched ones need: who they are, and that sharing it would do, if it would."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator

from ...models.component import COLOCATED, SUBSET, Component, Relation
from ...models.demand import Clause
from ...models.machines.node_group import NODE
from ...models.problem import Problem
from ..wording import listed, plural
from .certificate import counting_row
from .row import Row

Possible = Callable[[Problem], bool]
"""Solves a changed problem, so that no fix is offered that was not itself solved."""

MAX_GIVEN = 4
"""For so many given components sharing is tried."""


def holders_of_room(problem: Problem, row: Row) -> Iterator[Clause]:
    """What given components hold that the components of the row cannot have."""
    given = _given(problem, row)
    if given:
        held = sum(problem.given().held(component.name, problem.kind(component)) for component in given)
        verb, names = "holds" if len(given) == 1 else "hold", listed([component.name for component in given])
        yield Clause(
            f"{names} {verb} {held} {plural('accelerator', held)}; what is given is shared only as `colocate_with` or `within` says"
        )


def shared_room(problem: Problem, row: Row, possible: Possible) -> Iterator[str]:
    """Hints that share with given components, each of which was solved; "" is never among them."""
    seen = set()
    for component in row.components:
        members = next(its for its in problem.colocated_sets if component in its)
        if component.runs is not None or members in seen:
            continue
        seen.add(members)
        for given in _given(problem, row)[:MAX_GIVEN]:
            if _works(_with(problem, problem.components, COLOCATED, component, given), possible):
                yield f"add `colocate_with: {given.name}` to {component.name}"
            elif _works(_with(problem, _open(problem, given), SUBSET, given, component), possible):
                size = problem.given().held(given.name, problem.kind(given))
                yield f"give {given.name} no ranks but the hints `{{accelerators: {size}, within: {component.name}}}`"


def _given(problem: Problem, row: Row) -> list[Component]:
    """The given components that hold resources of the kind that the row counts, and are not in it."""
    if not problem.job.capabilities.shares_accelerators:
        return []
    kinds = {problem.kind(component) for component in row.components if component.runs is None} - {NODE}
    return [each for each in problem.explicit.components if problem.kind(each) in kinds and each not in row.components and each.runs]


def _open(problem: Problem, given: Component) -> tuple[Component, ...]:
    """The components, one of the given ones left to solve with as many accelerators as it has."""
    size = problem.given().held(given.name, problem.kind(given))
    return tuple(replace(each, runs=None, least=size, most=size) if each is given else each for each in problem.components)


def _with(problem: Problem, components: tuple[Component, ...], kind: str, one: Component, other: Component) -> Problem:
    relations = (*problem.job.relations, Relation(kind, (one.name, other.name)))
    return replace(problem, job=replace(problem.job, components=components, relations=relations))


def _works(changed: Problem, possible: Possible) -> bool:
    return counting_row(changed) is None and possible(changed)
