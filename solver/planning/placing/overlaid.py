"""What is planned may lie over given components that let it: these hold nothing back, and are put back where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Collection, Iterator

from ....models.answer import UNDECIDED, Answer
from ....models.component import SUBSET, TOGETHER, Component
from ....models.findings.finding import error
from ....models.placements.assignment import Assignment
from ....models.problem import Problem

Solve = Callable[[Problem], Answer]


def overlaid(place: Solve) -> Solve:
    """How a problem is placed whose given components others may use too (`Job.overlaps`), given how any problem is.

    What such a component holds is free; where that leaves no placement there is none. Where what must not use it does, that is placed
    before the others, or the given component holds what it has after all; if neither has a placement, nobody knows whether there is one.
    """

    def answer(problem: Problem) -> Answer:
        overlaps = {name: its for name, its in problem.job.overlaps.items() if not _is_related(problem, name)}
        problem = replace(problem, job=replace(problem.job, overlaps=overlaps))
        if not overlaps or not problem.hinted:
            return place(problem)
        found = place(_without(problem, overlaps))
        if found.plan is None:
            return found
        if met := sorted(_met(problem, found.plan.assignment)):
            found = _one_by_one(problem, place)
            if found.plan is None:
                found = place(_without(problem, overlaps.keys() - set(met)))
        if found.plan is None or any(_met(problem, found.plan.assignment)):
            return _undecided(met, found)
        checked = place(_given(problem, found.plan.assignment))
        return checked if checked.plan is not None else _undecided(sorted(overlaps), checked)

    return answer


def _is_related(problem: Problem, name: str) -> bool:
    """Is it demanded that others are on its accelerators, or within them? Then that says where these are."""
    return any(name in each.components for kind in (*TOGETHER, SUBSET) for each in problem.related(kind))


def _one_by_one(problem: Problem, place: Solve) -> Answer:
    """First what must not lie over all that is given, then the rest around it."""
    free = set(problem.job.overlaps)
    bound = {each.name for each in problem.hinted if any(each.name not in beside for beside in problem.job.overlaps.values())}
    first = place(_without(problem, {each.name for each in problem.hinted} - bound))
    if first.plan is None or not bound:
        return first
    placed = first.plan.assignment
    parts = tuple(replace(each, runs=placed.of(each.name)) if each.name in bound else each for each in problem.components)
    return place(_without(replace(problem, job=replace(problem.job, components=parts)), free))


def _without(problem: Problem, names: Collection[str]) -> Problem:
    """The problem without these components, and what is said of them and others."""
    kept = tuple(each for each in problem.components if each.name not in names)
    left = {each.name for each in kept}
    relations = tuple(each for each in problem.job.relations if left.issuperset(each.components))
    links = tuple(each for each in problem.job.links if left.issuperset((each.source, each.target)))
    return replace(problem, job=replace(problem.job, components=kept, relations=relations, links=links, overlaps={}))


def _met(problem: Problem, placed: Assignment) -> Iterator[str]:
    """The given components that share an accelerator with a component that must not use what they hold."""
    given = problem.given()
    for name in problem.job.overlaps:
        mine = given.masks(name)
        for other in problem.hinted:
            theirs = placed.masks(other.name) if other.name not in problem.job.overlaps[name] else {}
            if any(mask & theirs.get(place, 0) for place, mask in mine.items()):
                yield name
                break


def _given(problem: Problem, placed: Assignment) -> Problem:
    """The problem of checking a placement: all ranks are given."""

    def at(component: Component) -> Component:
        return component if component.runs is not None else replace(component, runs=placed.of(component.name))

    return replace(problem, job=replace(problem.job, components=tuple(map(at, problem.components)), overlaps={}))


def _undecided(names: list[str], found: Answer) -> Answer:
    """The answer where a placement was found that does not hold, or another way to place it is not searched."""
    told = ", ".join(f"`{name}`" for name in names)
    message = f"no placement was found over {told}, whose ranks are given, or beside: not all ways are searched"
    return Answer(
        UNDECIDED, findings=(error("PW602", "", message, help=f"say `seconds` of {told}, or move it"), *found.findings), how="given"
    )
