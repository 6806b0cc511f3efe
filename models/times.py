"""Times of a job: the usual workflow of its components, and times with chosen degrees."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Collection, Iterator, Mapping, Sequence

from .component import Component
from .job import Job
from .parallel import Parallel
from .planning.workload import PHASES, STEADY, After, Timed, Workload
from .roles import ACTOR, AGENT, CRITIC, ENVIRONMENT, INFERENCE, STUDENT, role_of
from .roles import ROLLOUT as GENERATING

_GENERATE, _, _TRAIN = PHASES
_TRAINED = (ACTOR, CRITIC, STUDENT)


def times_with(job: Job, degrees: Mapping[str, Parallel]) -> dict[str, Timed]:
    """Component -> its times, of those that have some: with what follows from the choice, and of those with `degrees` what holds with these."""
    changes = next(
        (each.changes for each in job.planning.followed if all(degrees.get(name) == its for name, its in each.degrees.items())), {}
    )
    found = {}
    for each in job.components:
        changed = changes.get(each.name)
        timed = changed.timed if changed is not None and changed.timed is not None else each.timed
        if timed is not None:
            found[each.name] = holding(timed, degrees[each.name]) if each.name in degrees else timed
    return found


def holding(timed: Timed, parallel: Parallel) -> Timed:
    """The measurements that hold with these degrees, without their names: of what was measured on a count those that name degrees, if any do."""
    its = [row for row in timed.measured if row.holds_with(parallel)]
    named = {(row.phase, row.accelerators) for row in its if row.parallel is not None}
    kept = (row for row in its if row.parallel is not None or (row.phase, row.accelerators) not in named)
    return replace(timed, measured=tuple(replace(row, parallel=None) for row in kept))


def shortest(timed: Timed, parallel: Parallel) -> float:
    """The shortest that was measured with these degrees, in nanoseconds; infinite where none was."""
    return min((row.nanoseconds for row in timed.measured if row.holds_with(parallel)), default=inf)


def as_it_runs(workload: Workload, said: Collection[str], asynchronous: str) -> Workload:
    """By the cost model `steady`, where a job trains and generates at the same time and its plan has not `said` another one.

    `asynchronous` is what tells that, such as the key of a file; "" where nothing does.
    """
    if not asynchronous or "cost_model" in said:
        return workload
    why = f"cost model {STEADY}: the job generates while it trains ({asynchronous}); `cost_model` in `placewright.plan` may name another"
    return replace(workload, model=STEADY, assumed=(*workload.assumed, why))


def usual_order(components: Sequence[Component]) -> Iterator[After]:
    """First what generates, then all that judges it, then what trains: each begins when all of the one before is done."""
    stages: list[list[str]] = [[], [], []]
    for each in components:
        for phase in each.timed.phases if each.timed else ():
            stages[_stage(each, phase)].append(f"{each.name}.{phase}" if phase else each.name)
    filled = [its for its in stages if its]
    for ones, others in zip(filled, filled[1:]):
        yield from (After(one, other, True) for one in ones for other in others)


def usual_phase(component: Component) -> str:
    """In which phase it usually works; "" where neither its role says it nor its name, as that of RLinf's `critic_inference`."""
    role = role_of(component)
    if role in (ENVIRONMENT, AGENT):
        return _GENERATE  # what is generated goes to them and comes back, turn by turn
    return PHASES[_stage(component, "")] if role or component.name.endswith(f"_{INFERENCE}") else ""


def _stage(component: Component, phase: str) -> int:
    role = role_of(component)
    if phase == _GENERATE or (role == GENERATING and not phase):
        return 0
    return 2 if phase == _TRAIN or (role in _TRAINED and not phase) else 1
