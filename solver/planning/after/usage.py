"""Who works and who waits: what runs on each set of accelerators in each part of the iteration, and for how long."""

from __future__ import annotations

from typing import Sequence

from ....models.planning.design import Design
from ....models.planning.question import Question
from ....models.record import dataclass
from ..costs.cost_model import CostModel, segment_times


@dataclass(frozen=True, slots=True)
class Turn:
    """A task in its part of the iteration; all in ns, counted from the beginning of that part.

    Attributes
    ----------
    works : how long it works.
    begins, ends : from its first batch to its last; None where the cost model does not say when.
    """

    task: int
    works: int
    begins: int | None = None
    ends: int | None = None

    @property
    def starves(self) -> int:
        """How long it waits for batches between its first and its last."""
        return 0 if self.begins is None or self.ends is None else self.ends - self.begins - self.works


@dataclass(frozen=True, slots=True)
class Usage:
    """One place in one part of the iteration: how long the part takes, and what works there in it.

    Attributes
    ----------
    block : the accelerators of a block; None for the robots or processes of a component that needs no accelerators.
    components : who is there.
    untimed : those of them of which nobody says how long they work.
    """

    block: int | None
    components: tuple[str, ...]
    segment: int
    nanoseconds: int
    turns: tuple[Turn, ...]
    untimed: tuple[str, ...] = ()

    @property
    def works(self) -> int:
        """How long something works there, as far as its time is known."""
        return sum(turn.works for turn in self.turns)

    @property
    def idle(self) -> int:
        """How long nothing does whose time is known."""
        return self.nanoseconds - self.works

    @property
    def known(self) -> bool:
        """Has anybody there a time?"""
        return len(self.untimed) < len(self.components)


def usages(question: Question, model: CostModel, design: Design) -> tuple[Usage, ...]:
    """For each part of the iteration each block, in order, then each component that needs no accelerators.

    None at all where the model's units are not those of a clock.
    """
    places: list[tuple[int | None, tuple[str, ...]]] = [(number, block.components) for number, block in enumerate(design.blocks)]
    places += [(None, (name,)) for name in question.components if not design.blocks_of(name)]
    found: list[Usage] = []
    for segment, length in enumerate(segment_times(model, question, design)):
        tasks = [task for task, its in enumerate(design.segments) if its == segment]
        turns = _in_turns(question, design, tasks) if model.turns else _batch_by_batch(question, design, tasks)
        for block, names in places:
            here = tuple(turn for turn in turns if question.tasks[turn.task].component in names)
            untimed = tuple(name for name in names if not question.tasks_of[name])
            found.append(Usage(block, names, segment, length, here, untimed))
    return () if any(usage.idle < 0 for usage in found) else tuple(found)


def by_place(usages: Sequence[Usage]) -> list[list[Usage]]:
    """The parts of the iteration of each place, in order."""
    found: dict[tuple[int | None, tuple[str, ...]], list[Usage]] = {}
    for usage in usages:
        found.setdefault((usage.block, usage.components), []).append(usage)
    return list(found.values())


def busy(place: Sequence[Usage]) -> tuple[int, int]:
    """(how long something works there in an iteration, how long that takes), in ns."""
    return sum(usage.works for usage in place), sum(usage.nanoseconds for usage in place)


def _in_turns(question: Question, design: Design, tasks: list[int]) -> list[Turn]:
    """Tasks that take turns in an order that the model does not say."""
    return [Turn(task, design.nanoseconds(question, task)) for task in tasks]


def _batch_by_batch(question: Question, design: Design, tasks: list[int]) -> list[Turn]:
    """Tasks that hand on what they make: each begins with the first batch it is handed.

    Its last batch is done when it has worked without a pause since then, or one batch after the last one that it was handed.
    """
    turns: dict[int, Turn] = {}
    for task in tasks:  # none comes before one that it works on
        works = design.nanoseconds(question, task)
        each = works // question.batches
        before = [turns[edge.earlier] for edge in question.edges if edge.later == task and edge.earlier in turns]
        begins = max((_first(question, design, turn) for turn in before), default=0)
        ends = max([begins + works, *((turn.ends or 0) + each for turn in before)])
        turns[task] = Turn(task, works, begins, ends)
    return list(turns.values())


def _first(question: Question, design: Design, turn: Turn) -> int:
    """When the first batch of a task is done."""
    return (turn.begins or 0) + design.nanoseconds(question, turn.task) // question.batches
