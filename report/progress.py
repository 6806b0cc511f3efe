"""One line about a search that is running: the best answer yet, what is proved of any, and the gap between both."""

from __future__ import annotations

from ..models.placements.plan import Plan


def standing(plan: Plan | None) -> str:
    """How a search stands. Of the objective the first tier that is not proved is shown: what is after it is not looked at yet."""
    if plan is None:
        return "no answer yet"
    for tier in dict.fromkeys(term.tier for term in plan.terms):
        if its := [term for term in plan.terms if term.tier == tier and term.bound < term.value]:
            shown = ", ".join(f"{term.name} {term.value:,} (at least {term.bound:,})" for term in its)
            return f"{shown}, gap {plan.gap:.1%}"
    return f"an answer, gap {plan.gap:.1%}"
