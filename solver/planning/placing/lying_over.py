"""Given components that planned ones may lie over: these are placed on as many of their accelerators as can be found."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Callable, Iterator, Sequence

from ....models.answer import UNDECIDED, Answer, Solve
from ....models.component import SUBSET, Component, Relation
from ....models.findings.finding import error
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment, Run, Seat, compress
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ...wording import listed
from .overlaid import met, overlaid, within

REASON = "as few accelerators as can be"
MOST = 32
"""Placements that are tried at most."""


def lying_over(place: Solve, workload: Workload) -> Solve:
    """How a problem is placed on few accelerators, those of given components among them, given how any is.

    The counts of a design say how many all components hold at least, where planned ones lie over given ones that may be shared
    (`Job.overlaps`). A placement beside these that holds more is the answer only where no other is found that holds fewer. The fewest of
    all placements are not looked for. Where traffic counts as time, which comes first, and the budget is kept, it is left as it is; what
    keeps to no budget of accelerators is none.
    """
    most, by_time = workload.budget.accelerators, workload.aim == SECONDS and bool(workload.bandwidth)

    def answer(problem: Problem) -> Answer:
        found = overlaid(place)(problem)
        if found.plan is None or not problem.job.overlaps or not problem.hinted:
            return found
        used, least = all_held(problem, found.plan.assignment), _least(problem, found.plan.assignment)
        enough = max(least, most or 0) if by_time else least
        if used > enough and not (by_time and most is None):
            for way in islice(_ways(place, problem, found.plan.assignment, least, used), MOST):
                over = way()
                if over.plan is None or any(met(problem, over.plan.assignment)):
                    continue
                if (now := all_held(problem, over.plan.assignment)) < used:
                    found, used = over, now
                    if used <= enough:
                        break
        return found if most is None or used <= most else _undecided(problem, used, most)

    return answer


def all_held(problem: Problem, placed: Assignment) -> int:
    """How many accelerators all components hold."""
    return len(frozenset[Seat]().union(*(placed.accelerators(each.name) for each in problem.components)))


def _least(problem: Problem, placed: Assignment) -> int:
    """How many they hold at least in any placement with these counts, as far as that is soon known."""
    given, overlaps = problem.given(), problem.job.overlaps
    fixed = {each.name: given.accelerators(each.name) for each in problem.components if each.runs is not None}
    every = frozenset[Seat]().union(*fixed.values())
    open_ = {each.name: placed.accelerators(each.name) for each in problem.components if each.runs is None}
    beside = [
        len(its) + len(frozenset[Seat]().union(*(seats for g, seats in fixed.items() if g in overlaps and name not in overlaps[g])))
        for name, its in open_.items()
    ]
    held = frozenset[Seat]().union(*(seats for name, seats in fixed.items() if name not in overlaps))
    return max([len(every), len(held | frozenset[Seat]().union(*open_.values())), *beside])


def _ways(place: Solve, problem: Problem, placed: Assignment, least: int, used: int) -> Iterator[Callable[[], Answer]]:
    """Ways to place it on fewer than are used, the fewest first: around what is given, within that, within it and what may lie nearest."""
    given = problem.given()
    every = frozenset[Seat]().union(*(given.accelerators(each.name) for each in problem.components if each.runs is not None))
    if len(every) < least:
        yield from (partial(overlaid(place), each) for each in _over(problem))
    open_ = frozenset[Seat]().union(*(placed.accelerators(each.name) for each in problem.components if each.runs is None))
    nodes = [(node.rank, node.free(ACCELERATOR), len(node.accelerators)) for node in problem.cluster.nodes]
    free = [(rank, index) for rank, mask, count in nodes for index in range(count) if mask >> index & 1 and (rank, index) not in every]
    there = {node for node, _ in every}
    orders = [sorted(free, key=lambda seat: (seat not in open_, seat)), sorted(free, key=lambda seat: (seat[0] not in there, seat)), free]
    for count in range(least - len(every), used - len(every)):
        for seats in dict.fromkeys(tuple(order[:count]) for order in orders):
            yield partial(within, place, problem, sorted((*every, *seats)))


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
        for runs in _around(problem, problem[host], names):
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


def _undecided(problem: Problem, used: int, most: int) -> Answer:
    """The answer where each placement that was found holds more than may be."""
    names = listed([f"`{name}`" for name in problem.job.overlaps])
    message = f"undecided: {used} accelerators are used beside {names}, {most} may be; over {names} no placement was found"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=f"say `seconds` of {names}, or allow more"),), how="given")
