"""Extrapolated times under which a plan is proved."""

from __future__ import annotations

from ...models.account import BEYOND, Account
from ...models.planning.planned import PlanningResult
from ...solver.wording import listed
from .words import in_scope, task_name


def extrapolated(account: Account) -> list[str]:
    """Return the tasks of the plan with extrapolated times, in order."""
    return [task_name(account.planned.question, basis.task) for basis in account.bases if basis.kind == BEYOND]


def under(account: Account) -> str:
    """Format ` under times extrapolated for actor, 8.0x beyond what was measured`; else ""."""
    names = extrapolated(account)
    if not names:
        return ""
    farthest = max(basis.beyond for basis in account.bases)
    up_to = "up to " if len(names) > 1 else ""
    return _after(account.planned, f"under times extrapolated for {listed(names)}, {up_to}{farthest:.1f}x beyond what was measured")


def under_in_short(planned: PlanningResult) -> str:
    """Format ` under extrapolated times`; "" without any."""
    options = planned.best.design.options.values()
    return _after(planned, "under extrapolated times") if any(option.extrapolated for option in options) else ""


def _after(planned: PlanningResult, text: str) -> str:
    """Format the text after the scope of a proof."""
    return f"{',' if in_scope(planned) else ''} {text}"
