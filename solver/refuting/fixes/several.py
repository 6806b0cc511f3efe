"""Where no single change is enough: the fewest demands to change together, each as little as can be."""

from __future__ import annotations

from typing import Sequence

from ....models.demand import Demand
from ....models.problem import AMOUNT, Problem
from ..conflict import DROPPED, LOOSENED, Change
from ..droppable import can_be_dropped, dropped
from ..quickxplain import maximal
from .amounts import asking, instead_of
from .trial import Apply, Trial, best

MAX_TOGETHER = 4
"""More changes than this at once are no advice."""


def together(trial: Trial, demands: Sequence[Demand]) -> tuple[Change, ...]:
    """One set of changes after which the question was solved; none if there is none that is small.

    As many demands as can be are kept: what nobody can give up first, amounts last, since they can be made smaller. What is left
    is changed.
    """
    firm = [demand for demand in demands if demand.field != AMOUNT and not can_be_dropped(trial.problem, demand)]
    loose = [demand for demand in demands if demand.field != AMOUNT and demand not in firm]
    order = [*firm, *loose, *(demand for demand in demands if demand.field == AMOUNT)]

    def possible(kept: Sequence[Demand]) -> bool:
        gone = tuple(demand for demand in order if demand not in kept)
        return trial.works(lambda its: its.without(*gone))

    kept = maximal(order, possible)
    changed = [demand for demand in order if demand not in kept]
    if not 1 < len(changed) <= MAX_TOGETHER or any(demand in firm for demand in changed):
        return ()
    steps: list[Apply] = [_without(demand) for demand in changed]
    texts = [dropped(demand) for demand in changed]
    for position, demand in enumerate(changed):
        if demand.field == AMOUNT:
            others = steps[:position] + steps[position + 1 :]
            amount = _amount(trial, demand.component, others)
            if not amount:
                return ()
            component = trial.problem[demand.component]
            steps[position] = asking(component, amount)
            texts[position] = f"ask for {amount} instead of {instead_of(component)} for {component.name}"
    kind = DROPPED if any(demand.field != AMOUNT for demand in changed) else LOOSENED
    change = Change(" and ".join(texts), (kind, float(len(changed))), _all(steps))
    return (change,) if trial.solved(change.apply) else ()


def _amount(trial: Trial, name: str, others: Sequence[Apply]) -> int:
    """The largest smaller amount with which it is possible beside the other changes, 0 if none was found."""
    changed = _all(others)(trial.problem)[name]
    tried = range(changed.step, trial.problem[name].least, changed.step)
    found = best(len(tried), lambda index: trial.works(_all([*others, asking(changed, tried[index])])))
    return tried[found] if found >= 0 else 0


def _without(demand: Demand) -> Apply:
    return lambda problem: problem.without(demand)


def _all(steps: Sequence[Apply]) -> Apply:
    def apply(problem: Problem) -> Problem:
        for step in steps:
            problem = step(problem)
        return problem

    return apply
