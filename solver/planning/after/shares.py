"""Where the time of an iteration goes: how much of it each task adds."""

from __future__ import annotations

from typing import Mapping

from ....models.planning.design import Design
from ....models.planning.question import Question
from ..costs.cost_model import CostModel


def shares(question: Question, model: CostModel, design: Design) -> Mapping[int, int]:
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
