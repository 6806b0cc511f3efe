"""Problem with a choice of the degrees that several components share."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Iterator, Mapping

from .parallel import Parallel
from .planning.spec import DegreeChoice
from .problem import Problem


def as_written(problem: Problem) -> Problem:
    """Return the problem with the file's own degrees for all leaders."""
    return with_degrees(problem, {leader: problem.own_degrees(problem[leader]) for leader in problem.job.leaders})


def with_degrees(problem: Problem, degrees: Mapping[str, Parallel]) -> Problem:
    """Return the problem with the given degrees and their consequences.

    Components that follow a leader get its degrees, unless `followed` states other ones. If the
    degrees differ from the file's own, its placement is no longer a candidate to keep.
    """
    job = problem.job
    if not degrees and not job.planning.tied:
        return problem
    all_degrees = (
        dict(degrees)
        if job.planning.followed
        else {**degrees, **{name: degrees[leader] for name, leader in job.planning.tied.items() if leader in degrees}}
    )
    components = tuple(replace(component, parallel=all_degrees.get(component.name, component.parallel)) for component in job.components)
    if choice := follow(problem, degrees):
        changes_of_names = {name: change.named for name, change in choice.changes.items()}
        components = tuple(replace(component, **changes_of_names.get(component.name, {})) for component in components)  # type: ignore[arg-type]
        job = replace(job, planning=replace(job.planning, ways=choice.ways, accepted=choice.accepted))
    choices = {name: choices_of for name, choices_of in job.choices.items() if name not in degrees}
    own_placement = job.planning.own if all(problem.own_degrees(problem[name]) == value for name, value in degrees.items()) else {}
    return replace(
        problem,
        job=replace(job, components=components, choices=choices, planning=replace(job.planning, own=own_placement, tied={}, followed=())),
    )


def each_choice(problem: Problem) -> Iterator[Problem]:
    """Yield the problem for every accepted choice of leading degrees, itself without any."""
    leaders = {leader: choices for leader in problem.job.leaders if (choices := problem.job.choices.get(leader))}
    accepted_choices = {tuple(entry.degrees.get(name) for name in leaders) for entry in problem.job.planning.followed}
    every = product(*leaders.values())
    return (with_degrees(problem, dict(zip(leaders, choice))) for choice in every if not accepted_choices or choice in accepted_choices)


def follow(problem: Problem, degrees: Mapping[str, Parallel]) -> DegreeChoice | None:
    """Return the consequences of degrees beyond equal degrees of followers."""
    return next((entry for entry in problem.job.planning.followed if entry.degrees == degrees), None)
