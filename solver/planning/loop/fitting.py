"""Whether a design has a placement at all, however good it is; and the file's own placement as the one of a design."""

from __future__ import annotations

from dataclasses import replace

from ....models.planning.design import Design
from ....models.planning.question import Question
from ....models.problem import Problem
from ..placing.placing import placing


def fitting(problem: Problem, question: Question, design: Design) -> Problem:
    """The problem of placing a design in any way that holds: nothing is weighed, unless the file limits what it comes to."""
    return unweighed(placing(problem, question, design))


def unweighed(placed: Problem) -> Problem:
    """The same without what only says which placement is the better one."""
    if placed.caps:
        return placed
    components = tuple(replace(each, traffic=0) for each in placed.components)
    return replace(placed, job=replace(placed.job, components=components, links=()), previous=None)


def as_written(problem: Problem, question: Question, design: Design) -> Problem:
    """The problem of a design whose components lie where the file itself has them.

    With whom a component goes along that has no times is how a plan would have it, and no demand.
    """
    placed = placing(problem, question, design)
    relations = tuple(each for each in placed.job.relations if not each.proposed)
    own, servers = problem.job.own, problem.job.own_servers
    components = tuple(
        replace(each, runs=own.get(each.name, each.runs), server=servers.get(each.name, each.server)) for each in placed.components
    )
    return replace(placed, job=replace(placed.job, components=components, relations=relations, laying=None, accepted={}, choices={}))
