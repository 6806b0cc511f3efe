"""One choice of parallel degrees, searched: a model, and its tiers one after the other, each fixed before the next."""

from __future__ import annotations

from ..compile import aim, compile
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.values import Count, Values
from ..objectives.tiers import hold
from .one_tier import OneTier
from .standing import Standing

KEPT_FOR_LATER = 0.2
"""Share of the time that a tier leaves to later ones, if there are any."""


def search(standing: Standing, limit: float) -> None:
    """Make the answer of a choice better, and what is proved of it, until both meet or the time is over."""
    standing.spent = limit - _search(standing, limit)


def _search(standing: Standing, limit: float) -> float:
    """What is left of the time."""
    variables = compile(standing.problem, minimise=False)
    if standing.values:
        standing.values = translated(variables.layout, standing.values)
    if not standing.tiers:
        one = OneTier(standing, variables, 0, limit)
        one.search()
        return one.left
    for number, tier in enumerate(standing.tiers):
        if standing.is_proved or standing.refuted:
            break
        amount = aim(variables, tier)
        if not standing.is_best(number):
            reserved = KEPT_FOR_LATER * limit if number < len(standing.tiers) - 1 else 0.0
            one = OneTier(standing, variables, number, limit - reserved)
            one.search()
            limit = reserved + max(0.0, one.left)
        if standing.assignment is None or limit <= 0:
            break
        hold(variables, amount, standing.costs[number])
    return limit


def translated(layout: Layout, values: Values) -> Values:
    """The same decisions in another layout of the same problem."""
    bundles = {bundle.name: bundle for bundle in (*layout.bundles, *(dealt.bundle for dealt in layout.dealt.values()))}
    found: Values = {}
    for key, value in values.items():
        if isinstance(key, Count):
            found[Count(bundles[key.bundle.name], layout.cells[key.cell.index])] = value
        elif isinstance(key, Bundle):
            found[bundles[key.name]] = value
    return found
