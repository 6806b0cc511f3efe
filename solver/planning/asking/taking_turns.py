"""Given ranks that overlap in part, as far as counts tell: what holds them can only take turns, as if all of it held all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Collection, Iterator, Mapping

from ....models.component import Component
from ....models.parallel import UNDIVIDED
from ....models.placements.run import Run
from ....models.planning.measured import TABLE, Measured
from ....models.planning.workload import RLINF, RLINF_EMBODIED, Timed
from ....models.problem import Problem
from .interpolation import time_of
from .related import hold
from .slowest import on_the_slowest

Seats = Mapping[str, frozenset[tuple[int, int]]]


def taking_turns(problem: Problem) -> Problem | None:
    """The problem with ranks that overlap in part made the same, where an iteration takes as long; None where that is not known.

    It is where each of them shares with each of the others, so that no two ever work at the same time, all are on accelerators of one
    model, and nobody else may use these. On which of them one works changes nothing then: the fullest accelerator is one that all use.
    """
    workload = problem.job.workload
    seats = {each.name: problem.given().accelerators(each.name) for each in problem.components if each.runs and hold(problem, each.name)}
    seats = {name: its for name, its in seats.items() if its}
    if workload is None or workload.model in (RLINF, RLINF_EMBODIED) or workload.bandwidth or workload.nested or problem.job.overlaps:
        return None
    parts = {each.name: each for each in problem.components}
    for names in _groups(seats):
        shared = frozenset[tuple[int, int]]().union(*(seats[name] for name in names))
        models = {(node.accelerator_model, node.accelerator_memory) for node in (problem.cluster.nodes[rank] for rank, _ in shared)}
        if not frozenset.intersection(*(seats[name] for name in names)) or len(models) > 1 or _is_related(problem, names):
            return None
        for name in names:
            component = _on_all(problem, problem[name], shared, models.copy().pop()[0])
            if component is None:
                return None
            parts[name] = component
    return replace(problem, job=replace(problem.job, components=tuple(parts.values())))


def _groups(seats: Seats) -> Iterator[frozenset[str]]:
    """Components that share some accelerators with each other, directly or through others, where any two of these overlap in part."""
    left = set(seats)
    while left:
        names, before = {min(left)}, set[str]()
        while names != before:
            before = set(names)
            names |= {name for name in left if any(seats[name] & seats[other] for other in before)}
        left -= names
        pairs = [(seats[one], seats[other]) for one, other in combinations(sorted(names), 2)]
        if any(one & other and not (one <= other or other <= one) for one, other in pairs):
            yield frozenset(names)


def _is_related(problem: Problem, names: Collection[str]) -> bool:
    """Does anything that is asked of them concern others too, or some of them alone?"""
    return any(not set(names).isdisjoint(each.components) for each in problem.job.relations)


def _on_all(problem: Problem, component: Component, seats: Collection[tuple[int, int]], model: str) -> Component | None:
    """The component on all of these, with the times that it has on its own; None where one of them is not known."""
    if component.timed is None or component.timed.samples:
        return None
    timed, amount, rows = on_the_slowest(problem, component).timed, problem.given().amount(component.name), list[Measured]()
    for phase in component.timed.phases:
        time = time_of(timed, phase, amount, component.parallel, model) if timed is not None else None
        if time is None:
            return None
        rows.append(Measured(len(seats), time.nanoseconds, phase))
    runs = tuple(Run(range(rank, rank + 1), node, first=index) for rank, (node, index) in enumerate(sorted(seats)))
    return replace(
        component, least=len(seats), most=len(seats), per_process=1, parallel=UNDIVIDED, stride=1, contiguous=False, runs=runs,
        timed=Timed(tuple(rows), TABLE), estimate=None, keep=(), spread=(), pins=(), shards=0,
    )  # fmt: skip
