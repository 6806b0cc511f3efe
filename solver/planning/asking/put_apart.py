"""Other ranks for components that share some accelerators: the same ones for some that share one, none in common for the others."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Collection, Iterator, Mapping, Sequence

from ....models.component import Component
from ....models.machines.node_group import CLUSTER_LABEL
from ....models.parallel import UNDIVIDED
from ....models.placements.run import Run
from ....models.planning.measured import TABLE, Measured
from ....models.planning.workload import STEADY, Timed
from ....models.problem import Problem
from .interpolation import time_of
from .slowest import on_the_slowest

Seat = tuple[int, int]
"""(node rank, local index) of an accelerator."""
Seats = Mapping[str, frozenset[Seat]]
Times = Mapping[str, int]
"""Phase -> ns."""


def times_of(problem: Problem, component: Component) -> Times:
    """How long each phase of a component takes by its given ranks; none where one of these times is not known, or it has none."""
    timed, amount = on_the_slowest(problem, component).timed, problem.given().amount(component.name)
    if timed is None:
        return {}
    models = {problem.cluster.nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
    model = min(models) if len(models) == 1 else ""
    found = {phase: time_of(timed, phase, amount, component.parallel, model) for phase in timed.phases}
    return {phase: time.nanoseconds for phase, time in found.items() if time is not None} if all(found.values()) else {}


def sharing(seats: Seats) -> set[tuple[str, str]]:
    """Pairs that share accelerators."""
    return {(one, other) for one, other in combinations(seats, 2) if seats[one] & seats[other]}


def of_the_busiest(seats: Seats, times: Mapping[str, Times], model: str) -> Mapping[str, Times]:
    """The times of those that are on the accelerator that works longest, of each phase by itself unless all of them run at once; 0 of all others."""
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(its, 0) for name, its in times.items()}
    users = {frozenset(name for name, its in seats.items() if seat in its) for each in seats.values() for seat in each}
    for stage in stages(times, model):
        works = {its: sum(times[name][phase] for name, phase in stage if name in its) for its in users}
        busiest = min(users, key=lambda its: (-works[its], sorted(its)))
        for name, phase in stage:
            found[name][phase] = times[name][phase] if name in busiest else 0
    return found


def stages(times: Mapping[str, Times], model: str) -> Sequence[Sequence[tuple[str, str]]]:
    """(component, phase) of what runs at the same time, in a cost model that adds up what works on each accelerator."""
    tasks = [(name, phase) for name, its in times.items() for phase in its]
    if model == STEADY:
        return [tasks]
    return [[task for task in tasks if task[1] == phase] for phase in dict.fromkeys(phase for _, phase in tasks)]


def places(problem: Problem, seats: Seats, in_pairs: bool) -> Iterator[tuple[Collection[str], Collection[Seat]]]:
    """All of these components, and their accelerators: some components that share one, with those that they get between them.

    Unless it matters which two of them share any (`in_pairs`), all share all.
    """
    every = sorted(frozenset[Seat]().union(*seats.values()))
    if not in_pairs:
        yield list(seats), every
        return
    left, found = list(seats), dict[Seat, list[str]]()
    while left:
        most = max(every, key=lambda seat: sum(seat in seats[name] for name in left))
        found[most] = [name for name in left if most in seats[name]]
        left = [name for name in left if name not in found[most]]
    rest, nodes = [seat for seat in every if seat not in found], problem.cluster.nodes
    of = {rank: (nodes[rank].accelerator_model, nodes[rank].accelerator_memory) for rank, _ in every}
    strange = {of[rank] for rank, _ in every} - {of[rank] for rank, _ in found}
    last = max(found, key=lambda seat: of[seat[0]] not in strange)
    for seat, its in found.items():
        yield its, [seat, *(rest if seat == last else [])]


def on(component: Component, seats: Collection[Seat], times: Times) -> Component:
    """The component on these accelerators, with these times and of which nothing more is asked."""
    rows = tuple(Measured(len(seats), time, phase) for phase, time in times.items())
    runs = tuple(Run(range(rank, rank + 1), node, first=index) for rank, (node, index) in enumerate(sorted(seats)))
    return replace(
        component, least=len(seats), most=len(seats), counts=(), per_process=1, parallel=UNDIVIDED, stride=1, contiguous=False, runs=runs,
        timed=Timed(rows, TABLE), estimate=None, memory=0, offloaded=0, on_sizes=(), keep=(), spread=(), pins=(), shards=0, host_memory=0, cpus=0, traffic=0, excluded=(),
        accelerator_model="", node_groups=(CLUSTER_LABEL,),
    )  # fmt: skip
