"""What every cost model answers. The time of an iteration is the sum of the times of its segments."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, Sequence

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem

Blocks = Sequence[Sequence[str]]
"""The components of each block."""


class Maximum(NamedTuple):
    """`weight` times the greatest of several sums of task times; each sum is given by its tasks."""

    weight: int
    sums: tuple[tuple[int, ...], ...]


class CostModel(Protocol):
    """How long the tasks of a segment take that run at the same time.

    Attributes
    ----------
    name : as it is written and printed.
    source : where its formulas come from.
    turns : may tasks of one segment share accelerators, where they take turns? Else they lie on different ones.
    full : does an iteration take at least as long as any accelerator works in it?
    by_phase : is the segment of a task the place of its phase, or is it chosen?
    """

    name: ClassVar[str]
    source: ClassVar[str]
    turns: ClassVar[bool]
    full: ClassVar[bool]
    by_phase: ClassVar[bool]

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """The same as a sum of maxima, in ns; the times of the tasks enter divided by `divisor`."""

    def divisor(self, question: PlanningProblem) -> int:
        """In how many batches the tasks hand on what they make: every time is a multiple of it."""

    def nanoseconds(self, question: PlanningProblem, design: Design, tasks: Sequence[int]) -> int:
        """The time of a segment of these tasks, by plain arithmetic."""

    def segment(self, question: PlanningProblem, task: int) -> int:
        """The segment of a task, where its phase says it."""

    def may_be(self, question: PlanningProblem, sets: Blocks) -> bool:
        """Does this model have a time for any structure with these sets, whoever else joins them? Where False, each is refused."""

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """Why this model has no time for a structure; "" if it has."""


def iteration(model: CostModel, question: PlanningProblem, design: Design) -> int:
    """Nanoseconds of one iteration."""
    return sum(segment_times(model, question, design))


def segment_times(model: CostModel, question: PlanningProblem, design: Design) -> list[int]:
    """Nanoseconds of each segment, in order."""
    count = max(design.segments, default=-1) + 1
    members: list[list[int]] = [[] for _ in range(count)]
    for task, segment in enumerate(design.segments):
        members[segment].append(task)
    return [model.nanoseconds(question, design, tasks) if tasks else 0 for tasks in members]
