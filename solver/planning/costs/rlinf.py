"""RLinf's own estimate of a reasoning job, for comparison with what its tool finds."""

from __future__ import annotations

from typing import ClassVar, Sequence

from ....models.planning.question import Question
from .cost_model import Blocks
from .stream import Stream


class Rlinf(Stream):
    """As `stream`, of the two structures that RLinf's tool keeps: all components together, or each on its own accelerators.

    Source: RLinf, toolkits/auto_placement/workflow.py, where a result that mixes both is discarded.
    """

    name: ClassVar[str] = "rlinf"
    source: ClassVar[str] = "RLinf, toolkits/auto_placement/workflow.py (reasoning)"

    def may_be(self, question: Question, sets: Blocks) -> bool:
        """See CostModel."""
        return len(sets) <= 1 or all(sum(bool(question.tasks_of[name]) for name in its) <= 1 for its in sets)

    def refuses(self, question: Question, blocks: Blocks, segments: Sequence[int]) -> str:
        """See CostModel."""
        timed = [[name for name in members if question.tasks_of[name]] for members in blocks]
        together = len(blocks) == 1
        apart = all(len(members) <= 1 for members in timed) and not any(segments)
        return "" if together or apart else "RLinf's tool keeps neither pipelines of shared accelerators nor the reverse"
