"""Design: counts, sharing and concurrency of components, without naming accelerators; and no-goods."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import Mapping

from ..parallel import Parallel
from ..record import dataclass
from .arrangement import FrameworkArrangement
from .option import Idle, Option, RefusedCount, Use
from .problem import PlanningProblem


@dataclass(frozen=True, slots=True)
class Block:
    """Accelerators of a kind with exactly these components, in the problem's order."""

    kind: int
    accelerators: int
    components: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """Answer of planning: blocks, options and segments.

    Attributes
    ----------
    blocks : disjoint; a component uses all of every block that names it.
    segments : segment of the iteration of each task: segments 0, 1, ... run one after the other.
    """

    blocks: tuple[Block, ...]
    options: Mapping[str, Option]
    segments: tuple[int, ...]

    @property
    def accelerators(self) -> int:
        """Accelerators used by planned components."""
        return sum(block.accelerators for block in self.blocks)

    def count_used(self, question: PlanningProblem) -> int:
        """Return a lower bound on accelerators in use, shared ones included.

        As many shared accelerators as possible lie below planned blocks. By max-flow min-cut: for
        every choice of shared accelerators, held in any case, the blocks that may not lie on them
        come beside them; the largest sum counts.
        """
        return max(
            sum(block_shared.accelerators for block_shared in choice)
            + sum(
                block.accelerators
                for block in self.blocks
                if not any(block_shared.lets(block.kind, block.components) for block_shared in choice)
            )
            for choice in question.together_shared
        )

    def all_accelerators(self, question: PlanningProblem) -> int:
        """Return the accelerators of all components, planned or not; a lower bound if shared."""
        return self.count_used(question) + question.given.held

    def blocks_of(self, component: str) -> tuple[int, ...]:
        """Return the indices of the blocks of a component."""
        return tuple(index for index, block in enumerate(self.blocks) if component in block.components)

    @cached_property
    def uses(self) -> Mapping[str, frozenset[int]]:
        """Component -> indices of its blocks."""
        return {name: frozenset(self.blocks_of(name)) for name in self.options}

    @property
    def overlapping(self) -> tuple[tuple[str, str], ...]:
        """Pairs of components with partly shared accelerators; no search proposes any."""
        uses = self.uses
        return tuple(
            (first, second)
            for first, second in combinations(uses, 2)
            if uses[first] & uses[second] and not (uses[first] <= uses[second] or uses[second] <= uses[first])
        )

    def nanoseconds(self, question: PlanningProblem, task: int) -> int:
        """Return the time of a task in a whole iteration."""
        component = question.tasks[task].component
        return self.options[component].nanoseconds[question.tasks_of[component].index(task)]

    def way(self, question: PlanningProblem) -> FrameworkArrangement | None:
        """Return the first matching arrangement of the problem; None if there is none."""
        return next((arrangement for arrangement in question.ways if arrangement.matches(self.uses)), None)

    def not_started(self, idle: Idle) -> frozenset[str]:
        """Return the components without a start, and so without memory, in the framework."""
        return frozenset().union(*(idle.among(block.components) for block in self.blocks))

    def option_of_work(self, question: PlanningProblem, component: str) -> Option:
        """Return the option that runs a component's work: that of the worker if not started."""
        arrangement = self.way(question)
        worker = arrangement.worker(component) if arrangement is not None else None
        return self.options[component if worker is None else worker]

    def degrees(self, question: PlanningProblem, component: str) -> Parallel:
        """Return the degrees that run a component's work."""
        return self.option_of_work(question, component).parallel

    def structure(self) -> tuple[frozenset[tuple[str, str]], tuple[int, ...]]:
        """Return (pairs of nested components, segments): the design without counts and degrees."""
        return list_nested(self, frozenset(self.options)), self.segments


def meets(use: Use, option: Option) -> bool:
    """Return True if an option matches this use."""
    enough = option.amount >= use.amount if use.or_more else option.amount == use.amount
    return enough and option.kind == use.kind and use.parallel in (None, option.parallel)


def bars(no_good: RefusedCount, design: Design) -> bool:
    """Return True if a design matches the no-good."""
    if no_good.segments is not None and design.segments != no_good.segments:
        return False
    if not all(meets(use, design.options[name]) for name, use in no_good.uses.items()):
        return False
    return list_nested(design, frozenset(no_good.uses)) == no_good.inside


def list_nested(design: Design, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of `names` with the first on accelerators of the second."""
    uses = design.uses
    return frozenset((inner, outer) for inner in names for outer in names if inner != outer and uses[inner] and uses[inner] <= uses[outer])
