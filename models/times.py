"""Times of a job: the usual workflow of the components, and times with chosen degrees."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Collection, Iterator, Mapping, Sequence

from .component import Component
from .job import Job
from .parallel import Parallel
from .planning.workload import PHASES, STEADY, After, TimedComponent, Workload
from .roles import ACTOR, AGENT, CRITIC, ENVIRONMENT, INFERENCE, STUDENT, role_of
from .roles import ROLLOUT as GENERATING

_GENERATE, _, _TRAIN = PHASES
_TRAINED = (ACTOR, CRITIC, STUDENT)


def times_with(job: Job, degrees: Mapping[str, Parallel]) -> dict[str, TimedComponent]:
    """Return component -> times that hold under chosen degrees and their consequences."""
    changes = next(
        (entry.changes for entry in job.planning.followed if all(degrees.get(name) == value for name, value in entry.degrees.items())), {}
    )
    times = {}
    for component in job.components:
        change = changes.get(component.name)
        component_times = change.timed if change is not None and change.timed is not None else component.timed
        if component_times is not None:
            times[component.name] = holding(component_times, degrees[component.name]) if component.name in degrees else component_times
    return times


def holding(component_times: TimedComponent, parallel: Parallel) -> TimedComponent:
    """Return the measurements for given degrees, best those that name them, without names."""
    rows = [row for row in component_times.measured if row.holds_with(parallel)]
    keys_with_degrees = {(row.phase, row.accelerators) for row in rows if row.parallel is not None}
    rows_left = (row for row in rows if row.parallel is not None or (row.phase, row.accelerators) not in keys_with_degrees)
    return replace(component_times, measured=tuple(replace(row, parallel=None) for row in rows_left))


def shortest(component_times: TimedComponent, parallel: Parallel) -> float:
    """Return the shortest time with given degrees, in ns; infinite without a measurement."""
    return min((row.nanoseconds for row in component_times.measured if row.holds_with(parallel)), default=inf)


def as_it_runs(workload: Workload, written_keys: Collection[str], asynchronous: str) -> Workload:
    """Return the workload with cost model `steady` for an asynchronous job.

    A cost model in the plan (`written_keys`) has priority. `asynchronous` is the evidence, such as the key
    of a file; "" without evidence.
    """
    if not asynchronous or "cost_model" in written_keys:
        return workload
    why = f"cost model {STEADY}: the job generates while it trains ({asynchronous}); `cost_model` in `placewright.plan` may name another"
    return replace(workload, model=STEADY, assumed=(*workload.assumed, why))


def usual_order(components: Sequence[Component]) -> Iterator[After]:
    """Yield the usual dependencies, stage by stage: generation, judgement, training."""
    stages: list[list[str]] = [[], [], []]
    for component in components:
        for phase in component.timed.phases if component.timed else ():
            stages[_stage(component, phase)].append(f"{component.name}.{phase}" if phase else component.name)
    stages_in_use = [stage for stage in stages if stage]
    for earlier, later in zip(stages_in_use, stages_in_use[1:]):
        yield from (After(first, second, True) for first in earlier for second in later)


def usual_phase(component: Component) -> str:
    """Return the usual phase of a component such as RLinf's `critic_inference`; else ""."""
    role = role_of(component)
    if role in (ENVIRONMENT, AGENT):
        return _GENERATE  # rollouts alternate with them, turn by turn
    return PHASES[_stage(component, "")] if role or component.name.endswith(f"_{INFERENCE}") else ""


def _stage(component: Component, phase: str) -> int:
    role = role_of(component)
    if phase == _GENERATE or (role == GENERATING and not phase):
        return 0
    return 2 if phase == _TRAIN or (role in _TRAINED and not phase) else 1
