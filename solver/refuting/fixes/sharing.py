"""Given components hold the room that searched ones need: who they are, and that sharing it would do, if it would."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.component import COLOCATED, SUBSET, Component, Relation
from ....models.demand import Clause
from ....models.findings.wording import with_noun
from ....models.machines.node_group import ACCELERATOR, NODE
from ....models.part import explicit
from ....models.problem import Problem
from ...wording import listed
from ..conflict import SHARED, Change
from ..rows.row import Row
from .trial import Apply, Trial

MAX_GIVEN = 4
"""For so many given components sharing is tried."""


def holders_of_room(problem: Problem, row: Row) -> Iterator[Clause]:
    """What given components hold that the components of the row cannot have."""
    given = _given(problem, row)
    if given:
        names = [component.name for component in given]
        kinds = dict.fromkeys(problem.kind(component) for component in given)
        counts = [(problem.given().held_together(names, kind), "accelerator" if kind == ACCELERATOR else kind) for kind in kinds]
        held = listed([with_noun(count, unit) for count, unit in counts])
        verb = "holds" if len(given) == 1 else "hold"
        yield Clause(f"{listed(names)} {verb} {held}; placed components are shared only if you add `colocate_with:` or `within:`")


def shared_room(trial: Trial, row: Row) -> Iterator[Change]:
    """Hints that share with given components."""
    problem, seen = trial.problem, set()
    for component in row.components:
        members = next(its for its in problem.colocated_sets if component.name in {each.name for each in its})
        if component.runs is not None or members in seen:
            continue
        seen.add(members)
        for given in _given(problem, row)[:MAX_GIVEN]:
            size = problem.given().held(given.name, problem.kind(given))
            together, inside = _with(COLOCATED, component, given), _inside(given, component, size)
            if trial.works(together):
                yield Change(f"add `colocate_with: {given.name}` to {component.name}", (SHARED, 0.0), together)
            elif trial.works(inside):
                text = f"give {given.name} no ranks but the hints `{{accelerators: {size}, within: {component.name}}}`"
                yield Change(text, (SHARED, 1.0), inside)


def _given(problem: Problem, row: Row) -> list[Component]:
    """The given components that hold resources of the kind that the row counts, and are not in it."""
    if not problem.job.capabilities.shares_accelerators:
        return []
    names = {component.name for component in row.components}
    kinds = {problem.kind(component) for component in row.components if component.runs is None} - {NODE}
    return [each for each in explicit(problem).components if problem.kind(each) in kinds and each.name not in names and each.runs]


def _with(kind: str, one: Component, other: Component) -> Apply:
    def apply(problem: Problem) -> Problem:
        relations = (*problem.job.relations, Relation(kind, (one.name, other.name)))
        return replace(problem, job=replace(problem.job, relations=relations))

    return apply


def _inside(given: Component, component: Component, size: int) -> Apply:
    """One of the given components is left to solve within another, with as many accelerators as it has."""

    def apply(problem: Problem) -> Problem:
        its = tuple(replace(each, runs=None, least=size, most=size) if each.name == given.name else each for each in problem.components)
        return _with(SUBSET, given, component)(replace(problem, job=replace(problem.job, components=its)))

    return apply
