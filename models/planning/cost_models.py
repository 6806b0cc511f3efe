"""Cost models: seconds of an iteration, as arithmetic and as maxima of sums for the solver."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, Sequence

from .design import Design
from .problem import PlanningProblem
from .workload import STAGES, STEADY, STREAM

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
    restricts : True if the model has no time for some structures.
    nests : True if a component may lie within the accelerators of another.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    turns: ClassVar[bool]
    full: ClassVar[bool]
    by_phase: ClassVar[bool]
    restricts: ClassVar[bool]
    nests: ClassVar[bool]

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
    restricts: ClassVar[bool] = False
    nests: ClassVar[bool] = True

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


class Stages:
    """A stage takes the greatest, over the sets of components on the same accelerators, of the sum of their times in it.

    What depends on what inside a stage is not looked at, and nothing of a stage begins before the one before it has ended.
    """

    name: ClassVar[str] = STAGES
    source: ClassVar[str] = "HybridFlow, arXiv 2409.19256, Algorithm 1 (d_cost)"
    turns: ClassVar[bool] = True
    full: ClassVar[bool] = True
    by_phase: ClassVar[bool] = True
    restricts: ClassVar[bool] = False
    nests: ClassVar[bool] = True

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
