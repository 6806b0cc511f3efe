"""The bill of memory of a design."""

from __future__ import annotations

from ....models.component import Component
from ....models.memory.bill import DECLARED, ESTIMATED, KEPT, RESIDENT, SILENT, WORKS, BlockBill, Entry, Moment
from ....models.planning.design import Block, Design
from ....models.planning.question import Question, Task
from ....models.problem import Problem
from .need import estimate


def bill(problem: Problem, question: Question, design: Design) -> tuple[BlockBill, ...]:
    """For each block what its components need in each part of the iteration, term by term where it is estimated.

    `problem` is the one that was asked about, with its estimates, whether the design was chosen by them or not.
    """
    return tuple(_of(problem, question, design, block) for block in design.blocks)


def _of(problem: Problem, question: Question, design: Design, block: Block) -> BlockBill:
    capacity = question.kinds[block.kind].memory
    parts = sorted(set(design.segments)) or [0]
    return BlockBill(block, capacity, tuple(_moment(problem, question, design, block, part) for part in parts))


def _moment(problem: Problem, question: Question, design: Design, block: Block, part: int) -> Moment:
    """What is there in one part; where components take turns in it, in the turn in which most is needed."""
    running = [question.tasks[task] for task, segment in enumerate(design.segments) if segment == part]
    turns: dict[tuple[str, str], list[Task]] = {}
    for task in running:
        if task.component in block.components:
            turns.setdefault(_turn(question, task), []).append(task)
    each = list(turns.values()) if len(turns) > 1 else [running]
    moments = (Moment(part, tuple(_entry(problem, question, design, block, name, its) for name in block.components)) for its in each)
    return max(moments, key=lambda moment: moment.demanded)


def _turn(question: Question, task: Task) -> tuple[str, str]:
    """The turn of a task, as `Question.turns_of` names them."""
    return (task.phase, "") if task.phase in question.turns.get(task.component, ()) else ("", task.component)


def _entry(problem: Problem, question: Question, design: Design, block: Block, name: str, running: list[Task]) -> Entry:
    component, capacity = problem[name], question.kinds[block.kind].memory
    state = _state(question, design, component, running)
    if component.memory or component.offloaded:
        amount = component.offloaded if state == KEPT else component.memory
        return Entry(name, amount, state, DECLARED)
    option = design.options[name]
    found = estimate(problem, component, option.parallel, option.amount, capacity)
    if found is None:
        return Entry(name, 0, state, SILENT)
    if state == KEPT:
        return Entry(name, found.kept, state, ESTIMATED, tuple(term for term in found.terms if term.stays and not found.offloaded))
    return Entry(name, found.mebibytes, state, ESTIMATED, found.terms)


def _state(question: Question, design: Design, component: Component, running: list[Task]) -> str:
    """What a component does while these tasks run."""
    tasks, phases = question.tasks_of[component.name], question.turns.get(component.name, ())
    here = {name for block in design.blocks if component.name in block.components for name in block.components}
    if any(task.component == component.name or (task.component in here and task.phase in phases) for task in running):
        return WORKS
    # With an estimate it is known what stays, of a component that works in some part.
    takes_turns = component.name not in question.resident or (
        tasks and component.estimate and not (component.memory or component.offloaded)
    )
    return KEPT if takes_turns else RESIDENT
