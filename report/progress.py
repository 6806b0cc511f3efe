"""Progress of a search: incumbent, bound and gap; and the gap of an unproved plan."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Mapping, Sequence

from ..models.placements.plan import Plan, TermValue
from ..models.planning.workload import SECOND
from ..solver.wording import figure, with_unit

if TYPE_CHECKING:
    from ..planner.search.found import Counting


def describe_incumbent(plan: Plan | None, is_refuted: bool = False, costs: Mapping[str, int] | None = None) -> str:
    """Format the state of a search.

    The first unproved tier is shown in its own unit. `costs` : ns per unit of each term, if traffic
    counts as time; it is then shown in seconds.
    """
    if is_refuted:
        return "impossible; looking for what would help"
    if plan is None:
        return "no answer yet"
    terms, bound = plan.first_open
    if not terms:
        return "optimal"
    scale = _scale(terms, costs or {})
    if scale:
        value = sum(term.weight * term.value for term in terms)
        return f"traffic: {with_unit(_seconds(value / scale))}, at least {_seconds(max(0, bound) / scale)}, gap {plan.gap:.1%}"
    return f"{of_tier(terms, bound)}, gap {plan.gap:.1%}"


def _scale(terms: Sequence[TermValue], costs: Mapping[str, int]) -> int:
    """Return the weight of a nanosecond in the objective; 0 if other terms weigh too."""
    weighs = [term for term in terms if term.weight]
    scales = [term.weight // costs[term.name] for term in weighs if term.name in costs]
    return scales[0] if scales and len(scales) == len(weighs) else 0


def counting(now: Counting) -> str:
    """Format the state of a search for counts, degrees and sharing."""
    unit = "seconds an iteration" if now.by_time else "accelerators"
    if now.best is None:
        return f"counts: none found yet, at least {_amount(now, now.bound)} {unit}"
    return f"counts: {_amount(now, now.best)} {unit}, at least {_amount(now, now.bound)}, gap {now.gap:.1%}"


def _amount(now: Counting, value: int) -> str:
    return _seconds(value) if now.by_time else f"{value:,}"


def _seconds(nanoseconds: float) -> str:
    time = nanoseconds / SECOND
    return f"{time:,.0f}" if time >= 1000 else figure(time)


def distance(plan: Plan) -> str:
    """Format the gap by the first unproved terms; later ones are only named."""
    terms, bound = plan.first_open
    if not terms or terms[0].tier == plan.terms[0].tier:
        gap = "less than 0.1%" if 0 < plan.gap < 0.0005 else f"{plan.gap:.1%}"
        text = f"within {gap} of the best possible"
    else:
        text = f"the best possible but for {of_tier(terms, bound)}"
    later = bool(terms) and any(term.value > term.bound and term.tier > terms[0].tier for term in plan.terms)
    return f"{text}; later terms not proved" if later else text


def of_tier(terms: Sequence[TermValue], bound: int) -> str:
    """Format cost and lower bound of a tier in the unit of its terms."""
    value, unit = sum(term.weight * term.value for term in terms), gcd(*(term.weight for term in terms))
    names = terms[0].name if len(terms) == 1 else f"{terms[0].name} and {len(terms) - 1} more"
    return f"{names}: {value // unit:,}, at least {max(0, -(-bound // unit)):,}"
