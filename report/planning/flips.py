"""Hints that are wrong: which other plan is better then, and how far this one holds."""

from __future__ import annotations

from typing import Sequence

from ...models.findings.wording import plural
from ...models.planning.workload import SECONDS
from ...solver.durations import with_unit
from ...solver.planning.after.account import Account
from ...solver.planning.after.flips.flip import HUNDRED, QUICKEST, SLOWEST, WORTH, Flip, Held, Sensitivity
from ...solver.wording import listed
from ..terminal import escape
from .words import design_in_words, seconds, total

AS_IT_IS = "as it is"


def sensitivities(account: Account) -> str:
    """One line for each way in which the times of a component may be wrong that flips the plan, and how far nothing does."""
    found = account.sensitivity
    if found is None or not (found.flips or found.left):
        return ""
    lines = [_flip(account, flip) for flip in found.flips if flip.flips is not None]
    held = [(flip.stays, Held(flip.component, flip.holds, flip.holds > HUNDRED)) for flip in found.flips if flip.flips is None]
    if stays := [each for whole, each in held if whole]:
        lines.append(f"stays with {_up_to(stays)}")
    if part := [each for whole, each in held if not whole]:
        lines.append(f"holds at least with {_up_to(part)}, and was not searched beyond")
    if found.left:
        lines.append(f"not searched: {_sides(found.left)}")
    if found.traffic_left_out and found.flips:
        counts = "not counted" if account.planned.question.crossing is None else "counted as the least that any placement of them has"
        lines.append(f"what other plans take for traffic is {counts}: the plan holds at least so far")
    spread = f"all of them alike (from {_times(QUICKEST)} to {_times(SLOWEST)})"
    title = f"where the times of one component are wrong, {spread}, the plan flips when {_when(account, found)}:"
    return "\n".join([title, *(f"  {escape(line)}" for line in lines)])


def _when(account: Account, found: Sensitivity) -> str:
    """What another plan must be like, or this one, so that it is said to flip; what is told of other plans comes after it."""
    question = account.planned.question
    better = f"another is {WORTH} % better" if question.aim == SECONDS else "fewer accelerators are enough"
    most = question.budget.nanoseconds
    return better if most is None else f"{better}, or it takes more than {with_unit(seconds(most))}"


def _up_to(part: Sequence[Held]) -> str:
    """`env from 0.93x to 1.12x; rollout and actor up to 1.2x`: up to where it is proved, each way of which it is."""
    ends: dict[str, list[Held]] = {}
    for each in part:
        ends.setdefault(each.component, []).append(each)
    alike: dict[str, list[str]] = {}
    for name, its in ends.items():
        alike.setdefault(_range(its), []).append(name)
    return "; ".join(f"{listed(names)} {'as they are' if len(names) > 1 and said == AS_IT_IS else said}" for said, names in alike.items())


def _range(its: Sequence[Held]) -> str:
    """`up to 1.2x`, `down to 0.93x`, `from 0.93x to 1.12x`, or `as it is` where both ways end there."""
    if len(its) == 1:
        return f"{'up' if its[0].slower else 'down'} to {_times(its[0].percent)}"
    low, high = sorted(each.percent for each in its)
    return f"from {_times(low)} to {_times(high)}" if low < high else AS_IT_IS


def _times(percent: int) -> str:
    """`0.93x`; the ends of what is looked at, and what was said, without digits that say nothing."""
    return f"{percent / HUNDRED:g}x" if percent in (SLOWEST, HUNDRED, QUICKEST) else f"{percent / HUNDRED:.2f}x"


def _sides(ways: Sequence[tuple[str, int]]) -> str:
    """`env slower and rollout`: components with the percent up to which they are meant; both sides where no side is named."""
    names = [name for name, _ in ways]
    sides = {name: "" if names.count(name) > 1 else " slower" if end > HUNDRED else " quicker" for name, end in ways}
    return listed([name + side for name, side in sides.items()])


def _flip(account: Account, flip: Flip, to: str = "") -> str:
    """`flips if rollout takes over 1.17x: at 1.18x 20.55 seconds instead of 21.65: rollout and actor on 106, ...`.

    It only may where nobody placed what is better, or knows what that takes for traffic beside the least that is counted.
    """
    planned, flips = account.planned, flip.flips or HUNDRED
    there, step = ("over", 1) if flips > HUNDRED else ("under", -1)
    sooner = "" if flip.exact else f", or sooner (it holds to {flip.holds / HUNDRED:.2f}x)" if flip.holds != HUNDRED else ", or sooner"
    at = f"if {flip.component} takes {there} {(flips - step) / HUNDRED:.2f}x{sooner}: at {flips / HUNDRED:.2f}x"
    if flip.to is None:
        return f"flips{to} {at} {'nothing keeps to the budget' if flip.sure else 'it breaks the budget'}"
    traffic = account.sensitivity is not None and account.sensitivity.traffic_left_out
    at = f"{'flips' if flip.placed and not traffic else 'may flip'}{to} {at}"
    words = design_in_words(flip.question or planned.question, planned, flip.to.design, planned.best.design, models=flip.to.models) + (
        "" if flip.placed else ", not placed"
    )
    enough = "" if flip.sure else " or less" if planned.question.aim == SECONDS else " or fewer"
    takes = f"{'at least ' if traffic else ''}{with_unit(seconds(total(flip.to)))}"
    if planned.question.aim != SECONDS:
        count, held = flip.to.accelerators(planned.question), planned.held
        used = f"{count} {plural('accelerator', count)}{enough} ({takes}) instead of {held} ({with_unit(seconds(flip.takes))})"
        if count == held:  # it breaks its budget, and another does not
            used = f"{takes} on as many accelerators{enough} instead of {seconds(flip.takes)}"
        return f"{at} {used}: {words}"
    return f"{at} {takes}{'' if traffic else enough} instead of {seconds(flip.takes)}: {words}"
