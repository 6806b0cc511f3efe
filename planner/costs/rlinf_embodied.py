"""RLinf's own estimate of an embodied job, in its own units, for comparison with what its tool finds."""

from __future__ import annotations

from typing import ClassVar, Sequence

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem
from .cost_model import Blocks, Maximum
from .rlinf import timed_of
from .stream import Stream


class RlinfEmbodied(Stream):
    """What runs at the same time is counted for one environment, what runs alone for all of them.

    RLinf divides the time of components that overlap by the number of environments (the question's batches) and hands on one
    batch, so that a simulator beside its policy looks that many times as fast. What trains last must use all accelerators of what has times.
    """

    name: ClassVar[str] = "rlinf-embodied"
    source: ClassVar[str] = "RLinf, toolkits/auto_placement/{node,workflow}.py, which counts what overlaps for a single environment"
    full: ClassVar[bool] = False

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """See CostModel: the first batch alone, or all of them."""
        first = super().maxima(question, blocks, tasks)[0]
        return (Maximum(1 if len(tasks) > 1 else question.flow.batches, first.sums),)

    def nanoseconds(self, question: PlanningProblem, design: Design, tasks: Sequence[int]) -> int:
        """See CostModel."""
        if len(tasks) == 1:
            return design.nanoseconds(question, tasks[0])
        slowest = max(design.nanoseconds(question, task) // question.flow.batches for task in tasks)
        return super().nanoseconds(question, design, tasks) - (question.flow.batches - 1) * slowest

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """See CostModel."""
        last = question.tasks[-1].component
        return "" if all(last in members for members in timed_of(question, blocks)) else f"RLinf's tool keeps `{last}` on all accelerators"
