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
    baseline, result = account.own, account.planned
    if baseline is None:
        return ""
    if account.given:
        return _format_comparison(baseline).removeprefix("\n")
    if baseline.priced is None:
        return f"yours: it has no price under this cost model: {escape(baseline.why_not)}"
    words = escape(design_in_words(baseline.question, result, baseline.priced.design, result.best.design))
    yours, best = baseline.priced.total, result.best.total
    head = f"yours: {with_unit(seconds(yours))}"
    count, planned_count = baseline.priced.accelerators(result.question), result.best.accelerators(result.question)
    more, saves = count - planned_count, f"saves {with_unit(seconds(yours - best))} of each iteration"
    if result.question.aim != SECONDS:
        head = f"{head} on {count} {plural('accelerator', count)}"
        if account.keeps:
            less = f"{-more} fewer than the plan" if more else f"as many as the plan, {format_difference(yours, best)} time"
            text = f"{head}, {'as good as the plan' if result.is_own else less}: keep it\n  {words}"
        elif yours > best and not more:
            text = f"{head}, as many as the plan, which {saves}\n  {words}"
        else:
            text = f"{head}, the plan's are {planned_count}: {words}"
    elif not baseline.may_stay(result.question) and yours < best:
        text = f"{head}, {format_difference(yours, best)} than the plan: {words}"
    else:
        far = f"{distance(yours, best)} from {'the bound' if result.proved else 'the plan'}"
        excess = f", on {more} {plural('accelerator', more)} more" if more > 0 else ""
        less = "as good as the plan" if yours == best else f"{format_difference(yours, best)} than the plan"
        if account.keeps:
            verdict = f"{far if yours > best else less}: keep it"
        elif yours == best and not result.is_own:
            verdict = f"as long as the plan{excess or (', and not placed as well' if baseline.may_stay(result.question) else '')}"
        else:
            verdict = f"{far}{excess}: the plan {saves}"
        text = f"{head}, {verdict}\n  {words}"
    return text + _notes(baseline)


def _notes(baseline: Baseline) -> str:
    """Format what the baseline must not propose, and what was compared only with it."""
    pairs = baseline.priced.design.overlapping if baseline.priced is not None else ()
    overlap = [
        f"\n  {escape(first)} and {escape(second)} overlap, neither inside the other: no other such plan is searched"
        for first, second in pairs
    ]
    return _format_comparison(baseline) + "".join(overlap)


def _format_comparison(baseline: Baseline) -> str:
    """Format demands against the baseline, then estimates."""
    forbidden = [f"it may not be proposed: {fault}" for fault in baseline.forbidden]
    large = [
        f"by estimates it does not fit: {excess}; if it runs all the same, write the `memory` that was measured"
        for excess in baseline.over_estimates
    ]
    return "".join(f"\n  {escape(text)}" for text in (*forbidden, *large))
