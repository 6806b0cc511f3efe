"""Assumptions of a plan, and the measurements that its times rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Sequence

from ..models.account import BETWEEN, BEYOND, DECLARED, ESTIMATED, FITTED, FORMULA, KEPT, MEASURED, WORKS, Basis, BlockBill
from ..models.machines.node_group import ACCELERATOR
from ..models.parallel import DEGREES, Parallel
from ..models.planning.design import Design
from ..models.planning.option import NO_KIND
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import LINEAR, SECONDS, Measurement, TimedComponent
from ..models.problem import Problem
from ..solver.choosing.degrees import refused_degrees
from ..solver.wording import join_names
from .capacity import timed_model
from .times import rests_on, slowest, time_of, times_on


def list_assumptions(problem: Problem, question: PlanningProblem) -> Iterator[str]:
    """Yield the assumptions of a plan, a sentence each."""
    workload = problem.job.planning.workload
    if workload is None:
        return
    yield from workload.assumed
    yield from refused_degrees(problem)
    yield from _list_left_alone(problem, question)
    if workload.flows:
        yield from _list_unchained(question)
    if workload.aim != SECONDS and workload.budget.nanoseconds is None:
        yield "the fewest accelerators however long an iteration takes: no `budget` of seconds is set"


def _list_left_alone(problem: Problem, question: PlanningProblem) -> Iterator[str]:
    """Yield the components with ranks to themselves though the framework lets others use them."""
    if not problem.job.capabilities.shares_accelerators:
        return
    parts = [part for part in problem.components if part.runs is not None and part.timed is None and part.name not in question.options]
    names = [component.name for component in parts if problem.kind(component) == ACCELERATOR and component.name not in problem.job.overlaps]
    if names:
        have, ranks_stay = ("has", "its ranks stay") if len(names) == 1 else ("have", "their ranks stay")
        yield f"{join_names(names)}: {ranks_stay}, no other component is put onto them, since {'it' if len(names) == 1 else 'they'} {have} no `seconds`"


def _list_unchained(question: PlanningProblem) -> Iterator[str]:
    """Yield the components that work at any time, as no chain names them."""
    chained = {task for edge in question.flow.edges for task in (edge.earlier, edge.later)}
    unchained = [task for task in range(len(question.tasks)) if task not in chained]
    if not unchained or len(question.tasks) < 2:
        return
    whole = {name for name, tasks in question.tasks_of.items() if set(tasks) <= set(unchained)}
    names = dict.fromkeys(
        task_of_none.component if task_of_none.component in whole else str(task_of_none)
        for task_of_none in (question.tasks[task] for task in unchained)
    )
    why = "no chain of `workflow` names " + ("it" if len(names) == 1 else "them") if chained else "no `workflow` says what works on what"
    yield f"{join_names(list(names))}: {'waits' if len(names) == 1 else 'wait'} for no component, since {why}"


def bases(problem: Problem, question: PlanningProblem, design: Design) -> tuple[Basis, ...]:
    """Return the measurements behind the time of each task, in task order."""
    rows = []
    for number, task in enumerate(question.tasks):
        times = problem[task.component].timed
        if times is not None:
            rows.append(_basis(problem, question, design, times, number))
    return tuple(rows)


def _basis(problem: Problem, question: PlanningProblem, design: Design, measurements: TimedComponent, number: int) -> Basis:
    task, option = question.tasks[number], design.options[question.tasks[number].component]
    on = question.kinds[option.kind] if option.kind != NO_KIND else None
    open_on = question.scope.on_models.get(task.component, ())
    at_once = open_on if len(open_on) > 1 else ()
    times = times_on(measurements, at_once)
    model, are_equal = slowest(times, task.phase, option.amount, option.parallel)
    model = model or (open_on[0] if open_on else timed_model(problem, problem[task.component], on))
    measurements = times.get(model, measurements)
    rows = rests_on(measurements, task.phase, option.amount, option.parallel, model)
    counts = tuple(row.accelerators for row in rows)
    if counts == (option.amount,):
        kind, scaling = FORMULA if rows[0].assumed else MEASURED, rows[0].assumed
        if rows[0].bounds:
            kind = FITTED if scaling.startswith(FITTED) else ESTIMATED
    else:
        follows = time_of(measurements, task.phase, option.amount, option.parallel, model)
        kind = BEYOND if follows is not None and follows.extrapolated else BETWEEN
        scaling = measurements.scaling if len(rows) > 1 else LINEAR

    def is_as_long(parallel: Parallel) -> bool:
        return rests_on(measurements, task.phase, option.amount, parallel, model) == rows

    degrees = _without_effect(problem.job.choices.get(task.component, ()), option.parallel, is_as_long)
    bound = len(question.scope.confined.get(task.component, ())) == 1
    is_choice = task.component in question.of_one_kind or (on is not None and bool(on.models) and not bound)
    models = is_choice and not at_once and any(not row.model for row in rows)
    time = design.nanoseconds(question, number)
    as_written = task.component in problem.job.planning.own and option.parallel == problem.own_degrees(problem[task.component])
    on_model = model if at_once else ""
    rising = rows[0].nanoseconds < rows[-1].nanoseconds
    return Basis(
        task, option.amount, time, kind, counts, scaling, degrees, models, on_model, at_once,
        as_written, are_equal, rising, _name_measurements(rows), rows[0].bounds if kind in (ESTIMATED, FITTED) else (),
    )  # fmt: skip


def _without_effect(choices: Sequence[Parallel], parallel: Parallel, is_as_long: Callable[[Parallel], bool]) -> str:
    """Return the degrees that differ among the choices without any effect on the time."""
    differ = [degree for degree in DEGREES if len({getattr(choice, degree) for choice in choices}) > 1]

    def is_unsaid(degree: str) -> bool:
        return all(is_as_long(replace(parallel, **{degree: getattr(choice, degree)})) for choice in choices)

    unsaid = [degree for degree in differ if is_unsaid(degree)]
    return "degrees" if unsaid == differ and unsaid else join_names(unsaid)


def _name_measurements(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Return the name of each measurement, such as ``tp 2``; () if all are alike."""
    names = [(measurement.degrees or "any degrees", measurement.model or "any model") for measurement in measurements]
    differing = [column for column in zip(*names) if len(set(column)) > 1]
    return tuple(", ".join(words) for words in zip(*differing))


def list_emptied(bills: Sequence[BlockBill]) -> Iterator[str]:
    """Yield a sentence if the whole memory of several components exceeds the capacity."""
    names = dict.fromkeys(name for bill in bills if bill.capacity is not None for name in _list_emptied(bill, bill.capacity))
    if names:
        yield f"{join_names(list(names))}: no memory is kept while others work there, as all of it does not fit and `offloaded` is unset"


def _list_emptied(bill: BlockBill, capacity: int) -> Iterator[str]:
    """Yield the components beyond a segment's capacity, alone or together."""
    works = [entry for moment in bill.moments for entry in moment.entries if entry.state == WORKS]
    needs = {entry.component: entry.mebibytes for entry in sorted(works, key=lambda entry: entry.mebibytes)}
    gone = set[str]()
    for moment in bill.moments:
        if any(entry.state == WORKS for entry in moment.entries):
            remaining = capacity - moment.mebibytes
            away = [entry.component for entry in moment.entries if entry.state == KEPT and entry.origin == DECLARED and not entry.mebibytes]
            large = {name for name in away if needs.get(name, 0) > remaining}
            rest = {name for name in away if name not in large}
            gone |= large | (rest if sum(needs.get(name, 0) for name in rest) > remaining else set())
    return (name for name in bill.block.components if name in gone)
