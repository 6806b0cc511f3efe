"""An answer of planning: who uses how many accelerators with whom, and what runs at the same time. It names no accelerator."""

from __future__ import annotations

from itertools import combinations
from typing import Mapping

from ..parallel import Parallel
from ..record import dataclass
from .option import Idle, Option
from .problem import PlanningProblem
from .way import Way


@dataclass(frozen=True, slots=True)
class Block:
    """So many accelerators of one kind that exactly these components use, in the order of the question."""

    kind: int
    accelerators: int
    components: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """One answer.

    Attributes
    ----------
    blocks : no accelerator is in two of them; a component uses all of every block that names it.
    options : the option of each component.
    segments : for each task, the part of the iteration in which it runs: parts 0, 1, ... one after the other.
    """

    blocks: tuple[Block, ...]
    options: Mapping[str, Option]
    segments: tuple[int, ...]

    @property
    def accelerators(self) -> int:
        """How many accelerators planned components use."""
        return sum(block.accelerators for block in self.blocks)

    def used(self, question: PlanningProblem) -> int:
        """How many these use, and components that let them use theirs, at least: as many of these as can be lie below planned ones.

        By max-flow min-cut: whichever of what is shared is held by somebody in any case, all blocks come beside it that may not be there.
        """
        return max(
            sum(each.accelerators for each in its)
            + sum(block.accelerators for block in self.blocks if not any(each.lets(block.kind, block.components) for each in its))
            for its in question.together_shared
        )

    def held(self, question: PlanningProblem) -> int:
        """How many accelerators all components hold with it, those too that are not planned; at least that, where some of theirs are shared."""
        return self.used(question) + question.given.held

    def blocks_of(self, component: str) -> tuple[int, ...]:
        """Indices of the blocks that a component uses."""
        return tuple(index for index, block in enumerate(self.blocks) if component in block.components)

    @property
    def overlapping(self) -> tuple[tuple[str, str], ...]:
        """Pairs of components that share accelerators of which neither lies inside the other: no search proposes such a design."""
        uses = {name: set(self.blocks_of(name)) for name in self.options}
        return tuple(
            (one, other)
            for one, other in combinations(uses, 2)
            if uses[one] & uses[other] and not (uses[one] <= uses[other] or uses[other] <= uses[one])
        )

    def nanoseconds(self, question: PlanningProblem, task: int) -> int:
        """How long a task takes, a whole iteration of it."""
        component = question.tasks[task].component
        return self.options[component].nanoseconds[question.tasks_of[component].index(task)]

    def way(self, question: PlanningProblem) -> Way | None:
        """The first of the question's arrangements that it keeps to; None where there are none."""
        uses = {name: set(self.blocks_of(name)) for name in self.options}
        for way in question.ways:
            if all(uses[one] == uses[other] for one, other in way.together) and not any(
                uses[one] & uses[other] for one, other in way.apart
            ):
                return way
        return None

    def not_started(self, idle: Idle) -> frozenset[str]:
        """Components that the framework does not start with it: they need no memory."""
        return frozenset().union(*(idle.among(block.components) for block in self.blocks))

    def option_of_work(self, question: PlanningProblem, component: str) -> Option:
        """The option with whose degrees its work is run: that of what does it where the framework does not start the component itself."""
        way = self.way(question)
        worker = way.worker(component) if way is not None else None
        return self.options[component if worker is None else worker]

    def degrees(self, question: PlanningProblem, component: str) -> Parallel:
        """The degrees with which its work is run."""
        return self.option_of_work(question, component).parallel

    def structure(self) -> tuple[frozenset[tuple[str, str]], tuple[int, ...]]:
        """What is left when counts and degrees are not told apart: who lies on accelerators of whom alone, and what runs at the same time."""
        uses = {name: set(self.blocks_of(name)) for name in self.options}
        pairs = ((one, other) for one in uses for other in uses if one != other and uses[one] and uses[one] <= uses[other])
        return frozenset(pairs), self.segments
