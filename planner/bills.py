"""Bills of memory: load of each block in each segment, beside given ranks."""

from __future__ import annotations

from collections import Counter
from typing import Iterable, Sequence

from ..models.account import DECLARED, ESTIMATED, KEPT, RESIDENT, SILENT, WORKS, BlockBill, ComponentMemory, SegmentMemory
from ..models.component import Component
from ..models.findings.finding import Finding, Severity
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.planning.design import Block, Design
from ..models.planning.option import NO_KIND
from ..models.planning.planned import CostedDesign
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import SECOND, SECONDS
from ..models.problem import Problem
from ..models.quantity import write_estimate, write_memory
from ..solver.memory import pieces
from ..solver.stretches import stretches
from ..solver.wording import figure, join_names
from .memory import estimate, is_estimated

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
    message = f"without memory estimates, {_counts(without)} would take {_seconds(without)} s and not {_seconds(best)} s"
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
    peak = bill.peak
    parts = " + ".join(f"{entry.component} {write_estimate(entry.mebibytes)} ({_why(entry)})" for entry in peak.entries if entry.mebibytes)
    has = f"of {write_memory(bill.capacity)} " if bill.capacity is not None else ""
    return f"{write_estimate(peak.mebibytes)} {has}on each accelerator of {join_names(bill.block.components)}: {parts}"


def _why(entry: ComponentMemory) -> str:
    at_most = f", at most {write_estimate(entry.demanded)}" if entry.demanded > entry.mebibytes else ""
    return entry.origin + at_most + (f", {entry.state}" if entry.state == KEPT else "")


def _counts(candidate: CostedDesign) -> str:
    """Format counts, as in `rollout on 8 and actor on 8 (tp 2)`."""
    options = candidate.design.options.items()
    parts = [f"{name} on {option.amount}" + (f" ({option.parallel})" if option.parallel.replica > 1 else "") for name, option in options]
    return join_names(parts)


def _seconds(candidate: CostedDesign) -> str:
    return figure(candidate.total / SECOND, 6)
