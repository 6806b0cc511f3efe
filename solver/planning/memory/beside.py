"""The bill of memory of what is not planned: ranks that are given, on accelerators of their own."""

from __future__ import annotations

from ....models.machines.node_group import ACCELERATOR
from ....models.memory.bill import BlockBill
from ....models.planning.design import Block, Design
from ....models.planning.question import NO_KIND, Question
from ....models.problem import Problem
from ...memory import pieces
from ...stretches import stretches
from .bill import bill_of


def beside(problem: Problem, question: Question, design: Design) -> tuple[BlockBill, ...]:
    """For each set of components that hold accelerators together and are not in the question, and each size of these, what they need."""
    its = [each for each in problem.components if each.name not in question.options and each.runs is not None]
    counts: dict[tuple[tuple[str, ...], int | None], int] = {}
    for nodes, node, held in stretches(problem, problem.given(), its):
        shares = [(mask, each.name) for each in its if (mask := held.get((each.name, ACCELERATOR), 0))]
        for piece in pieces([mask for mask, _ in shares]):
            alike = (tuple(name for mask, name in shares if mask & piece), node.accelerator_memory)
            counts[alike] = counts.get(alike, 0) + piece.bit_count() * len(nodes)
    return tuple(bill_of(problem, question, design, Block(NO_KIND, count, names), capacity) for (names, capacity), count in counts.items())
