"""Given components that planned ones may lie over take no accelerators of the budget where these do: so they do where it asks for that."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Iterator, Sequence

from ....models.answer import UNDECIDED, Answer, Solve
from ....models.component import SUBSET, Component, Relation
from ....models.findings.finding import error
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment, Run, compress
from ....models.problem import Problem
from ...wording import listed

REASON = "the budget of accelerators"
MOST = 32
"""Ranges around given components that are tried, at most."""


def within_budget(place: Solve, most: int | None) -> Solve:
    """How a problem is placed on `most` accelerators, those of given components among them, given how any is; None: on any number.

    The counts of a design leave out given components that may be shared (`Job.overlaps`). A placement beside these that uses more is
    none: then each of them must lie within the planned component that has the most, of those that may share with it. The best of such
    placements is not looked for, only one that holds.
    """

    def answer(problem: Problem) -> Answer:
        found = place(problem)
        if most is None or found.plan is None or not problem.job.overlaps or not problem.hinted:
            return found
        used = _used(problem, found.plan.assignment)
        if used <= most:
            return found
        for each in _over(problem):
            over = place(each)
            if over.plan is not None and _used(problem, over.plan.assignment) <= most:
                return over
        names = listed([f"`{name}`" for name in problem.job.overlaps])
        message = f"undecided: {used} accelerators are used beside {names}, {most} may be; over {names} no placement was found"
        return Answer(UNDECIDED, findings=(error("PW602", "", message, help=f"say `seconds` of {names}, or allow more"),), how="given")

    return answer


def _used(problem: Problem, placed: Assignment) -> int:
    """How many accelerators all components hold."""
    return len(frozenset[tuple[int, int]]().union(*(placed.accelerators(each.name) for each in problem.components)))


def _over(problem: Problem) -> Iterator[Problem]:
    """The problem in which what may be shared lies within what is planned: in each range of that around it, where it is a range."""
    job, chosen = problem.job, dict[str, list[str]]()
    for name, sharing in job.overlaps.items():
        held = problem.given().held(name)
        parts = [each for each in problem.components if each.name in sharing and each.runs is None and each.most >= held]
        hosts = [each for each in parts if problem.kind(each) == ACCELERATOR and each.least == each.most]
        if hosts:
            chosen.setdefault(max(hosts, key=lambda each: each.most).name, []).append(name)
    if not any(problem[host].contiguous for host in chosen):
        relations = [Relation(SUBSET, (name, host), reason=REASON) for host, names in chosen.items() for name in names]
        yield replace(problem, job=replace(job, relations=(*job.relations, *relations)))
        return
    for host, names in chosen.items():
        for runs in islice(_around(problem, problem[host], names), MOST):
            components = tuple(replace(each, runs=runs) if each.name == host else each for each in problem.components)
            yield replace(problem, job=replace(job, components=components))


def _around(problem: Problem, host: Component, names: Sequence[str]) -> Iterator[tuple[Run, ...]]:
    """The ranges of a component that hold all accelerators of these given ones, the lowest first."""
    numbering = problem.cluster.numbering(problem.range_in(host))
    held = [
        numbering.first[node] + index for name in names for node, index in problem.given().accelerators(name) if node in numbering.first
    ]
    size, count = host.per_process, host.most
    for first in range(max(max(held, default=0) - count + 1, 0), min(min(held, default=0), numbering.size - count) + 1):
        seats = [(numbering.locate(rank)[0].node_rank, numbering.locate(rank)[1]) for rank in range(first, first + count)]
        yield compress((rank, seats[rank * size : (rank + 1) * size]) for rank in range(count // size))
