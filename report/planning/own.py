"""Baseline beside a plan: all given ranks, or those of some components."""

from __future__ import annotations

from ...models.account import Account, Baseline
from ...models.findings.wording import plural
from ...models.planning.workload import SECONDS
from ...solver.wording import with_unit
from ..terminal import escape
from .words import design_in_words, distance, format_difference, seconds


def own_placement(account: Account) -> str:
    """Format the file's own placement beside the plan, and whether to keep it."""
    own, planned = account.own, account.planned
    if own is None:
        return ""
    if account.given:
        return _format_comparison(own).removeprefix("\n")
    if own.priced is None:
        return f"yours: it has no price under this cost model: {escape(own.why_not)}"
    words = escape(design_in_words(own.question, planned, own.priced.design, planned.best.design))
    yours, best = own.priced.total, planned.best.total
    head = f"yours: {with_unit(seconds(yours))}"
    used, planned_count = own.priced.accelerators(planned.question), planned.best.accelerators(planned.question)
    if planned.question.aim != SECONDS:
        on = f"{head} on {used} {plural('accelerator', used)}"
        if account.keeps:
            less = (
                f"as many as the plan, {format_difference(yours, best)} time"
                if used == planned_count
                else f"{planned_count - used} fewer than the plan"
            )
            return f"{on}, {'as good as the plan' if planned.is_own else less}: keep it\n  {words}" + _notes(own)
        if used == planned_count and yours > best:
            return f"{on}, as many as the plan, which saves {with_unit(seconds(yours - best))} of each iteration\n  {words}" + _notes(own)
        return f"{on}, the plan's are {planned_count}: {words}" + _notes(own)
    bound = "the bound" if planned.proved else "the plan"
    if not own.may_stay(planned.question) and yours < best:
        return f"{head}, {format_difference(yours, best)} than the plan: {words}" + _notes(own)
    far = f"{distance(yours, best)} from {bound}"
    more = used - planned_count
    held = f", on {more} {plural('accelerator', more)} more" if more > 0 else ""
    if yours == best and not planned.is_own and not account.keeps:
        verdict = f"as long as the plan{held or (', and not placed as well' if own.may_stay(planned.question) else '')}"
    elif account.keeps:
        less = "as good as the plan" if yours == best else f"{format_difference(yours, best)} than the plan"
        verdict = f"{far if yours > best else less}: keep it"
    else:
        verdict = f"{far}{held}: the plan saves {with_unit(seconds(yours - best))} of each iteration"
    return f"{head}, {verdict}\n  {words}" + _notes(own)


def _notes(own: Baseline) -> str:
    """Format what the baseline must not propose, and what was compared only with it."""
    pairs = own.priced.design.overlapping if own.priced is not None else ()
    overlap = [
        f"\n  {escape(first)} and {escape(second)} overlap, neither inside the other: no other such plan is searched"
        for first, second in pairs
    ]
    return _format_comparison(own) + "".join(overlap)


def _format_comparison(own: Baseline) -> str:
    """Format demands against the baseline, then estimates."""
    forbidden = [f"it may not be proposed: {fault}" for fault in own.forbidden]
    large = [
        f"by estimates it does not fit: {excess}; if it runs all the same, write the `memory` that was measured"
        for excess in own.over_estimates
    ]
    return "".join(f"\n  {escape(text)}" for text in (*forbidden, *large))
