"""Choice of the fixes of an impossible problem: the smallest ones that were solved."""

from __future__ import annotations

from itertools import chain
from typing import Sequence

from ...models.component import Component
from ...models.problem import AMOUNT, Demand
from .census import CountingRow
from .conflict import can_be_dropped, dropped, maximal
from .fixes import DROPPED, LOOSENED, Apply, Change, FixTrial, asking, in_sequence, instead, more_nodes, softer, without
from .sharing import shared_in_turn, shared_with_given

MAX_TOGETHER = 4
"""Largest number of joint changes; more are no useful advice."""
MAX_FIXES = 5
"""Largest number of fixes shown."""


def ranked(trial: FixTrial, demands: Sequence[Demand], row: CountingRow | None) -> tuple[Change, ...]:
    """Return solved single changes of these demands, smallest first."""
    candidates: list[Change] = []
    for demand in demands:
        weaker, dropping = list(softer(trial, demand, row)), without(demand)
        candidates += weaker
        if not weaker and can_be_dropped(trial.problem, demand) and trial.works(dropping):
            candidates.append(Change(dropped(demand), (DROPPED, 1.0), dropping))
    candidates += chain(shared_with_given(trial, row), shared_in_turn(trial, row), more_nodes(trial, row)) if row else ()
    proved: dict[str, Change] = {}
    for change in sorted(candidates, key=lambda change: change.effort):
        if len(proved) < MAX_FIXES and change.text not in proved and trial.solved(change.apply):
            proved[change.text] = change
    return tuple(proved.values())


def together(trial: FixTrial, demands: Sequence[Demand]) -> tuple[Change, ...]:
    """Return a single combined change that was solved; empty if none is small.

    As many demands as possible are kept: fixed demands first, amounts last, as amounts can shrink.
    The remaining demands are changed.
    """
    firm = [demand for demand in demands if demand.field != AMOUNT and not can_be_dropped(trial.problem, demand)]
    order = sorted(demands, key=lambda demand: (demand not in firm, demand.field == AMOUNT))

    def possible(subset: Sequence[Demand]) -> bool:
        removed = [demand for demand in order if demand not in subset]
        return trial.works(lambda problem: problem.without(*removed))

    retained = maximal(order, possible)
    changed = [demand for demand in order if demand not in retained]
    if not 1 < len(changed) <= MAX_TOGETHER or any(demand in firm for demand in changed):
        return ()
    steps, texts = [without(demand) for demand in changed], [dropped(demand) for demand in changed]
    for position, demand in enumerate(changed):
        if demand.field == AMOUNT:
            component = trial.problem[demand.component]
            amount = _amount_beside(trial, component, steps[:position] + steps[position + 1 :])
            if not amount:
                return ()
            steps[position], texts[position] = asking(component, amount), instead(component, amount)
    kind = DROPPED if any(demand.field != AMOUNT for demand in changed) else LOOSENED
    change = Change(" and ".join(texts), (kind, float(len(changed))), in_sequence(steps))
    return (change,) if trial.solved(change.apply) else ()


def _amount_beside(trial: FixTrial, component: Component, steps: Sequence[Apply]) -> int:
    """Return the largest feasible smaller amount beside other changes; 0 if unknown."""
    step = in_sequence(steps)(trial.problem)[component.name].step
    tried = range(step, component.least, step)
    position = trial.first(len(tried), lambda index: in_sequence([*steps, asking(component, tried[index])]))
    return tried[position] if position >= 0 else 0
