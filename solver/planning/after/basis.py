"""What the times of a plan rest on: what was measured, what lies between measurements, and what lies beyond them."""

from __future__ import annotations

from dataclasses import field
from typing import Sequence

from ....models.parallel import DEGREES, Parallel
from ....models.planning.design import Design
from ....models.planning.kind import NO_KIND, Kind
from ....models.planning.measured import LINEAR, Measured
from ....models.planning.question import Question, Task
from ....models.planning.workload import Timed
from ....models.problem import Problem
from ....models.record import dataclass
from ...wording import listed
from ..asking.interpolation import points
from ..asking.model_of import model_of
from ..asking.own_kinds import model_on
from ..asking.slowest import evenly_on, slowest, times_on

MEASURED, BETWEEN, BEYOND, FORMULA = "measured", "interpolated", "extrapolated", "formula"
FAR = 4
"""Beyond so many times the nearest measured count a time is little more than a guess: reference of RLinf's users, issue #59."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What one time rests on.

    Attributes
    ----------
    kind : `measured`, `interpolated`, `extrapolated`, or a `formula` of what was measured.
    counts : the measured counts that it follows from.
    scaling : how it follows from them: `power` or `linear`; for a formula its name.
    any_degrees : which of the degrees among which was chosen it is taken for the same with, such as `ep`; `degrees` for all, "" for none.
    any_model : is it taken for the same on several models of accelerators among which was chosen?
    slowest : the model whose time it is, of `several` that it is on at once, each rank with the same share; the first if they are `alike`.
    as_written : are its degrees those of a file that has ranks already? Of degrees that are as good, these are taken.
    rising : was the larger of the two counts that it follows from measured to take longer, so that fewer are taken to be quicker?
    """

    task: Task
    amount: int
    nanoseconds: int
    kind: str
    counts: tuple[int, ...]
    scaling: str = ""
    any_degrees: str = ""
    any_model: bool = False
    slowest: str = ""
    several: tuple[str, ...] = ()
    as_written: bool = field(default=False, compare=False)
    alike: bool = field(default=False, compare=False)
    rising: bool = field(default=False, compare=False)

    @property
    def beyond(self) -> float:
        """How many times farther out than the nearest measured count it is; 1 for what is not extrapolated."""
        if self.kind != BEYOND:
            return 1.0
        return min(max(count, self.amount) / min(count, self.amount) for count in self.counts)


def bases(problem: Problem, question: Question, design: Design) -> tuple[Basis, ...]:
    """What the time of each task rests on, in the order of the tasks."""
    found = []
    for number, task in enumerate(question.tasks):
        timed = problem[task.component].timed
        if timed is not None:
            found.append(_basis(problem, question, design, timed, number))
    return tuple(found)


def _basis(problem: Problem, question: Question, design: Design, timed: Timed, number: int) -> Basis:
    task, option = question.tasks[number], design.options[question.tasks[number].component]
    on = question.kinds[option.kind] if option.kind != NO_KIND else None
    open_on = question.on_models.get(task.component, ())
    at_once = open_on if len(open_on) > 1 else evenly_on(problem, problem[task.component])
    times = times_on(timed, at_once)
    model, alike = slowest(times, task.phase, option.amount, option.parallel)
    model = model or (open_on[0] if open_on else _model(problem, task.component, on))
    timed = times.get(model, timed)
    its = points(timed.measured, task.phase, option.parallel, model)
    if all(each.accelerators != option.amount for each in its):
        its = points(timed.measured, task.phase, option.parallel, model, on=option.amount) or its
    kind, counts, scaling = _follows(timed, its, option.amount)
    degrees = _unsaid(problem.job.choices.get(task.component, ()), timed, its, option.parallel)
    bound = len(question.confined.get(task.component, ())) == 1
    chosen = task.component in question.of_one_kind or (on is not None and bool(on.models) and not bound)
    models = chosen and not at_once and any(not each.model for each in its)
    time = design.nanoseconds(question, number)
    as_written = task.component in problem.job.own and option.parallel == problem.own_degrees(problem[task.component])
    on_model = model if at_once else ""
    rising = _rising(its, counts)
    return Basis(task, option.amount, time, kind, counts, scaling, degrees, models, on_model, at_once, as_written, alike, rising)


def _model(problem: Problem, name: str, on: Kind | None) -> str:
    """The model whose times a component has on a kind of accelerators."""
    if on is None:
        return ""
    if on.mixed and len(on.models) > 1:
        return model_of(problem, problem[name]) or on.model
    return model_on(problem, problem[name]) if on.holders else on.model


def _unsaid(choices: Sequence[Parallel], timed: Timed, its: Sequence[Measured], parallel: Parallel) -> str:
    """Which degrees differ among the choices, and these measurements do not say with which they were made.

    A time that names none of a degree was measured without it where others name it.
    """
    differ = [degree for degree in DEGREES if len({getattr(each, degree) for each in choices}) > 1]
    others = timed.measured if all(each.parallel == parallel for each in its) else ()
    unsaid = [degree for degree in differ if not (all(each.names(degree) for each in its) or any(each.names(degree) for each in others))]
    return "degrees" if unsaid == differ and unsaid else listed(unsaid)


def _follows(timed: Timed, its: Sequence[Measured], amount: int) -> tuple[str, tuple[int, ...], str]:
    """(kind, counts, scaling) of the time on so many, as solver/planning/asking/interpolation.py takes it from these measurements."""
    exact = [point for point in its if point.accelerators == amount]
    if exact:
        assumed = exact[-1].assumed
        return FORMULA if assumed else MEASURED, (amount,), assumed
    counts = sorted({point.accelerators for point in its})
    kind = BETWEEN if counts[0] < amount < counts[-1] else BEYOND
    if timed.scaling == LINEAR or len(counts) == 1:
        return kind, (min(counts, key=lambda count: max(count, amount) / min(count, amount)),), LINEAR
    above = next((place for place, count in enumerate(counts) if count > amount), len(counts) - 1)
    return kind, (counts[max(above, 1) - 1], counts[max(above, 1)]), timed.scaling


def _rising(its: Sequence[Measured], counts: tuple[int, ...]) -> bool:
    """Do the measurements on these counts take longer the more accelerators there are?"""
    times = {point.accelerators: point.nanoseconds for point in its}
    return len(counts) > 1 and times[counts[0]] < times[counts[-1]]
