"""Problem with one choice of the degrees that several components have alike."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Iterator, Mapping

from .parallel import Parallel
from .planning.planned import Planned
from .planning.problem import PlanningProblem
from .planning.spec import Followed
from .problem import Problem


def as_written(problem: Problem) -> Problem:
    """The problem with the degrees of the file itself, of all whose degrees others have too."""
    return with_degrees(problem, {leader: problem.own_degrees(problem[leader]) for leader in problem.job.leaders})


def as_chosen(problem: Problem, planned: Planned) -> Problem:
    """The problem with the degrees of the best design, of all whose degrees others have too."""
    options = planned.best.design.options
    return with_degrees(problem, {leader: options[leader].parallel for leader in problem.job.leaders if leader in options})


def as_asked(problem: Problem, question: PlanningProblem) -> Problem:
    """The problem with the degrees with which one of the questions is asked that come of it."""
    return with_degrees(problem, question.leading)


def with_degrees(problem: Problem, degrees: Mapping[str, Parallel]) -> Problem:
    """The problem with these degrees, and what follows from them: the components that follow one of these have them too, unless it is said.

    With other degrees than the file's own, its own placement is none that could be kept.
    """
    job = problem.job
    if not degrees and not job.planning.tied:
        return problem
    all_of_them = (
        dict(degrees)
        if job.planning.followed
        else {**degrees, **{name: degrees[its] for name, its in job.planning.tied.items() if its in degrees}}
    )
    components = tuple(replace(each, parallel=all_of_them.get(each.name, each.parallel)) for each in job.components)
    if choice := followed(problem, degrees):
        named = {name: changed.named for name, changed in choice.changes.items()}
        components = tuple(replace(each, **named.get(each.name, {})) for each in components)  # type: ignore[arg-type]
        job = replace(job, planning=replace(job.planning, ways=choice.ways, accepted=choice.accepted))
    choices = {name: its for name, its in job.choices.items() if name not in degrees}
    own = job.planning.own if all(problem.own_degrees(problem[name]) == its for name, its in degrees.items()) else {}
    return replace(
        problem, job=replace(job, components=components, choices=choices, planning=replace(job.planning, own=own, tied={}, followed=()))
    )


def each_choice(problem: Problem) -> Iterator[Problem]:
    """The problem with each choice of the degrees that others follow, but for those that its framework refuses; itself where none do."""
    leaders = {leader: choices for leader in problem.job.leaders if (choices := problem.job.choices.get(leader))}
    known = {tuple(each.degrees.get(name) for name in leaders) for each in problem.job.planning.followed}
    every = product(*leaders.values())
    return (with_degrees(problem, dict(zip(leaders, chosen))) for chosen in every if not known or chosen in known)


def followed(problem: Problem, degrees: Mapping[str, Parallel]) -> Followed | None:
    """What follows from these degrees, where that is more than that others have the same."""
    return next((each for each in problem.job.planning.followed if each.degrees == degrees), None)
