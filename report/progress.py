"""One line about a search that is running: the best answer yet, what is proved of any, and the gap between both."""

from __future__ import annotations

from math import gcd
from typing import Mapping, Sequence

from ..models.placements.plan import Plan, Term
from ..models.planning.measured import SECOND
from ..solver.durations import figure, with_unit
from ..solver.planning.counting import Counting


def standing(plan: Plan | None, refuted: bool = False, costs: Mapping[str, int] | None = None) -> str:
    """How a search stands.

    Of the objective the first tier that is not proved is shown, in its own unit: what comes after it is not looked at yet. `costs`: the
    nanoseconds for which one of each term counts, where traffic counts as time; it is told in seconds.
    """
    if refuted:
        return "impossible; looking for what would help"
    if plan is None:
        return "no answer yet"
    bound = plan.bound
    for tier in dict.fromkeys(term.tier for term in plan.terms):
        its = [term for term in plan.terms if term.tier == tier]
        value, unit = sum(term.weight * term.value for term in its), gcd(*(term.weight for term in its))
        if value > bound:
            scale = _scale(its, costs or {})
            if scale:
                return f"traffic: {with_unit(_seconds(value / scale))}, at least {_seconds(max(0, bound) / scale)}, gap {plan.gap:.1%}"
            names = its[0].name if len(its) == 1 else f"{its[0].name} and {len(its) - 1} more"
            return f"{names}: {value // unit:,}, at least {max(0, -(-bound // unit)):,}, gap {plan.gap:.1%}"
        bound -= value
    return "optimal"


def _scale(terms: Sequence[Term], costs: Mapping[str, int]) -> int:
    """What a nanosecond of these terms weighs in the objective; 0 if not all that weighs counts as time."""
    weighs = [term for term in terms if term.weight]
    known = [term.weight // costs[term.name] for term in weighs if term.name in costs]
    return known[0] if known and len(known) == len(weighs) else 0


def counting(now: Counting) -> str:
    """How a search for counts, degrees and sharing stands."""
    unit = "seconds an iteration" if now.by_time else "accelerators"
    if now.best is None:
        return f"counts: none found yet, at least {_amount(now, now.bound)} {unit}"
    return f"counts: {_amount(now, now.best)} {unit}, at least {_amount(now, now.bound)}, gap {now.gap:.1%}"


def _amount(now: Counting, value: int) -> str:
    return _seconds(value) if now.by_time else f"{value:,}"


def _seconds(nanoseconds: float) -> str:
    time = nanoseconds / SECOND
    return f"{time:,.0f}" if time >= 1000 else figure(time)
