"""Cost models: seconds of an iteration, as arithmetic and as maxima of sums for the solver."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, Sequence

from .design import Design
from .problem import PlanningProblem
from .workload import STAGES, STEADY, STREAM

Blocks = Sequence[Sequence[str]]
"""Components of every block."""


class Maximum(NamedTuple):
    """Greatest of several sums of task times, times `weight`; sums are tuples of tasks."""

    weight: int
    sums: tuple[tuple[int, ...], ...]


class CostModel(Protocol):
    """Time of a segment, in which tasks run at the same time.

    Attributes
    ----------
    turns : True if tasks of a segment may share accelerators and take turns there.
    full : True if an iteration takes at least as long as any accelerator works in it.
    by_phase : True if phases decide the segments; False if the search does.
    restricts : True if the model has no time for some structures.
    nests : True if a component may be within the accelerators of another component.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    turns: ClassVar[bool]
    full: ClassVar[bool] = True
    by_phase: ClassVar[bool]
    restricts: ClassVar[bool] = False
    nests: ClassVar[bool] = True

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """Return the ns as a sum of maxima over task times divided by `divisor`."""

    def divisor(self, question: PlanningProblem) -> int:
        """Return the number of batches between tasks, a divisor of every time."""
        return 1

    def nanoseconds(self, question: PlanningProblem, design: Design, tasks: Sequence[int]) -> int:
        """Return the ns of a segment with these tasks, by plain arithmetic."""

    def segment(self, question: PlanningProblem, task: int) -> int:
        """Return the segment of a task; for models with `by_phase`."""
        return 0

    def may_be(self, question: PlanningProblem, sets: Blocks) -> bool:
        """Return False if every structure with these sets, or larger ones, is refused."""
        return True

    def refuses(self, question: PlanningProblem, blocks: Blocks, segments: Sequence[int]) -> str:
        """Return the reason for no time of a structure; "" if none."""
        return ""


def iteration(model: CostModel, question: PlanningProblem, design: Design) -> int:
    """Return the nanoseconds of an iteration."""
    return sum(segment_times(model, question, design))


def segment_times(model: CostModel, question: PlanningProblem, design: Design) -> list[int]:
    """Return the nanoseconds of every segment, in order."""
    count = max(design.segments, default=-1) + 1
    members: list[list[int]] = [[] for _ in range(count)]
    for task, segment in enumerate(design.segments):
        members[segment].append(task)
    return [model.nanoseconds(question, design, tasks) if tasks else 0 for tasks in members]


class Stream(CostModel):
    """Pipelined segments: tasks on different accelerators hand on batch by batch.

    The first batch passes the longest chain of tasks, every further batch takes the time of the
    slowest task. With B batches and t nanoseconds a task, a batch takes t / B: max over chains of
    the sum, plus (B - 1) x the greatest. For a chain of components this is RLinf's warm-up and
    bottleneck; branches and several segments are placewright's addition.
    """

    name: ClassVar[str] = STREAM
    source: ClassVar[str] = "RLinf, toolkits/auto_placement/workflow.py, for any number of components and branches"
    turns: ClassVar[bool] = False
    by_phase: ClassVar[bool] = False

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """See CostModel."""
        members = set(tasks)
        after: dict[int, list[int]] = {task: [] for task in tasks}
        for edge in question.flow.edges:
            if edge.earlier in members and edge.later in members:
                after[edge.earlier].append(edge.later)
        first = members - {later for laters in after.values() for later in laters}
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
        batch_ns = {task: design.nanoseconds(question, task) // question.flow.batches for task in tasks}
        until: dict[int, int] = {}
        for task in sorted(tasks):  # tasks are numbered in execution order
            before = [until[edge.earlier] for edge in question.flow.edges if edge.later == task and edge.earlier in until]
            until[task] = batch_ns[task] + max(before, default=0)
        return max(until.values()) + (question.flow.batches - 1) * max(batch_ns.values())


class Stages(CostModel):
    """Stages one after another, each as long as its slowest set of components.

    Components on the same accelerators take turns: the time of a set is the sum of their times.
    Dependencies inside a stage are ignored, and a stage begins after the stage before.
    """

    name: ClassVar[str] = STAGES
    source: ClassVar[str] = "HybridFlow, arXiv 2409.19256, Algorithm 1 (d_cost)"
    turns: ClassVar[bool] = True
    by_phase: ClassVar[bool] = True

    def maxima(self, question: PlanningProblem, blocks: Blocks, tasks: Sequence[int]) -> Sequence[Maximum]:
        """See CostModel."""
        tasks_on_blocks = {name for members in blocks for name in members}
        sets = (*blocks, *((name,) for name in question.options if name not in tasks_on_blocks))
        sums = (tuple(task for task in tasks if question.tasks[task].component in members) for members in sets)
        return (Maximum(1, tuple(filter(None, sums))),)

    def nanoseconds(self, question: PlanningProblem, design: Design, tasks: Sequence[int]) -> int:
        """See CostModel."""
        load = [0] * len(design.blocks)
        time_of_others: dict[str, int] = {}  # a component without accelerators delays only itself
        for task in tasks:
            name = question.tasks[task].component
            blocks = design.blocks_of(name)
            for block in blocks:
                load[block] += design.nanoseconds(question, task)
            if not blocks:
                time_of_others[name] = time_of_others.get(name, 0) + design.nanoseconds(question, task)
        return max([*time_of_others.values(), *load], default=0)

    def segment(self, question: PlanningProblem, task: int) -> int:
        """See CostModel."""
        return question.phase(task)


class Steady(Stages):
    """Filled asynchronous pipeline: a single stage; the age of weights is not checked."""

    name: ClassVar[str] = STEADY
    source: ClassVar[str] = "HybridFlow, arXiv 2409.19256, Algorithm 1, of a single stage"

    def segment(self, question: PlanningProblem, task: int) -> int:
        """See CostModel: all at once."""
        return 0
