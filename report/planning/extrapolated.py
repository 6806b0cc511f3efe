"""Under which times a plan is proved: where its own counts lie outside of those that were measured, the proof goes no farther than they do."""

from __future__ import annotations

from ...models.account import BEYOND, Account
from ...models.planning.planned import PlanningResult
from ...solver.wording import listed
from .words import in_scope, task_name


def extrapolated(account: Account) -> list[str]:
    """The tasks of the plan whose times were extrapolated, in their order."""
    return [task_name(account.planned.question, each.task) for each in account.bases if each.kind == BEYOND]


def under(account: Account) -> str:
    """` under times extrapolated for actor, 8.0x beyond what was measured`; "" where none is."""
    names = extrapolated(account)
    if not names:
        return ""
    farthest = max(each.beyond for each in account.bases)
    up_to = "up to " if len(names) > 1 else ""
    return _after(account.planned, f"under times extrapolated for {listed(names)}, {up_to}{farthest:.1f}x beyond what was measured")


def under_in_short(planned: PlanningResult) -> str:
    """` under extrapolated times`; "" where none of the plan's times is."""
    its = planned.best.design.options.values()
    return _after(planned, "under extrapolated times") if any(option.extrapolated for option in its) else ""


def _after(planned: PlanningResult, said: str) -> str:
    """What follows the sorts of plans that a proof is of, where these are named."""
    return f"{',' if in_scope(planned) else ''} {said}"
