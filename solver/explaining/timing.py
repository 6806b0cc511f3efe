"""What counts are to be chosen by, a sentence for each."""

from __future__ import annotations

from collections import Counter
from typing import Iterator

from ...models.component import Component
from ...models.findings.wording import plural
from ...models.planning.measured import SECOND, TABLE, Measured
from ...models.planning.workload import SECONDS, Workload
from ...models.problem import Problem
from ...models.task_order import ordered
from ..durations import exactly_in_seconds, figure, with_unit
from ..wording import listed
from .demands import Demanded

MAX_ROWS = 4
"""So many measurements of a component are named."""


def timed_of(problem: Problem) -> tuple[Demanded, ...]:
    """The times of each component, then what the job is chosen by; nothing where no component has times."""
    workload = problem.job.planning.workload
    if workload is None:
        return ()
    found = [each for component in problem.components for each in _times(component)]
    return (*found, *(Demanded((), text, workload.span) for text in (*_chosen_by(workload), *_rounds(problem, workload))))


def _times(component: Component) -> Iterator[Demanded]:
    if component.timed is None:
        return
    for phase in component.timed.phases:
        rows = [each for each in component.timed.measured if each.phase == phase and not each.assumed]
        formulas = Counter(each.assumed for each in component.timed.measured if each.phase == phase and each.assumed)
        left = len(rows) - MAX_ROWS
        more = f", and {left} more {plural('measurement', left)}" if left > 0 else ""
        what = f" to {phase}" if phase else ""
        said = [f"takes{what} {listed([_row(each) for each in rows[:MAX_ROWS]])}{more}"] if rows else []
        said += [f"on {count} {'more ' * bool(rows)}counts by {formula}" for formula, count in formulas.items()]
        said.append("no other counts" if component.timed.scaling == TABLE else f"{component.timed.scaling} between and beyond")
        spans = [each.span for each in rows if each.span]
        yield Demanded((component.name,), "; ".join(said), spans[0] if spans else component.span("timed"))
    if component.timed.samples:
        yield Demanded((component.name,), f"its replicas divide {component.timed.samples} samples evenly", component.span("samples"))


def _row(measured: Measured) -> str:
    with_ = [measured.model] if measured.model else []
    with_ += [measured.degrees] if measured.degrees else []
    return f"{with_unit(in_seconds(measured.nanoseconds))} on {' '.join([str(measured.accelerators), *with_])}"


def _chosen_by(workload: Workload) -> Iterator[str]:
    batches = f", handed on in {workload.handed_on} batches" if workload.handed_on > 1 else ""
    aim = "the shortest iteration" if workload.aim == SECONDS else "the fewest accelerators"
    budget = workload.budget
    most = [f"at most {budget.accelerators} {plural('accelerator', budget.accelerators)}"] if budget.accelerators is not None else []
    most += [f"at most {with_unit(exactly_in_seconds(budget.nanoseconds))}"] if budget.nanoseconds is not None else []
    limits = f", with {listed(most)}" if most else ""
    yield f"{aim} by the cost model {workload.model}{batches}{limits}"
    for after in workload.after:
        yield f"{after.later} works on what {after.earlier} makes" + (", when all of it is there" if after.whole else "")


def _rounds(problem: Problem, workload: Workload) -> Iterator[str]:
    """Which tasks wait for each other in a circle, and what is made of that."""
    if not (workload.after and workload.flows):
        return
    tasks, _, rounds = ordered(problem.components, workload)
    for its in rounds:
        names = listed([str(tasks[task]) for task in sorted(its)])
        yield f"{names} wait for each other: a batch goes through them in this order, and what comes after waits for the last"


def in_seconds(nanoseconds: int) -> str:
    """Seconds of so many nanoseconds, with six figures, without their unit."""
    return figure(nanoseconds / SECOND, 6)
