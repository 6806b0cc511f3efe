"""Nothing waits for anything of its own iteration: as long as the busiest set of components is busy."""

from __future__ import annotations

from typing import ClassVar

from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import STEADY
from .stages import Stages


class Steady(Stages):
    """An asynchronous pipeline that has filled: one stage, in which each set works on what came before.

    Training then uses data of earlier weights; how old they may be is the framework's setting and is not looked at.
    """

    name: ClassVar[str] = STEADY
    source: ClassVar[str] = "HybridFlow, arXiv 2409.19256, Algorithm 1, of a single stage"

    def segment(self, question: PlanningProblem, task: int) -> int:
        """See CostModel: all at once."""
        return 0
