"""Given ranks that overlap in part, for a search of counts: ranks that are the same or share nothing, and by whom turns are taken."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Iterator

from ....models.component import COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER, SUBSET, TOGETHER, Component
from ....models.planning.way import Way
from ....models.planning.workload import RLINF, RLINF_EMBODIED, STREAM
from ....models.problem import Problem
from .put_apart import Seats, of_the_busiest, on, places, sharing, times_of
from .related import hold

SHARED = (*TOGETHER, SUBSET, IN_ORDER)
"""Relations by which others are on the same accelerators, or which these are depends on theirs."""
NONE_SHARED = (DISJOINT, COLOCATED_OR_DISJOINT)
"""Relations that hold of components whose ranks are given and others that may not use their accelerators."""


def taking_turns(problem: Problem) -> Problem | None:
    """The problem with ranks that are the same or apart instead of those that overlap in part; None where these say something else.

    An iteration takes as long. Who cannot work at the same time is said beside these ranks (`Job.one_at_a_time`); where the cost model
    adds up what works on each accelerator, those have their times that are on the busiest. It is so only where nobody else may use these
    accelerators. What else is asked of given ranks, such as their memory, is left out: designs are placed around the ranks of the file.
    """
    workload, job = problem.job.workload, problem.job
    if workload is None or workload.model in (RLINF, RLINF_EMBODIED) or problem.previous is not None:
        return None
    if job.laying is not None or job.followed:  # more is said of them than how long they take
        return None
    parts, pairs = {each.name: each for each in problem.components}, set[tuple[str, str]]()
    for names, seats in overlapping(problem):
        times = {name: its for name in names if (its := times_of(problem, problem[name]))}
        if len(times) < len(names) or any(_is_concerned(problem, problem[name]) for name in names):
            return None
        kept = times if workload.model == STREAM else of_the_busiest(seats, times, workload.model)
        pairs |= sharing(seats) if workload.model == STREAM else set()
        for users, where in places(problem, seats, workload.model == STREAM):
            parts.update((name, on(problem[name], where, kept[name])) for name in users)
    turned = frozenset(name for name, its in parts.items() if its is not problem[name])
    ways = tuple(way.among(frozenset(parts) - turned) for way in job.ways if _may_be(problem, way, turned))
    if job.ways and not ways:
        return None
    held = replace(
        job, components=tuple(parts.values()), one_at_a_time=frozenset(pairs), ways=ways,
        relations=tuple(each for each in job.relations if turned.isdisjoint(each.components)),
        accepted={name: its for name, its in job.accepted.items() if name not in turned},
        shares=tuple(each for each in job.shares if each.component not in turned),
        links=tuple(each for each in job.links if turned.isdisjoint((each.source, each.target))),
    )  # fmt: skip
    return replace(problem, job=held)


def overlapping(problem: Problem) -> Iterator[tuple[tuple[str, ...], Seats]]:
    """Given components that share some accelerators with each other, directly or through others, where any two of these overlap in part."""
    seats = {each.name: problem.given().accelerators(each.name) for each in problem.components if each.runs and hold(problem, each.name)}
    left = [name for name, its in seats.items() if its]
    while left:
        names, before = {left[0]}, set[str]()
        while names != before:
            before = set(names)
            names |= {name for name in left if any(seats[name] & seats[other] for other in before)}
        its = {name: seats[name] for name in left if name in names}
        left = [name for name in left if name not in names]
        if any(one & other and not (one <= other or other <= one) for one, other in combinations(its.values(), 2)):
            yield tuple(its), its


def _is_concerned(problem: Problem, component: Component) -> bool:
    """Does anything of it matter to the designs of others, beside its accelerators and its times?

    What matters only to where these lie does where the file's own ranks are compared, or what crosses the topology counts as time.
    """
    job, name, workload = problem.job, component.name, problem.job.workload
    related = [each for each in job.relations if name in each.components and any(problem[its].runs is None for its in each.components)]
    chosen = name in job.choices or name in job.tied or name in job.tied.values()
    placed = bool(
        component.traffic or component.cpus or component.host_memory or [each for each in related if each.kind not in NONE_SHARED]
    )
    placed = placed or any(name in (each.source, each.target) for each in job.links)
    return may_be_shared(problem, component) or chosen or (placed and bool(job.own or (workload and workload.bandwidth)))


def may_be_shared(problem: Problem, component: Component) -> bool:
    """May others whose place is open be on accelerators of a component whose ranks are given?"""
    said = (each for each in problem.job.relations if component.name in each.components and each.kind in SHARED)
    return component.name in problem.job.overlaps or any(problem[name].runs is None for each in said for name in each.components)


def _may_be(problem: Problem, way: Way, turned: frozenset[str]) -> bool:
    """Are the given ranks of these as a way has them, others on none of their accelerators?"""
    given = problem.given()

    def shared(one: str, other: str) -> tuple[bool, bool]:
        """Do they share some accelerators, and all of them?"""
        if any(problem[name].runs is None for name in (one, other)):
            return False, False
        its, theirs = given.accelerators(one), given.accelerators(other)
        return bool(its & theirs), its == theirs

    together = (shared(*pair)[1] for pair in way.together if not turned.isdisjoint(pair))
    apart = (not shared(*pair)[0] for pair in way.apart if not turned.isdisjoint(pair))
    return all(together) and all(apart)
