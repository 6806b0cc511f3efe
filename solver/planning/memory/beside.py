"""The bill of memory with what is not planned: ranks that are given, on accelerators of their own or over those of others."""

from __future__ import annotations

from dataclasses import field
from typing import Sequence

from ....models.component import Component
from ....models.machines.node_group import ACCELERATOR
from ....models.memory.bill import BlockBill
from ....models.placements.assignment import Assignment
from ....models.planning.design import Block, Design
from ....models.planning.kind import NO_KIND
from ....models.planning.question import Question
from ....models.problem import Problem
from ....models.record import dataclass
from ...memory import pieces
from ...stretches import stretches
from .bill import bill, bill_of

Set = tuple[tuple[str, ...], int | None]
"""Components that hold accelerators together, and the MiB of each of these."""


@dataclass
class Held:
    """How many accelerators a set holds, and of which models."""

    count: int = 0
    models: dict[str, None] = field(default_factory=dict)


def bills(problem: Problem, question: Question, design: Design, placed: Assignment | None = None) -> tuple[BlockBill, ...]:
    """For each set of components that hold accelerators together, planned or not, what they need.

    Where components that are not planned lie over planned ones, which accelerators these are is known of what was `placed` alone; so is
    how much memory those have of a kind that is mixed, or of given ranks on several kinds.
    """
    if placed is not None and any(kind.mixed or (kind.holders and kind.memory is None) for kind in question.kinds):
        return _mixed(problem, question, design, placed)
    over = _over(problem, question, design, placed) if placed is not None and problem.job.overlaps else ()
    return over or (*bill(problem, question, design), *beside(problem, question, design))


def _mixed(problem: Problem, question: Question, design: Design, placed: Assignment) -> tuple[BlockBill, ...]:
    """The same of accelerators that have not all as much memory: as they were placed, each size of them by itself."""
    holds = [each for each in problem.components if each.name in question.options or each.runs is not None]
    kinds = {frozenset(block.components): block.kind for block in design.blocks}
    sets = _sets(problem, placed, holds).items()
    its = ((Block(kinds.get(frozenset(names), NO_KIND), held.count, names), capacity, held) for (names, capacity), held in sets)
    return tuple(bill_of(problem, question, design, block, capacity, tuple(held.models)) for block, capacity, held in its)


def _over(problem: Problem, question: Question, design: Design, placed: Assignment) -> tuple[BlockBill, ...]:
    """The same as it was placed; nothing where what is not planned lies over nothing that is."""
    holds = [each for each in problem.components if each.name in question.options or each.runs is not None]
    blocks = {frozenset(block.components): block for block in design.blocks}
    found: list[tuple[Block, int | None, tuple[str, ...]]] = []
    for (names, capacity), held in _sets(problem, placed, holds).items():
        block = blocks.get(frozenset(name for name in names if name in question.options))
        kind = block.kind if block is not None else NO_KIND
        known = (capacity, tuple(held.models)) if block is None else (question.kinds[kind].memory, ())
        found.append((Block(kind, held.count, names), *known))
    if all(block.kind == NO_KIND or frozenset(block.components) in blocks for block, *_ in found):
        return ()
    return tuple(bill_of(problem, question, design, *its) for its in found)


def beside(problem: Problem, question: Question, design: Design) -> tuple[BlockBill, ...]:
    """For each set of components that hold accelerators together and are not in the question, and each size of these, what they need."""
    its = [each for each in problem.components if each.name not in question.options and each.runs is not None]
    sets = _sets(problem, problem.given(), its).items()
    found = ((Block(NO_KIND, held.count, names), capacity, held) for (names, capacity), held in sets)
    return tuple(bill_of(problem, question, design, block, capacity, tuple(held.models)) for block, capacity, held in found)


def _sets(problem: Problem, placed: Assignment, its: Sequence[Component]) -> dict[Set, Held]:
    """What each set of these components holds together."""
    sets: dict[Set, Held] = {}
    for nodes, node, held in stretches(problem, placed, its):
        shares = [(mask, each.name) for each in its if (mask := held.get((each.name, ACCELERATOR), 0))]
        for piece in pieces([mask for mask, _ in shares]):
            alike = (tuple(name for mask, name in shares if mask & piece), node.accelerator_memory)
            found = sets.setdefault(alike, Held())
            found.count += piece.bit_count() * len(nodes)
            found.models.update({node.accelerator_model: None} if node.accelerator_model else {})
    return sets
