"""The problem with one choice of the degrees that several components have alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ....models.parallel import Parallel
from ....models.planning.planned import Planned
from ....models.planning.question import Question
from ....models.problem import Problem


def as_written(problem: Problem) -> Problem:
    """The problem with the degrees of the file itself, of all whose degrees others have too."""
    return with_degrees(problem, {leader: problem[leader].parallel for leader in problem.job.tied.values()})


def as_chosen(problem: Problem, planned: Planned) -> Problem:
    """The problem with the degrees of the best design, of all whose degrees others have too."""
    options = planned.best.design.options
    return with_degrees(problem, {leader: options[leader].parallel for leader in problem.job.tied.values() if leader in options})


def as_asked(problem: Problem, question: Question) -> Problem:
    """The problem with the degrees that one of the questions has which come of it."""
    leaders = {leader: question.options.get(leader) for leader in problem.job.tied.values()}
    return with_degrees(problem, {leader: its[0].parallel for leader, its in leaders.items() if its})


def with_degrees(problem: Problem, degrees: Mapping[str, Parallel]) -> Problem:
    """The problem with these degrees, which the components that follow one of these have too.

    With other degrees than the file's own, its own placement is none that could be kept.
    """
    job = problem.job
    if not degrees and not job.tied:
        return problem
    all_of_them = {**degrees, **{name: degrees[leader] for name, leader in job.tied.items() if leader in degrees}}
    components = tuple(replace(each, parallel=all_of_them.get(each.name, each.parallel)) for each in job.components)
    choices = {name: its for name, its in job.choices.items() if name not in degrees}
    own = job.own if all(problem.own_degrees(problem[name]) == its for name, its in degrees.items()) else {}
    return replace(problem, job=replace(job, components=components, choices=choices, own=own, tied={}))
