"""A component around given ranks wherever it can be: each set of accelerators that it may have is given to it in turn."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Iterator, Sequence

from ....models.answer import IMPOSSIBLE, Solve
from ....models.machines.node_group import ACCELERATOR
from ....models.part import among
from ....models.placements.assignment import Assignment, Seat
from ....models.problem import Problem
from ...layout.bundle import Bundle
from ...layout.parts import Parts
from .kept import Hosts, others_may_share
from .seats_of import Left, seats_of
from .split import Split, in_runs
from .ways import crosses, weighs

MOST_COMPARED = 32
"""Accelerators of a cluster, at most, on which sets are compared by what crosses."""
MOST_IN_ORDER = 1024
"""Sets of which it is seen what crosses, at most, before any is tried."""


def are_compared(problem: Problem) -> bool:
    """Are all sets compared by what crosses? On larger clusters the first that has a placement is taken: each takes a search."""
    return weighs(problem) and problem.cluster.total() <= MOST_COMPARED


def is_anywhere(problem: Problem, hosts: Hosts) -> bool:
    """Does it follow of each of these components from its accelerators alone whether they will do, whatever else is asked of it?"""
    job, names = problem.job, {component.name for host in hosts for component in host.components}
    if problem.caps or problem.unlike or job.laying is not None or names & set(job.choices):
        return False
    return all(host.kind == ACCELERATOR for host in hosts) and not any(not names.isdisjoint(pair) for pair in job.in_step)


def in_places(parts: Parts, hosts: Hosts, place: Solve, left: Left) -> Iterator[Split]:
    """The problem with the first of these components given, once for each set of accelerators that it may have.

    In what order its ranks lie there is searched of that component alone: nothing else asks for it. Where it is said what traffic
    costs, those come first with which the least of it is known to cross.
    """
    (host, inner), *_ = hosts.items()
    exact, tried = not others_may_share(parts, hosts), 0
    for crosses_there, seats in _sets(parts, host, inner, left):
        least = crosses_there if exact else 0
        if left.number <= 0 or seats is None:
            yield Split(None, exact=False, least=least)
            return
        left.number -= 1
        there = place(_there(parts.problem, host, seats))
        if there.plan is not None:
            tried += 1
            yield Split(_given(parts.problem, host, there.plan.assignment), exact=exact, least=least)
        elif there.verdict != IMPOSSIBLE:
            yield Split(None, exact=False, least=least)
    if not left.listed:
        yield Split(None, exact=False)
    elif not tried:
        yield Split(None, exact=exact, short=f"no accelerators that {host.name.replace('+', ' and ')} may have hold them")


def _sets(parts: Parts, host: Bundle, inner: Sequence[Bundle], left: Left) -> Iterator[tuple[int, frozenset[Seat] | None]]:
    """(what crosses at least, the accelerators) of each set; None for those that are missing: then nothing is known of what crosses."""
    its = seats_of(parts, host, inner, left)
    if not are_compared(parts.problem):
        yield from ((0, seats) for seats in its)
        return
    every = list(islice(its, MOST_IN_ORDER + 1))
    known = sorted(((_crosses(parts.problem, host, seats), seats) for seats in every[:MOST_IN_ORDER]), key=lambda each: each[0])
    if len(every) <= MOST_IN_ORDER and left.listed:
        yield from known
    else:
        yield from ((0, seats) for _, seats in known)
        yield 0, None


def _crosses(problem: Problem, host: Bundle, seats: frozenset[Seat]) -> int:
    return crosses(problem, {each.name: in_runs(problem, each, seats) for each in host.components})


def _there(problem: Problem, host: Bundle, seats: frozenset[Seat]) -> Problem:
    """The problem of one bundle alone, on exactly these accelerators."""
    part = among(problem, {each.name for each in host.components})
    masks: dict[int, int] = {}
    for node, index in seats:
        masks[node] = masks.get(node, 0) | 1 << index
    nodes = tuple(replace(each, taken=each.whole(ACCELERATOR) & ~masks.get(each.rank, 0)) for each in problem.cluster.nodes)
    components = tuple(replace(each, least=len(seats), most=len(seats)) for each in part.components)
    job = replace(part.job, components=components, links=())
    return replace(part, cluster=replace(problem.cluster, nodes=nodes), job=job, previous=None, explained=False)


def _given(problem: Problem, host: Bundle, placed: Assignment) -> Problem:
    """The problem in which a bundle has the ranks of a placement."""
    names = {each.name for each in host.components}
    parts = (
        replace(each, least=(count := placed.held(each.name)), most=count, runs=placed.of(each.name)) if each.name in names else each
        for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=tuple(parts)))
