"""Sensitivity of a plan to the times of a component, in at most three lines."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...models.account import HUNDRED, QUICKER, SLOWER, Account, Flip
from ...models.findings.wording import with_noun
from ...models.planning.workload import SECONDS
from ...solver.wording import join_names, with_unit
from ..terminal import escape
from .words import design_in_words, seconds

LINES = 3


def sensitivities(account: Account) -> str:
    """Format the changes nearest to 1, then undecided factors if a line is left."""
    found = account.sensitivity
    if found is None:
        return ""
    flips = sorted(found.flips, key=lambda flip: abs(flip.flips - HUNDRED))
    lines = [_change(account, flip) for flip in flips[:LINES]]
    if found.left:
        names = join_names(list(dict.fromkeys(name for name, _ in found.left)))
        lines.append(f"not all changes are known: the search ended before it decided {names}")
    ranges = {basis.task.component: basis.range for basis in account.bases if basis.bounds}
    if ranges and not found.left:
        lines = [*lines[: LINES - 1], _format_ranges(ranges, [flip.component for flip in flips])]
    if not lines or (0 < len(ranges) < len({basis.task.component for basis in account.bases}) and not flips):
        *factors, last = map(_factor, sorted((*QUICKER, *SLOWER)))
        measured = "any one component with measured times" if ranges else "any one component"
        lines = [f"plan holds if {measured} takes {', '.join(factors)} or {last} its times", *lines]
    return "\n".join(escape(line) for line in lines[:LINES])


def _format_ranges(ranges: Mapping[str, tuple[int, int]], flips: Sequence[str]) -> str:
    """`plan depends on rollout, whose time is estimated: measure that first`."""
    deciding = list(dict.fromkeys(name for name in flips if name in ranges))
    if deciding:
        return f"plan depends on {join_names(deciding)}, whose time is estimated: measure that first"
    spans = join_names([f"{name} {_factor(low)} to {_factor(high)}" for name, (low, high) in ranges.items()])
    return f"plan stays the best over the whole range of each estimated time: {spans}"


def _change(account: Account, flip: Flip) -> str:
    """`plan changes if rollout takes 1.25x (holds to 1.1x): then 20.6 seconds instead of 21.7`."""
    planned, to = account.planned, flip.to
    holds = f" (holds to {_factor(flip.holds)})" if flip.holds != HUNDRED else ""
    when = f"if {flip.component} takes {_factor(flip.flips)}{holds}"
    if to is None:
        return f"plan changes {when}: then it breaks its budget, and no plan is known that keeps it"
    question = flip.question or planned.question
    words = design_in_words(question, planned, to.design, planned.best.design, models=to.models)
    time, used = with_unit(seconds(to.total)), to.accelerators(question)
    takes = f"{time} instead of {seconds(flip.takes)}"
    if planned.question.aim != SECONDS and used != planned.all_accelerators:
        old = f"{planned.all_accelerators} in {seconds(flip.takes)}"
        takes = f"{with_noun(used, 'accelerator')} in {time} instead of {old}"
    may = "changes" if flip.placed else "may change"
    return f"plan {may} {when}: then {takes} with {words}"


def _factor(percent: int) -> str:
    return f"{percent / HUNDRED:g}x"
