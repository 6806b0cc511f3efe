"""Given components whose ranks overlap in part, as if they needed no accelerators: it takes no longer, whatever else is asked of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ....models.component import Component
from ....models.machines.node_group import NODE_LABEL
from ....models.placements.run import Run
from ....models.planning.measured import TABLE, Measured
from ....models.planning.workload import RLINF, RLINF_EMBODIED, SECONDS, STREAM, Budget, Timed
from ....models.problem import Problem
from .put_apart import Seat, Seats, Times, of_the_busiest, sharing, stages, times_of
from .taking_turns import may_be_shared, overlapping

HELD = "accelerators of given ranks"


def freed(problem: Problem) -> Problem | None:
    """The problem, of which no plan takes longer; None where nothing is known of that.

    Nobody else uses their accelerators, unless something lets others do so. Who shares some takes turns, for as long as each takes with the
    quickest of its degrees; where the cost model adds up what works on an accelerator, one of them has the times of all on the busiest.
    """
    job, workload = problem.job, problem.job.workload
    if workload is None or workload.model in (RLINF, RLINF_EMBODIED) or workload.aim != SECONDS or job.followed:
        return None
    parts, pairs, held = {each.name: each for each in problem.components}, set[tuple[str, str]](), frozenset[Seat]()
    for names, seats in overlapping(problem):
        timed = [name for name in names if problem[name].timed is not None]
        times = {name: its for name in timed if (its := _quickest(problem, problem[name]))}
        if len(times) < len(timed) or any(leader in names for leader in job.tied.values()):
            return None
        seats = {name: seats[name] for name in timed}
        held |= frozenset[Seat]().union(*seats.values())
        pairs |= sharing(seats) if workload.model == STREAM else set()
        kept = times if workload.model == STREAM else _as_one(seats, times, workload.model)
        parts.update((name, _without_accelerators(problem[name], kept[name])) for name in timed)
    gone = {name for name, its in parts.items() if its is not problem[name]}
    if not any(may_be_shared(problem, problem[name]) for name in gone):
        runs = tuple(Run(range(place, place + 1), node, first=index) for place, (node, index) in enumerate(sorted(held)))
        parts[HELD] = Component(HELD, least=len(runs), most=len(runs), runs=runs)
    without = replace(
        job, components=tuple(parts.values()), one_at_a_time=frozenset(pairs), own={}, own_faults=(),
        ways=tuple(way.among(frozenset(parts) - gone) for way in job.ways),
        relations=tuple(each for each in job.relations if gone.isdisjoint(each.components)),
        overlaps={name: others for name, others in job.overlaps.items() if name not in gone},
        accepted={name: its for name, its in job.accepted.items() if name not in gone},
        choices={name: its for name, its in job.choices.items() if name not in gone},
        tied={name: its for name, its in job.tied.items() if name not in gone},
        shares=tuple(each for each in job.shares if each.component not in gone),
        links=tuple(each for each in job.links if gone.isdisjoint((each.source, each.target))),
        workload=replace(workload, heeds_estimates=False, budget=Budget(accelerators=workload.budget.accelerators)),
    )  # fmt: skip
    return replace(problem, job=without, previous=None)


def _quickest(problem: Problem, component: Component) -> Times:
    """Of each phase, the least time that it takes with any of its degrees by its given ranks; none where one is not known."""
    its = (replace(component, parallel=each) for each in problem.job.choices.get(component.name, (component.parallel,)))
    known = [times for each in its if (times := times_of(problem, each))]
    return {phase: min(times[phase] for times in known) for phase in known[0]} if known else {}


def _as_one(seats: Seats, times: Mapping[str, Times], model: str) -> Mapping[str, Times]:
    """Times of which those that run at once come to what works on the accelerator that is busiest then."""
    busiest = of_the_busiest(seats, times, model)
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(its, 0) for name, its in times.items()}
    for stage in stages(times, model):
        name, phase = stage[0]
        found[name][phase] = sum(busiest[name][phase] for name, phase in stage)
    return found


def _without_accelerators(component: Component, times: Times) -> Component:
    """One process on a node, with these times and of which nothing more is asked."""
    rows = tuple(Measured(1, time, phase) for phase, time in times.items())
    return Component(component.name, (NODE_LABEL,), most=1, phases=component.phases, timed=Timed(rows, TABLE))
