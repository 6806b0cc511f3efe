"""Sensitivity of a plan to the times of a component, in at most three lines."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...models.account import HUNDRED, QUICKER, SLOWER, Account, PlanChange
from ...models.findings.wording import with_noun
from ...models.planning.workload import SECONDS
from ...solver.wording import join_names, with_unit
from ..terminal import escape
from .words import design_in_words, seconds

LINES = 3


def sensitivities(account: Account) -> str:
    """Format the changes nearest to 1, then undecided factors if a line is left."""
    sensitivity = account.sensitivity
    if sensitivity is None:
        return ""
    flips = sorted(sensitivity.flips, key=lambda flip: abs(flip.flips - HUNDRED))
    lines = [_change(account, flip) for flip in flips[:LINES]]
    if sensitivity.left:
        names = join_names(list(dict.fromkeys(name for name, _ in sensitivity.left)))
        lines.append(f"not all changes are known: the search ended before it decided {names}")
    ranges = {basis.task.component: basis.range for basis in account.bases if basis.bounds}
    if ranges and not sensitivity.left:
        lines = [*lines[: LINES - 1], _format_ranges(ranges, [flip.component for flip in flips])]
    if not lines or (0 < len(ranges) < len({basis.task.component for basis in account.bases}) and not flips):
        *factors, last = map(_factor, sorted((*QUICKER, *SLOWER)))
        subject = "any one component with measured times" if ranges else "any one component"
        lines = [f"plan holds if {subject} takes {', '.join(factors)} or {last} its times", *lines]
    return "\n".join(escape(line) for line in lines[:LINES])


def _format_ranges(ranges: Mapping[str, tuple[int, int]], changing: Sequence[str]) -> str:
    """`plan depends on rollout, whose time is estimated: measure that first`."""
    deciding = list(dict.fromkeys(name for name in changing if name in ranges))
    if deciding:
        return f"plan depends on {join_names(deciding)}, whose time is estimated: measure that first"
    spans = join_names([f"{name} {_factor(low)} to {_factor(high)}" for name, (low, high) in ranges.items()])
    return f"plan stays the best over the whole range of each estimated time: {spans}"


def _change(account: Account, flip: PlanChange) -> str:
    """`plan changes if rollout takes 1.25x (holds to 1.1x): then 20.6 seconds instead of 21.7`."""
    result, to = account.planned, flip.to
    limit = f" (holds to {_factor(flip.holds)})" if flip.holds != HUNDRED else ""
    condition = f"if {flip.component} takes {_factor(flip.flips)}{limit}"
    if to is None:
        return f"plan changes {condition}: then it breaks its budget, and no plan is known that keeps it"
    question = flip.question or result.question
    words = design_in_words(question, result, to.design, result.best.design, models=to.models)
    time, count = with_unit(seconds(to.total)), to.accelerators(question)
    takes = f"{time} instead of {seconds(flip.takes)}"
    if result.question.aim != SECONDS and count != result.all_accelerators:
        old = f"{result.all_accelerators} in {seconds(flip.takes)}"
        takes = f"{with_noun(count, 'accelerator')} in {time} instead of {old}"
    verb = "changes" if flip.placed else "may change"
    return f"plan {verb} {condition}: then {takes} with {words}"


def _factor(percent: int) -> str:
    return f"{percent / HUNDRED:g}x"
