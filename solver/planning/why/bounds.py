"""What any design takes at least, by sums of what its components take by themselves: no design is looked at."""

from __future__ import annotations

from ....models.planning.option import Option
from ....models.planning.question import Question
from ..costs.cost_model import CostModel


def fewest(question: Question) -> int:
    """No design uses fewer accelerators: of components that share none with each other, all are counted."""
    least = {name: min((option.accelerators for option in its), default=0) for name, its in question.options.items()}
    sets = [{name} for name in least] + [set(pair) for pair in question.apart] + [set(its) for its in question.filling]
    return max((sum(least[name] for name in its) for its in sets), default=0)


def quickest(question: Question, model: CostModel) -> int:
    """No iteration takes fewer ns, on as many accelerators as may be used: parts that run one after the other add up."""
    if not model.full:
        return 0
    options = {name: [each for each in its if _may_be(question, each)] for name, its in question.options.items()}
    if not all(options.values()):
        return 0
    least = [0] * len(question.tasks)
    whole = 0  # the longest work of one component, which is never two things at once
    for name, its in options.items():
        tasks = question.tasks_of[name]
        for place, task in enumerate(tasks):
            least[task] = min(option.nanoseconds[place] for option in its)
        whole = max(whole, min((sum(option.nanoseconds) for option in its), default=0))
    return max(whole, _by_phase(question, model, least) if model.by_phase else _one_after_the_other(question, least))


def _may_be(question: Question, option: Option) -> bool:
    most = question.budget.accelerators
    return most is None or option.accelerators <= most


def _by_phase(question: Question, model: CostModel, least: list[int]) -> int:
    longest: dict[int, int] = {}
    for task, time in enumerate(least):
        segment = model.segment(question, task)
        longest[segment] = max(longest.get(segment, 0), time)
    return sum(longest.values())


def _one_after_the_other(question: Question, least: list[int]) -> int:
    """Along the edges: what waits for all of another's work is in a later part of the iteration, and what hands on is in none later."""
    before = [0] * len(least)
    """ns of the parts before that in which a task runs."""
    until = list(least)
    for task in range(len(least)):
        for edge in question.edges:
            if edge.later == task and edge.earlier < task:
                before[task] = max(before[task], until[edge.earlier] if edge.whole else before[edge.earlier])
                until[task] = max(until[task], until[edge.earlier])
        until[task] = max(until[task], before[task] + least[task])
    return max(until, default=0)
