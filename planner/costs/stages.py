"""Phases one after the other, each as long as its slowest set of components; within a set they take turns."""

from __future__ import annotations

from typing import ClassVar, Sequence

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import STAGES, STEADY
from .cost_model import Blocks, Maximum


class Stages:
    """A stage takes the greatest, over the sets of components on the same accelerators, of the sum of their times in it.

    What depends on what inside a stage is not looked at, and nothing of a stage begins before the one before it has ended.
    """

    name: ClassVar[str] = STAGES
    source: ClassVar[str] = "HybridFlow, arXiv 2409.19256, Algorithm 1 (d_cost)"
    turns: ClassVar[bool] = True
    full: ClassVar[bool] = True
    by_phase: ClassVar[bool] = True

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """See CostModel."""
        sums = [tuple(task for task in tasks if question.tasks[task].component in members) for members in blocks]
        placed = {task for its in sums for task in its}
        return (Maximum(1, (*(its for its in sums if its), *((task,) for task in tasks if task not in placed))),)

    def divisor(self, question: PlanningProblem) -> int:
        """See CostModel."""
        return 1

    def nanoseconds(self, question: PlanningProblem, design: Design, tasks: Sequence[int]) -> int:
        """See CostModel."""
        load = [0] * len(design.blocks)
        unplaced: dict[str, int] = {}  # a component without accelerators is in nobody's way but its own
        for task in tasks:
            name = question.tasks[task].component
            blocks = design.blocks_of(name)
            for block in blocks:
                load[block] += design.nanoseconds(question, task)
            if not blocks:
                unplaced[name] = unplaced.get(name, 0) + design.nanoseconds(question, task)
        return max([*unplaced.values(), *load], default=0)

    def segment(self, question: PlanningProblem, task: int) -> int:
        """See CostModel."""
        return question.phase(task)

    def may_be(self, question: PlanningProblem, sets: Blocks) -> bool:
        """See CostModel: it has."""
        return True

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """See CostModel: it has a time for every structure."""
        return ""


class Steady(Stages):
    """An asynchronous pipeline that has filled: one stage, in which each set works on what came before.

    Training then uses data of earlier weights; how old they may be is the framework's setting and is not looked at.
    """

    name: ClassVar[str] = STEADY
    source: ClassVar[str] = "HybridFlow, arXiv 2409.19256, Algorithm 1, of a single stage"

    def segment(self, question: PlanningProblem, task: int) -> int:
        """See CostModel: all at once."""
        return 0
