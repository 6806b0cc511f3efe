"""Gap of a plan without an optimality proof."""

from __future__ import annotations

from math import gcd
from typing import Sequence

from ..models.placements.plan import Plan, TermValue


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
