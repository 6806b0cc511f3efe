"""Measured over estimated seconds of components: factors that replace guesses by what was seen."""

from __future__ import annotations

from statistics import median
from typing import Iterator, Sequence

from ..component import Component
from ..planning.workload import PHASES, SECOND, Measurement
from ..problem import Problem
from ..record import dataclass
from ..roles import ACTOR, INFERENCE, ROLLOUT, role_of
from .component_times import phase_of, shape_for, speeds_of
from .generate import generate_seconds
from .interval import exactly
from .metrics import Benchmark
from .model_run import ModelRun, SequenceBatch

_GENERATE = PHASES[0]


@dataclass(frozen=True)
class FittedTime:
    """Measured seconds of a component beside the estimate on the same accelerators.

    Attributes
    ----------
    measured : seconds; of a benchmark those of its own requests.
    of_iteration : True if `measured` is the work of an iteration.
    """

    component: str
    phase: str
    accelerators: int
    measured: float
    estimated: float
    steps: int
    of_iteration: bool = True

    @property
    def factor(self) -> float:
        """Measured over estimated."""
        return self.measured / self.estimated


def fit_times(problem: Problem, seconds_of_roles: dict[str, tuple[float, int]], benchmarks: Sequence[Benchmark]) -> Iterator[FittedTime]:
    """Yield what the metrics say of each component with one count and an estimated time."""
    has_inference = any(role_of(component) == INFERENCE for component in problem.components)
    for component in problem.components:
        role, row = role_of(component), _row(problem, component)
        if row is None:
            continue
        if role == ROLLOUT and benchmarks:
            yield _of_benchmarks(problem, component, benchmarks)
        if role in seconds_of_roles:
            seconds, steps = seconds_of_roles[role]
            if role == ACTOR and not has_inference:  # its estimate reads the answers once too
                seconds += seconds_of_roles.get(INFERENCE, (0.0, 0))[0]
            yield FittedTime(component.name, phase_of(component), row.accelerators, seconds, row.nanoseconds / SECOND, steps)


def _row(problem: Problem, component: Component) -> Measurement | None:
    """Return the estimate for a component's count and degrees; None while open."""
    amount = problem.build_given().amount(component.name) or (component.least if component.least == component.most else 0)
    rows = component.timed.measured if component.timed else ()
    return next((row for row in rows if row.bounds and row.accelerators == amount and row.holds_with(component.parallel)), None)


def _of_benchmarks(problem: Problem, component: Component, benchmarks: Sequence[Benchmark]) -> FittedTime:
    """Return the fit of benchmarks of one replica."""
    shape, (speed, near) = shape_for(component), next(iter(speeds_of(problem.cluster).values()))
    if shape is None or speed is None:
        raise ValueError(f"no time of `{component.name}` is estimated")
    run = ModelRun(shape, component.parallel, component.parallel.replica, speed, near)
    ratios = []
    for bench in benchmarks:
        batch = SequenceBatch(bench.requests, bench.prompt, exactly(bench.response), max(1, round(bench.response)))
        ratios.append((bench.seconds / generate_seconds(run, batch).likely, bench.seconds))
    factor, seconds = median(ratio for ratio, _ in ratios), median(seconds for _, seconds in ratios)
    return FittedTime(component.name, _GENERATE, component.parallel.replica, seconds, seconds / factor, len(ratios), of_iteration=False)


def factors(times: Sequence[FittedTime]) -> dict[str, float]:
    """Return phase -> median factor."""
    return {phase: median(values) for phase in PHASES if (values := [time.factor for time in times if time.phase == phase])}
