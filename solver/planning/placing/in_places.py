"""A component around given ranks wherever it can be: each set of accelerators that it may have is given to it in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.answer import IMPOSSIBLE, Solve
from ....models.machines.node_group import ACCELERATOR
from ....models.part import among
from ....models.placements.assignment import Assignment, Seat
from ....models.problem import Problem
from ...layout.bundle import Bundle
from ...layout.parts import Parts
from .kept import Hosts, others_may_share
from .seats_of import Left, seats_of
from .split import Split


def is_anywhere(problem: Problem, hosts: Hosts) -> bool:
    """Does it follow of each of these components from its accelerators alone whether they will do, whatever else is asked of it?"""
    job, names = problem.job, {component.name for host in hosts for component in host.components}
    if problem.caps or problem.unlike or job.laying is not None or names & set(job.choices):
        return False
    return all(host.kind == ACCELERATOR for host in hosts) and not any(not names.isdisjoint(pair) for pair in job.in_step)


def in_places(parts: Parts, hosts: Hosts, place: Solve, left: Left) -> Iterator[Split]:
    """The problem with the first of these components given, once for each set of accelerators that it may have.

    In what order its ranks lie there is searched of that component alone: nothing else asks for it.
    """
    (host, inner), *_ = hosts.items()
    exact, tried = not others_may_share(parts, hosts), 0
    for seats in seats_of(parts, host, inner, left):
        if left.number <= 0:
            yield Split(None, exact=False)
            return
        left.number -= 1
        there = place(_there(parts.problem, host, seats))
        if there.plan is not None:
            tried += 1
            yield Split(_given(parts.problem, host, there.plan.assignment), exact=exact)
        elif there.verdict != IMPOSSIBLE:
            yield Split(None, exact=False)
    if not left.listed:
        yield Split(None, exact=False)
    elif not tried:
        yield Split(None, exact=exact, short=f"no accelerators that {host.name.replace('+', ' and ')} may have hold them")


def _there(problem: Problem, host: Bundle, seats: frozenset[Seat]) -> Problem:
    """The problem of one bundle alone, on exactly these accelerators."""
    part = among(problem, {each.name for each in host.components})
    masks: dict[int, int] = {}
    for node, index in seats:
        masks[node] = masks.get(node, 0) | 1 << index
    nodes = tuple(replace(each, taken=each.whole(ACCELERATOR) & ~masks.get(each.rank, 0)) for each in problem.cluster.nodes)
    components = tuple(replace(each, least=len(seats), most=len(seats)) for each in part.components)
    job = replace(part.job, components=components, links=())
    return replace(part, cluster=replace(problem.cluster, nodes=nodes), job=job, previous=None)


def _given(problem: Problem, host: Bundle, placed: Assignment) -> Problem:
    """The problem in which a bundle has the ranks of a placement."""
    names = {each.name for each in host.components}
    parts = (
        replace(each, least=(count := placed.held(each.name)), most=count, runs=placed.of(each.name)) if each.name in names else each
        for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=tuple(parts)))
