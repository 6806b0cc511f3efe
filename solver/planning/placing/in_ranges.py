"""A component in one range of ranks around given ones: each range that it may have is tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ....models.findings.finding import Severity
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Seat
from ....models.problem import Problem
from ...given import check_given
from ...layout.bundle import Bundle
from ...layout.parts import Parts
from .kept import Hosts, may_have
from .split import Split, in_runs

MOST = 32
"""Ranges that are tried at most: each is a placement of all else."""


def is_one_range(problem: Problem, hosts: Hosts) -> bool:
    """Is there one open bundle alone around given ones, and do its accelerators follow from where its range begins and how long it is?"""
    job, (host, *others) = problem.job, hosts
    if others or host.kind != ACCELERATOR or not host.contiguous or problem.caps or problem.unlike or job.laying is not None:
        return False
    return not any(each.stride > 1 or each.any_order or each.pins or each.name in job.choices for each in host.components)


def in_ranges(parts: Parts, hosts: Hosts) -> Iterator[Split]:
    """The problem with each range given that holds what lies within it."""
    problem, (host,) = parts.problem, hosts
    seats = [
        (stretch.node_rank, index) for stretch in problem.cluster.numbering(host.solid_in or ()).stretches for index in range(stretch.count)
    ]
    inside = frozenset(seat for each in hosts[host] for one in each.components for seat in problem.given().accelerators(one.name))
    ranges = list(_ranges(host, seats, inside))
    if seats != sorted(seats) or len(ranges) > MOST:
        yield Split(None, exact=False)
        return
    for its in ranges:
        rest = _given(problem, host, its)
        if _is_refused(rest):
            yield Split(None, short=_short(host))
        else:
            yield Split(rest)
    if not ranges:
        yield Split(None, short=_short(host))


def _short(host: Bundle) -> str:
    return f"no range that {host.name.replace('+', ' and ')} may have holds them"


def _ranges(host: Bundle, seats: Sequence[Seat], inside: frozenset[Seat]) -> Iterator[Sequence[Seat]]:
    """The ranges of these accelerators, of all lengths that it may have, that hold all that lies inside; the shortest first."""
    if not inside <= set(seats):
        return
    first, last = min(map(seats.index, inside)), max(map(seats.index, inside))
    for size in range(max(host.least * host.unit, last - first + 1), min(host.most * host.unit, len(seats)) + 1):
        if size % host.unit == 0 and may_have(host, size):
            for start in range(max(last - size + 1, 0), min(first, len(seats) - size) + 1):
                yield seats[start : start + size]


def _given(problem: Problem, host: Bundle, seats: Sequence[Seat]) -> Problem:
    """The problem in which all of a bundle is on these accelerators."""
    names = {each.name for each in host.components}
    parts = (
        replace(each, least=len(seats), most=len(seats), runs=in_runs(problem, each, seats)) if each.name in names else each
        for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=tuple(parts)))


def _is_refused(problem: Problem) -> bool:
    """Do its given ranks break a rule by themselves?"""
    return any(finding.severity is Severity.ERROR for finding in check_given(problem))
