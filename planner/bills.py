"""Account of a plan: bills of memory, measurements of times, assumptions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable, Iterable, Iterator, Sequence

from ..models.account import (
    BETWEEN,
    BEYOND,
    DECLARED,
    ESTIMATED,
    FITTED,
    FORMULA,
    KEPT,
    MEASURED,
    RESIDENT,
    SILENT,
    WORKS,
    Basis,
    BlockBill,
    ComponentMemory,
    SegmentMemory,
)
from ..models.component import Component
from ..models.findings.finding import Finding, Severity
from ..models.machines.node_group import ACCELERATOR
from ..models.parallel import DEGREES, Parallel
from ..models.placements.assignment import Assignment
from ..models.planning.design import Block, Design
from ..models.planning.option import NO_KIND
from ..models.planning.planned import CostedDesign
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import LINEAR, SECOND, SECONDS, Measurement, TimedComponent
from ..models.problem import Problem
from ..models.quantity import write_estimate, write_memory
from ..solver.choosing.degrees import refused_degrees
from ..solver.memory import pieces
from ..solver.stretches import stretches
from ..solver.wording import figure, join_names
from .capacity import timed_model
from .memory import estimate, is_estimated
from .times import rests_on, slowest, time_of, times_on

Turn = tuple[str, str]
"""Memory turn as in `PlanningProblem.turns_of`: (phase, "") or ("", component)."""
Set = tuple[tuple[str, ...], int | None]
"""Components on common accelerators, and the MiB of an accelerator."""


def bill(problem: Problem, question: PlanningProblem, design: Design) -> tuple[BlockBill, ...]:
    """Return the bill of every block in each segment; estimates count, heeded or not."""
    return tuple(bill_of(problem, question, design, block, question.kinds[block.kind].memory) for block in design.blocks)


def bill_of(
    problem: Problem, question: PlanningProblem, design: Design, block: Block, capacity: int | None, models: tuple[str, ...] = ()
) -> BlockBill:
    """Return the bill of a block of accelerators with `capacity` MiB and of these `models`."""
    idle = design.not_started(question.idle)

    def moment(part: int | None, turn: Turn) -> SegmentMemory:
        running_names = (name for name in block.components if name not in idle)
        entries = tuple(_entry(problem, question, design, name, turn, capacity, idle) for name in running_names)
        return SegmentMemory(part, entries, turn[0] if part is None else "")

    moments, open_ = [], _list_untimed(problem, question, block)
    for part in sorted(set(design.segments)) or [0]:
        turn_bills = (moment(part, turn) for turn in _turns(question, design, block, part, open_))
        moments.append(
            max(turn_bills, key=lambda turn_bill: turn_bill.demanded)
        )  # where components take turns in a part, the worst of these
    timed_phases = {phase for task in range(len(question.tasks)) for phase in _phases(question, task)}
    moments += [moment(None, (phase, "")) for phase in open_ if phase not in timed_phases]
    return BlockBill(block, capacity, tuple(moments), models)


def _turns(question: PlanningProblem, design: Design, block: Block, part: int, open_: list[str]) -> list[Turn]:
    """Return the turns of a block in a segment; an idle turn if all wait."""
    running = [task for task, segment in enumerate(design.segments) if segment == part]
    turns: dict[Turn, None] = {}
    for task in running:
        if (name := question.tasks[task].component) in block.components:
            turns.update(dict.fromkeys([(phase, "") for phase in _phases(question, task)] or [("", name)]))
    phases = {phase for task in running for phase in _phases(question, task)}
    turns.update(((phase, ""), None) for phase in open_ if phase in phases)
    return list(turns) or [("", "")]


def _phases(question: PlanningProblem, task: int) -> tuple[str, ...]:
    """Return the phases of a task; by default those of its component."""
    timed_task, phases = question.tasks[task], question.memory.turns.get(question.tasks[task].component, ())
    return (timed_task.phase,) if timed_task.phase in phases else phases


def _list_untimed(problem: Problem, question: PlanningProblem, block: Block) -> list[str]:
    """Return the phases of a block's components without a known time."""
    phases: dict[str, None] = {}
    for name in block.components:
        timed_phases = {phase for task in question.tasks_of.get(name, ()) for phase in _phases(question, task)}
        phases.update((phase, None) for phase in problem[name].phases if phase not in timed_phases)
    return list(phases)


def _entry(
    problem: Problem, question: PlanningProblem, design: Design, name: str, turn: Turn, capacity: int | None, idle: Iterable[str]
) -> ComponentMemory:  # fmt: skip
    component = problem[name]
    does_work = any(question.idle.workers.get(idle_name) == name and _is_in(problem[idle_name], turn) for idle_name in idle)
    state = WORKS if does_work else _state(component, turn, bool(question.tasks_of.get(name)))
    if component.memory or component.offloaded:
        amount = component.offloaded if state == KEPT else component.memory
        return ComponentMemory(name, amount, state, DECLARED)
    option = design.options.get(name)
    parallel, amount = (option.parallel, option.amount) if option else (component.parallel, problem.build_given().amount(name))
    memory_estimate = estimate(problem, component, parallel, amount, capacity)
    if memory_estimate is None:
        return ComponentMemory(name, 0, state, SILENT)
    if state == KEPT:
        return ComponentMemory(name, memory_estimate.kept, state, ESTIMATED, memory_estimate.kept_terms, memory_estimate.kept_high)
    return ComponentMemory(name, memory_estimate.mebibytes, state, ESTIMATED, memory_estimate.terms, memory_estimate.high)


def _state(component: Component, turn: Turn, has_time: bool) -> str:
    """Return the state of a component in a turn."""
    if _is_in(component, turn):
        return WORKS
    # With an estimate it is known what stays, of a component that works in some part.
    has_estimate = has_time and is_estimated(component)
    return KEPT if component.phases or has_estimate else RESIDENT


def _is_in(component: Component, turn: Turn) -> bool:
    """Return True if the turn belongs to the component."""
    return turn == ("", component.name) or turn[0] in component.phases


def bills(problem: Problem, question: PlanningProblem, design: Design, assignment: Assignment | None = None) -> tuple[BlockBill, ...]:
    """Return the memory bill of every set of components on common accelerators.

    Over planned components and on mixed kinds only `assignment` tells these.
    """
    components = [part for part in problem.components if part.name in question.options or part.runs is not None]
    if assignment is not None and any(kind.mixed for kind in question.kinds):
        return _bill_sets(problem, question, design, assignment, components)
    if assignment is not None and problem.job.overlaps:
        over = _bill_sets(problem, question, design, assignment, components)
        blocks = {frozenset(block.components) for block in design.blocks}
        if any(entry.block.kind != NO_KIND and frozenset(entry.block.components) not in blocks for entry in over):
            return over
    return (*bill(problem, question, design), *bills_of_unplanned(problem, question, design))


def bills_of_unplanned(problem: Problem, question: PlanningProblem, design: Design) -> tuple[BlockBill, ...]:
    """Return the bills of sets outside the planning problem, for each size of accelerators."""
    components = [component for component in problem.components if component.name not in question.options and component.runs is not None]
    return _bill_sets(problem, question, design, problem.build_given(), components)


def _bill_sets(
    problem: Problem, question: PlanningProblem, design: Design, assignment: Assignment, components: Sequence[Component]
) -> tuple[BlockBill, ...]:
    """Return the bills of sets of components as placed, for each size of accelerators."""
    kinds, is_mixed = {frozenset(block.components): block.kind for block in design.blocks}, any(kind.mixed for kind in question.kinds)
    rows = []
    for (names, capacity), counts in _sets(problem, assignment, components).items():
        kind = kinds.get(frozenset(name for name in names if name in question.options), NO_KIND)
        by_kind = kind != NO_KIND and not is_mixed
        size, models = (question.kinds[kind].memory, ()) if by_kind else (capacity, tuple(filter(None, counts)))
        rows.append(bill_of(problem, question, design, Block(kind, sum(counts.values()), names), size, models))
    return tuple(rows)


def _sets(problem: Problem, assignment: Assignment, components: Sequence[Component]) -> dict[Set, Counter[str]]:
    """Return set of components -> number of accelerators held together, by model."""
    sets: dict[Set, Counter[str]] = {}
    for nodes, node, masks in stretches(problem, assignment, components):
        shares = [(mask, component.name) for component in components if (mask := masks.get((component.name, ACCELERATOR), 0))]
        for piece in pieces([mask for mask, _ in shares]):
            key = (tuple(name for mask, name in shares if mask & piece), node.accelerator_memory)
            sets.setdefault(key, Counter())[node.accelerator_model] += piece.bit_count() * len(nodes)
    return sets


def none_fits(problem: Problem, bills: tuple[BlockBill, ...]) -> Finding:
    """Report that no plan fits the estimates; the answer is the best without them."""
    message = "no plan fits each accelerator by the most that memory may be by the estimates"
    advice = "write the `memory` that was measured, or leave more open: counts, degrees, `sharding`, `recompute`"
    return _report_tight(problem, bills, Severity.WARNING, message, advice, "this is the best plan without the estimates")


def decides(
    problem: Problem, question: PlanningProblem, best: CostedDesign, without: CostedDesign, bills: tuple[BlockBill, ...]
) -> Finding:
    """Report that another plan would win without the estimates."""
    more, fewer = best.accelerators(question), without.accelerators(question)
    seconds, more_seconds = (figure(candidate.total / SECOND, 6) for candidate in (without, best))
    message = f"without memory estimates, {_counts(without)} would take {seconds} s and not {more_seconds} s"
    if problem.workload.aim != SECONDS and fewer != more:
        message = f"without memory estimates, {fewer} accelerators would be enough and not {more}: {_counts(without)}"
    elif without.total == best.total:
        message = f"without memory estimates, {_counts(without)} would do"
    return _report_tight(problem, bills, Severity.NOTE, message, "write the `memory` that was measured, if it is less")


def _report_tight(problem: Problem, bills: tuple[BlockBill, ...], severity: Severity, message: str, advice: str, *notes: str) -> Finding:
    """Return a finding at the first tight estimate, with the needs of all tight blocks."""
    tight = [bill for bill in bills if bill.tight]
    names = (*(name for bill in tight for name in bill.block.components), *(component.name for component in problem.components))
    first = next(problem[name] for name in names if problem[name].estimate)
    return Finding("PW805", severity, first.name, message, first.span("estimate"), help=advice, notes=(*notes, *map(format_need, tight)))


def format_need(bill: BlockBill) -> str:
    """Format the need of a block at its worst moment, by component, against the capacity."""
    peak, parts = bill.peak, list[str]()
    for entry in peak.entries:
        at_most = f", at most {write_estimate(entry.demanded)}" if entry.demanded > entry.mebibytes else ""
        state = f", {entry.state}" if entry.state == KEPT else ""
        parts += [f"{entry.component} {write_estimate(entry.mebibytes)} ({entry.origin}{at_most}{state})"] if entry.mebibytes else []
    has = f"of {write_memory(bill.capacity)} " if bill.capacity is not None else ""
    return f"{write_estimate(peak.mebibytes)} {has}on each accelerator of {join_names(bill.block.components)}: {' + '.join(parts)}"


def _counts(candidate: CostedDesign) -> str:
    """Format counts, as in `rollout on 8 and actor on 8 (tp 2)`."""
    options = candidate.design.options.items()
    parts = [f"{name} on {option.amount}" + (f" ({option.parallel})" if option.parallel.replica > 1 else "") for name, option in options]
    return join_names(parts)


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
