"""Tasks on different accelerators hand on batch by batch; tasks on the same accelerators run one after the other."""

from __future__ import annotations

from typing import ClassVar, Sequence

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import STREAM
from .cost_model import Blocks, Maximum


class Stream:
    """A segment is a pipeline: the first batch through its longest chain of tasks, then a batch each time of the slowest task.

    With B batches and t nanoseconds a task, a batch takes t / B: max over chains of the sum, plus (B - 1) x the greatest.
    Of a chain of components this is RLinf's warm-up and bottleneck; branches and several segments are ours.
    """

    name: ClassVar[str] = STREAM
    source: ClassVar[str] = "RLinf, toolkits/auto_placement/workflow.py, for any number of components and branches"
    turns: ClassVar[bool] = False
    full: ClassVar[bool] = True
    by_phase: ClassVar[bool] = False

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """See CostModel."""
        its = set(tasks)
        after: dict[int, list[int]] = {task: [] for task in tasks}
        for edge in question.flow.edges:
            if edge.earlier in its and edge.later in its:
                after[edge.earlier].append(edge.later)
        first = its - {later for laters in after.values() for later in laters}
        chains: list[tuple[int, ...]] = []
        open_: list[tuple[int, ...]] = [(task,) for task in sorted(first)]
        while open_:
            chain = open_.pop()
            open_ += [(*chain, later) for later in after[chain[-1]]]
            if not after[chain[-1]]:
                chains.append(chain)
        slowest = Maximum(question.flow.batches - 1, tuple((task,) for task in tasks))
        return (Maximum(1, tuple(dict.fromkeys(chains))), *((slowest,) if slowest.weight else ()))

    def divisor(self, question: PlanningProblem) -> int:
        """See CostModel: a batch."""
        return question.flow.batches

    def nanoseconds(self, question: PlanningProblem, design: Design, tasks: Sequence[int]) -> int:
        """See CostModel."""
        each = {task: design.nanoseconds(question, task) // question.flow.batches for task in tasks}
        until: dict[int, int] = {}
        for task in sorted(tasks):  # none comes before one that it works on
            before = [until[edge.earlier] for edge in question.flow.edges if edge.later == task and edge.earlier in until]
            until[task] = each[task] + max(before, default=0)
        return max(until.values()) + (question.flow.batches - 1) * max(each.values())

    def segment(self, question: PlanningProblem, task: int) -> int:
        """See CostModel: it is chosen, so that no phase says it."""
        return 0

    def may_be(self, question: PlanningProblem, sets: Blocks) -> bool:
        """See CostModel: it has."""
        return True

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """See CostModel: it has a time for every structure."""
        return ""
