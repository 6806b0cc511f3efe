"""Cost models of RLinf's own planning tool, for comparison with its results."""

from __future__ import annotations

from typing import ClassVar, Sequence

from ....planning.cost_models import Blocks, Maximum, Stream
from ....planning.design import Design
from ....planning.problem import PlanningProblem


class Rlinf(Stream):
    """`stream` for the two structures of RLinf's tool: all components together, or all apart.

    Source: RLinf, toolkits/auto_placement/workflow.py, which discards a result that mixes both. The
    tool knows only components with times; the others do not count.
    """

    name: ClassVar[str] = "rlinf"
    restricts: ClassVar[bool] = True
    nests: ClassVar[bool] = False
    source: ClassVar[str] = "RLinf, toolkits/auto_placement/workflow.py (reasoning)"

    def may_be(self, question: PlanningProblem, sets: Blocks) -> bool:
        """See CostModel."""
        timed_sets = find_timed_sets(question, sets)
        return len(timed_sets) <= 1 or all(len(members) <= 1 for members in timed_sets)

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """See CostModel."""
        timed_sets = find_timed_sets(question, blocks)
        is_collocated = len(timed_sets) == 1
        is_separate = all(len(members) <= 1 for members in timed_sets) and not any(segments)
        return "" if is_collocated or is_separate else "RLinf's tool keeps neither pipelines of shared accelerators nor the reverse"


class RlinfEmbodied(Stream):
    """Cost model of embodied jobs: overlapping work counts for one environment, other work for all.

    RLinf divides the time of components that overlap by the number of environments (the question's batches) and hands on one
    batch, so a simulator beside its policy looks that many times as fast. The training component must
    use all accelerators of components with times.
    """

    name: ClassVar[str] = "rlinf-embodied"
    restricts: ClassVar[bool] = True
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
        is_kept = all(last in members for members in find_timed_sets(question, blocks))
        return "" if is_kept else f"RLinf's tool keeps `{last}` on all accelerators"


def find_timed_sets(question: PlanningProblem, blocks: Blocks) -> set[frozenset[str]]:
    """Return the sets of components with times that share a block."""
    return {timed_set for members in blocks if (timed_set := frozenset(name for name in members if question.tasks_of[name]))}
