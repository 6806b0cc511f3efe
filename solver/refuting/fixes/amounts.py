"""Other amounts of a component: the largest smaller one that works, or a larger one where others need it; other work to deal out."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Iterator, Sequence

from ....models.component import Component
from ....models.demand import Demand
from ....models.problem import Problem
from ....models.share import Share
from ...layout.amounts import even
from ...rules.amounts.all_placed import amount_of
from ..conflict import LOOSENED, OTHER, Change
from ..rows.row import Row
from .trial import Apply, Trial, best, with_component


def amounts(trial: Trial, demand: Demand, row: Row | None) -> Iterator[Change]:
    """Amounts with which it is possible, as near to what was asked for as can be."""
    component = trial.problem[demand.component]
    for amount in (_largest(trial, component), _larger(trial, component, row) if row else 0):
        if amount:
            share = abs(component.least - amount) / max(component.least, amount)
            yield Change(
                f"ask for {amount} instead of {instead_of(component)} for {component.name}", (LOOSENED, share), asking(component, amount)
            )


def instead_of(component: Component) -> str:
    """What it asks for at least, or all of a list."""
    return amount_of(component) if component.counts else str(component.least)


def asking(component: Component, amount: int) -> Apply:
    """The question with exactly this amount."""
    return with_component(component.name, lambda its: replace(its, least=amount, most=amount))


def _larger(trial: Trial, component: Component, row: Row) -> int:
    """More by what is short, if that works: others may need this component to be larger; 0 if it does not."""
    step = lcm(component.step, component.unit)
    amount = -(-(component.most + (row.need - row.have) * component.per_process) // step) * step
    fits = component.most < amount <= trial.problem.cluster.total(trial.problem.kind(component))
    return amount if fits and trial.works(asking(component, amount)) else 0


def _largest(trial: Trial, component: Component) -> int:
    """The largest smaller amount of this component that works, 0 if none was found.

    Amounts of its own step are tried by bisection, then what those that share its accelerators ask for.
    """
    problem, step = trial.problem, lcm(component.step, component.unit)
    # What must lie in several domains has as many groups at least.
    domains = max((spread.domains for spread in component.spread), default=1)
    tried: Sequence[int] = range(-(-domains * component.group_size // step) * step, component.least, step)
    if any(share.component == component.name for share in problem.shares):
        tried = tuple(amount for amount in tried if even(problem, component, amount))
    found = best(len(tried), lambda index: trial.works(asking(component, tried[index])))
    amount = tried[found] if found >= 0 else 0
    partners = next(members for members in problem.colocated_sets if component in members)
    asked = {each for member in partners for each in (member.least, member.most) if amount < each < component.least}
    return next((each for each in sorted(asked, reverse=True) if trial.works(asking(component, each))), amount)


def other_work(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The nearest amounts to deal out with which it is possible, if the number of processes is as good as said."""
    problem = trial.problem
    share = next((each for each in problem.shares if each.component == demand.component and each.field == demand.field), None)
    if share is None or problem[share.component].least != problem[share.component].most:
        return
    component = problem[share.component]
    processes = component.least // component.per_process
    step = lcm(*(each.step_over(processes) for each in problem.shares if each.amount_name == share.amount_name))
    for amount in (share.written // step * step, share.written // step * step + step):
        if amount and trial.works(_dealing(share, amount)):
            effort = abs(share.written - amount) / max(amount, share.written)
            yield Change(f"set `{share.amount_name}` to {amount}", (OTHER, effort), _dealing(share, amount))


def _dealing(share: Share, amount: int) -> Apply:
    def apply(problem: Problem) -> Problem:
        shares = tuple(
            replace(each, amount=amount * each.factor) if each.amount_name == share.amount_name else each for each in problem.job.shares
        )
        return replace(problem, job=replace(problem.job, shares=shares))

    return apply
