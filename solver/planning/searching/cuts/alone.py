"""A part of an iteration by itself: its tasks with all accelerators that there are, whatever their components do in other parts."""

from __future__ import annotations

from typing import Iterator, Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.option import Option
from .....models.planning.question import Edge, Question, Task
from .....models.planning.workload import Budget
from ...costs.cost_model import CostModel
from ..sizes.branching import Branching
from ..sizes.choices import Choices
from ..sizes.sizing import Sizing
from ..structures.at_once import Tasks, numbers
from ..structures.structure import OUTSIDE, Structure


def divided(
    question: Question, model: CostModel, part: Tasks, options: Sequence[Sequence[Option]], budget: Budget, parts: int
) -> tuple[Branching, list[int]]:
    """A search of the counts of the tasks of a part, each on accelerators of its own, in so many parts at most; and whose counts it chooses.

    `options`: of each task of the question, its ways to run, with one time.
    """
    its = numbers(part)
    place = {task: number for number, task in enumerate(its)}
    names = {task: question.tasks[task].component for task in its}
    edges = (
        Edge(place[each.earlier], place[each.later], each.whole) for each in question.edges if {each.earlier, each.later} <= place.keys()
    )
    alone = Question(
        question.kinds,
        tuple(map(Task, names.values())),
        {name: tuple(options[task]) for task, name in names.items()},
        tuple(edges),
        batches=question.batches,
        budget=budget,
    )
    order = sorted(its, key=lambda task: options[task][0].kind == NO_KIND)  # sets without accelerators come after all others
    structure = Structure(tuple((names[task],) for task in order), (OUTSIDE,) * len(its), (0,) * len(its))
    branching = Branching(Sizing(alone, model, structure, Choices(alone, model.divisor(alone))))
    branching.search(None, parts)
    return branching, order


def options(question: Question) -> Sequence[tuple[Option, ...]]:
    """For each task, its ways to run, without what is no faster than one of the same kind with fewer accelerators; memory aside."""
    found = []
    for number, task in enumerate(question.tasks):
        place = question.tasks_of[task.component].index(number)
        found.append(tuple(_quicker(question.options[task.component], place)))
    return found


def _quicker(its: Sequence[Option], place: int) -> Iterator[Option]:
    best: dict[int, int] = {}
    for option in sorted(its, key=lambda each: (each.accelerators, each.nanoseconds[place])):
        time = option.nanoseconds[place]
        if option.kind not in best or time < best[option.kind]:
            best[option.kind] = time
            yield Option(option.kind, option.amount, option.parallel, (time,))
