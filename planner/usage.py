"""Usage of accelerators over an iteration: who works, who waits, how much each task adds."""

from __future__ import annotations

from typing import Mapping

from ..models.account import Turn, Usage
from ..models.planning.cost_models import CostModel, segment_times
from ..models.planning.design import Design
from ..models.planning.problem import PlanningProblem


def usages(question: PlanningProblem, model: CostModel, design: Design) -> tuple[Usage, ...]:
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


def _in_turns(question: PlanningProblem, design: Design, tasks: list[int]) -> list[Turn]:
    """Tasks that take turns in an order that the model does not say."""
    return [Turn(task, design.nanoseconds(question, task)) for task in tasks]


def _batch_by_batch(question: PlanningProblem, design: Design, tasks: list[int]) -> list[Turn]:
    """Tasks that hand on what they make: each begins with the first batch it is handed.

    Its last batch is done when it has worked without a pause since then, or one batch after the last one that it was handed.
    """
    turns: dict[int, Turn] = {}
    for task in tasks:  # none comes before one that it works on
        works = design.nanoseconds(question, task)
        each = works // question.flow.batches
        before = [turns[edge.earlier] for edge in question.flow.edges if edge.later == task and edge.earlier in turns]
        begins = max((_first(question, design, turn) for turn in before), default=0)
        ends = max([begins + works, *((turn.ends or 0) + each for turn in before)])
        turns[task] = Turn(task, works, begins, ends)
    return list(turns.values())


def _first(question: PlanningProblem, design: Design, turn: Turn) -> int:
    """When the first batch of a task is done."""
    return (turn.begins or 0) + design.nanoseconds(question, turn.task) // question.flow.batches


def shares(question: PlanningProblem, model: CostModel, design: Design) -> Mapping[int, int]:
    """Task -> the ns that it adds to the iteration; 0 for one that others hide. Their sum is the time of the iteration.

    Each maximum of the cost model is the sum of the times of some tasks: these add what they take, the others are hidden behind them.
    """
    found = dict.fromkeys(range(len(question.tasks)), 0)
    divisor, users = model.divisor(question), [block.components for block in design.blocks]
    for segment in sorted(set(design.segments)):
        tasks = [task for task in found if design.segments[task] == segment]
        for maximum in model.maxima(question, users, tasks):
            times = [[design.nanoseconds(question, task) // divisor for task in its] for its in maximum.sums]
            longest = max(range(len(times)), key=lambda place: sum(times[place]))  # the first of those that are as long
            for task, time in zip(maximum.sums[longest], times[longest]):
                found[task] += maximum.weight * time
    return found
