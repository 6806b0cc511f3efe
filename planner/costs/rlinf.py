"""RLinf's own estimate of a reasoning job, for comparison with what its tool finds."""

from __future__ import annotations

from typing import ClassVar, Sequence

from ...models.planning.problem import PlanningProblem
from .cost_model import Blocks
from .stream import Stream


class Rlinf(Stream):
    """As `stream`, of the two structures that RLinf's tool keeps: all components together, or each on its own accelerators.

    Source: RLinf, toolkits/auto_placement/workflow.py, where a result that mixes both is discarded. The tool knows only what has times:
    where the others are is no matter of its structures.
    """

    name: ClassVar[str] = "rlinf"
    source: ClassVar[str] = "RLinf, toolkits/auto_placement/workflow.py (reasoning)"

    def may_be(self, question: PlanningProblem, sets: Blocks) -> bool:
        """See CostModel."""
        timed = timed_of(question, sets)
        return len(timed) <= 1 or all(len(members) <= 1 for members in timed)

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """See CostModel."""
        timed = timed_of(question, blocks)
        together = len(timed) == 1
        apart = all(len(members) <= 1 for members in timed) and not any(segments)
        return "" if together or apart else "RLinf's tool keeps neither pipelines of shared accelerators nor the reverse"


def timed_of(question: PlanningProblem, blocks: Blocks) -> set[frozenset[str]]:
    """The sets of components with times that are in some block together."""
    return {its for members in blocks if (its := frozenset(name for name in members if question.tasks_of[name]))}
