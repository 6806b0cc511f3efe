"""The bill of memory of a design."""

from __future__ import annotations

from typing import Iterable

from ....models.component import Component
from ....models.memory.bill import DECLARED, ESTIMATED, KEPT, RESIDENT, SILENT, WORKS, BlockBill, Entry, Moment
from ....models.planning.design import Block, Design
from ....models.planning.question import Question
from ....models.problem import Problem
from .need import estimate

Turn = tuple[str, str]
"""A turn in which some components need all their memory, as `Question.turns_of` names them: (phase, "") or ("", component)."""


def bill(problem: Problem, question: Question, design: Design) -> tuple[BlockBill, ...]:
    """For each block what its components need in each part of the iteration, term by term where it is estimated.

    A phase in which nothing runs whose time is known comes after the parts: it is somewhere beside them, in a turn of its own.
    `problem` is the one that was asked about, with its estimates, whether the design was chosen by them or not.
    """
    return tuple(bill_of(problem, question, design, block, question.kinds[block.kind].memory) for block in design.blocks)


def bill_of(
    problem: Problem, question: Question, design: Design, block: Block, capacity: int | None, models: tuple[str, ...] = ()
) -> BlockBill:
    """The bill of one block, whose components may be others than those that are planned; each accelerator has `capacity` MiB.

    What the framework does not start with this design is not in it. `models` are those that its accelerators are of, where that is known
    better than of their kind.
    """
    idle = design.not_started(question.idle)

    def moment(part: int | None, turn: Turn) -> Moment:
        started = (name for name in block.components if name not in idle)
        entries = tuple(_entry(problem, question, design, name, turn, capacity, idle) for name in started)
        return Moment(part, entries, turn[0] if part is None else "")

    moments, open_ = [], _open(problem, question, block)
    for part in sorted(set(design.segments)) or [0]:
        each = (moment(part, turn) for turn in _turns(question, design, block, part, open_))
        moments.append(max(each, key=lambda its: its.demanded))  # where components take turns in a part, the worst of these
    timed = {phase for task in range(len(question.tasks)) for phase in _phases(question, task)}
    moments += [moment(None, (phase, "")) for phase in open_ if phase not in timed]
    return BlockBill(block, capacity, tuple(moments), models)


def _turns(question: Question, design: Design, block: Block, part: int, open_: list[str]) -> list[Turn]:
    """The turns that the components of a block take in a part; one of nobody where all of them wait."""
    running = [task for task, segment in enumerate(design.segments) if segment == part]
    found: dict[Turn, None] = {}
    for task in running:
        if (name := question.tasks[task].component) in block.components:
            found.update(dict.fromkeys([(phase, "") for phase in _phases(question, task)] or [("", name)]))
    phases = {phase for task in running for phase in _phases(question, task)}
    found.update(((phase, ""), None) for phase in open_ if phase in phases)
    return list(found) or [("", "")]


def _phases(question: Question, task: int) -> tuple[str, ...]:
    """The phases in which a task runs: all those of its component where nobody says more; none where that has none."""
    its, phases = question.tasks[task], question.turns.get(question.tasks[task].component, ())
    return (its.phase,) if its.phase in phases else phases


def _open(problem: Problem, question: Question, block: Block) -> list[str]:
    """The phases of its components in which these work for a time that nobody says."""
    found: dict[str, None] = {}
    for name in block.components:
        timed = {phase for task in question.tasks_of.get(name, ()) for phase in _phases(question, task)}
        found.update((phase, None) for phase in problem[name].phases if phase not in timed)
    return list(found)


def _entry(
    problem: Problem, question: Question, design: Design, name: str, turn: Turn, capacity: int | None, idle: Iterable[str]
) -> Entry:  # fmt: skip
    component = problem[name]
    does_work = any(question.idle.workers.get(other) == name and _is_in(problem[other], turn) for other in idle)
    state = WORKS if does_work else _state(component, turn, bool(question.tasks_of.get(name)))
    if component.memory or component.offloaded:
        amount = component.offloaded if state == KEPT else component.memory
        return Entry(name, amount, state, DECLARED)
    option = design.options.get(name)
    parallel, amount = (option.parallel, option.amount) if option else (component.parallel, problem.given().amount(name))
    found = estimate(problem, component, parallel, amount, capacity)
    if found is None:
        return Entry(name, 0, state, SILENT)
    if state == KEPT:
        return Entry(name, found.kept, state, ESTIMATED, tuple(term for term in found.terms if term.stays and not found.offloaded))
    return Entry(name, found.mebibytes, state, ESTIMATED, found.terms)


def _state(component: Component, turn: Turn, timed: bool) -> str:
    """What a component does in a turn."""
    if _is_in(component, turn):
        return WORKS
    # With an estimate it is known what stays, of a component that works in some part.
    estimated = timed and component.estimate and not (component.memory or component.offloaded)
    return KEPT if component.phases or estimated else RESIDENT


def _is_in(component: Component, turn: Turn) -> bool:
    """Is a turn one of its own?"""
    return turn == ("", component.name) or turn[0] in component.phases
