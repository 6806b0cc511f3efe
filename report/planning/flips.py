"""Hints that are wrong: which other plan is better then, and how far this one holds."""

from __future__ import annotations

from typing import Sequence

from ...models.findings.wording import plural
from ...models.planning.workload import SECONDS
from ...solver.durations import with_unit
from ...solver.planning.after.account import Account
from ...solver.planning.after.flips.flip import HUNDRED, QUICKEST, SLOWEST, WORTH, Flip, Held, Wider
from ...solver.wording import listed
from ..terminal import escape
from .words import design_in_words, seconds, total


def sensitivities(account: Account) -> str:
    """One line for each way in which a hint may be wrong that flips the plan, and how far nothing does."""
    found = account.sensitivity
    if found is None or not (found.flips or found.left):
        return ""
    spread = f"from {QUICKEST / HUNDRED:g}x to {SLOWEST / HUNDRED:g}x"
    lines = [_flip(account, flip) for flip in found.flips if flip.flips is not None]
    flipping = {flip.component for flip in found.flips if flip.flips is not None}
    part = [flip for flip in found.flips if flip.flips is None and not flip.stays]
    open_ = {*(flip.component for flip in part), *(name for name, _ in found.left)}
    stays = [name for name in dict.fromkeys(flip.component for flip in found.flips) if name not in {*flipping, *open_}]
    if stays:
        lines.append(f"stays whatever {listed(stays)} {'take' if len(stays) > 1 else 'takes'}")
    if half := [(flip.component, flip.holds) for flip in found.flips if flip.stays and flip.component in open_]:
        lines.append(f"stays with {_sides(half)}")
    if part:
        held = [Held(flip.component, flip.holds, flip.holds > HUNDRED) for flip in part]
        lines.append(f"holds at least, and was not searched beyond: {listed(_up_to(held))}")
    if found.left:
        lines.append(f"not searched: {_sides(found.left)}")
    if found.traffic_left_out and found.flips:
        counts = "not counted" if account.planned.question.crossing is None else "counted as the least that any placement of them has"
        lines.append(f"what other plans take for traffic is {counts}: the plan holds at least so far")
    if found.on_models is not None:
        lines.append(_wider(found.on_models, "plans with components on other models of accelerators", not account.planned.proved))
    if found.wider is not None:
        lines.append(_wider(found.wider, _plans(found.wider)))
        lines += [f"with these it {_flip(account, flip)}" for flip in found.wider.flips]
    return "\n".join([f"where a hint is wrong, the plan flips when {_when(account)} ({spread}):", *(f"  {escape(line)}" for line in lines)])


def _plans(its: Wider) -> str:
    """Plans that nobody asked for: which of them there are."""
    words = (
        (its.over_nodes, "with tp groups over nodes"),
        (its.over_kinds, "with a component on several kinds of accelerators"),
        (its.nested, "in which a component uses only some of another's accelerators"),
    )
    return f"plans {' or '.join(said for there, said in words if there)}"


def _wider(its: Wider, plans: str, may_be_better: bool = True) -> str:
    """What is known of such plans, which may be better sooner: some as it is, unless it is proved that none is."""
    if not its.as_it_is:
        return f"whether it flips sooner to {plans} is not known{': some may be better as it is' if may_be_better else ''}"
    return f"it may flip sooner to {plans}; with these it holds at least: {listed(_up_to(its.holds))}"


def _when(account: Account) -> str:
    """What another plan must be like, or this one, so that it is said to flip."""
    question = account.planned.question
    better = f"another is {WORTH} % better" if question.aim == SECONDS else "fewer accelerators are enough"
    most = question.budget.nanoseconds
    return better if most is None else f"{better}, or it takes more than {with_unit(seconds(most))}"


def _up_to(part: Sequence[Held]) -> list[str]:
    """`env from 0.93x to 1.12x` and `rollout slower to 1.2x`: up to where it is proved, each way of which it is."""
    ends: dict[str, list[Held]] = {}
    for each in sorted(part, key=lambda its: its.percent):
        ends.setdefault(each.component, []).append(each)
    return [f"{name} {_range(its)}" for name, its in ends.items()]


def _range(its: Sequence[Held]) -> str:
    """`slower to 1.2x`, `from 0.93x to 1.12x`, or `as it is` where both ways end there."""
    if len(its) == 1:
        return f"{'slower' if its[0].slower else 'quicker'} to {its[0].percent / HUNDRED:.2f}x"
    ends = list(dict.fromkeys(each.percent for each in its))
    return f"from {ends[0] / HUNDRED:.2f}x to {ends[-1] / HUNDRED:.2f}x" if len(ends) > 1 else "as it is"


def _sides(ways: Sequence[tuple[str, int]]) -> str:
    """`env slower and rollout`: components with the percent up to which they are meant; both sides where no side is named."""
    names = [name for name, _ in ways]
    sides = {name: "" if names.count(name) > 1 else " slower" if end > HUNDRED else " quicker" for name, end in ways}
    return listed([name + side for name, side in sides.items()])


def _flip(account: Account, flip: Flip) -> str:
    """`flips if rollout takes over 1.17x: at 1.18x 20.55 seconds instead of 21.65: rollout and actor on 106, ...`."""
    planned, flips = account.planned, flip.flips or HUNDRED
    there, step = ("over", 1) if flips > HUNDRED else ("under", -1)
    sooner = "" if flip.exact else f", or sooner (it holds to {flip.holds / HUNDRED:.2f}x)" if flip.holds != HUNDRED else ", or sooner"
    at = f"flips if {flip.component} takes {there} {(flips - step) / HUNDRED:.2f}x{sooner}: at {flips / HUNDRED:.2f}x"
    if flip.to is None:
        return f"{at} {'nothing keeps to the budget' if flip.sure else 'it breaks the budget'}"
    words = design_in_words(flip.question or planned.question, planned, flip.to.design, planned.best.design, models=flip.to.models) + (
        "" if flip.placed else ", not placed"
    )
    enough = "" if flip.sure or not flip.exact else " or less" if planned.question.aim == SECONDS else " or fewer"
    if planned.question.aim != SECONDS:
        count, held = flip.to.accelerators(planned.question), planned.held
        takes, instead = with_unit(seconds(total(flip.to))), with_unit(seconds(flip.takes))
        used = f"{count} {plural('accelerator', count)}{enough} ({takes}) instead of {held} ({instead})"
        if count == held:  # it breaks its budget, and another does not
            used = f"{with_unit(seconds(total(flip.to)))} on as many accelerators{enough} instead of {seconds(flip.takes)}"
        return f"{at} {used}: {words}"
    return f"{at} {with_unit(seconds(total(flip.to)))}{enough} instead of {seconds(flip.takes)}: {words}"
