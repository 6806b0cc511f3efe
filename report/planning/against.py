"""The plan against what else there is: other arrangements, the file's own placement, and hints that are wrong."""

from __future__ import annotations

from typing import Sequence

from ...models.planning.planned import Planned, Priced
from ...models.planning.workload import SECONDS
from ...solver.durations import with_unit
from ...solver.planning.after.account import Account, Other
from ...solver.planning.after.flips.flip import HUNDRED, QUICKEST, SLOWEST, WORTH, Flip, Wider
from ...solver.planning.after.own.own import Own
from ...solver.wording import listed, plural
from ..terminal import escape
from .words import design_in_words, over, seconds, task_name, total

MAX_ADDS = 2
MAX_OUT = 5
"""Designs without a placement that are named; JSON has all of them."""


def alternatives(account: Account) -> str:
    """The next best arrangements: what each is, what it costs, and what makes it lose."""
    planned = account.planned
    lines = [f"  {number}. {_other(account, each)}" for number, each in enumerate(account.others, 1 if account.given else 2)]
    for out in planned.unplaceable[:MAX_OUT]:
        known = "has" if not any(each.code == "PW604" for each in out.reason) else "is known of"
        lines.append(f"  no placement {known} {_priced(account, out.priced)}")
        lines += [f"     {escape(out.reason[0].message)}"] if out.reason else []
    if (more := len(planned.unplaceable) - MAX_OUT) > 0:
        lines.append(f"  and of {more} more")
    if planned.without_estimates is not None:
        lines.append(f"  without the estimates of memory: {_priced(account, planned.without_estimates)}")
    unknown = "; what they take for traffic is not known" if planned.best.traffic else ""
    title = (
        f"without these ranks, the best of each arrangement (not placed{unknown})"
        if account.given
        else "other arrangements, the best of each"
    )
    return "\n".join([f"{title}:", *lines]) if lines else ""


def _other(account: Account, other: Other) -> str:
    planned = account.planned
    said = _priced(account, other.priced) + (", not placed" if other.priced in planned.not_placed else "")
    if not other.adds or total(other.priced) == total(planned.best):
        return said
    longer = total(other.priced) > total(planned.best)
    adds = [_adds(account, other, 1, "more"), _adds(account, other, -1, "less")]
    return f"{said}\n     {escape('; '.join(filter(None, adds if longer else adds[::-1])))}"


def _adds(account: Account, other: Other, sign: int, word: str) -> str:
    """What adds most more to the iteration, or most less: `actor adds 6.111 more and rollout adds 5.766 more`; traffic too."""
    question, traffic = account.planned.question, 0 if account.given else other.priced.traffic - account.planned.best.traffic
    adds = [(time, task_name(question, task)) for task, time in other.adds] + [(traffic, "traffic")]
    its = sorted(((sign * time, name) for time, name in adds if sign * time > 0), key=lambda each: -each[0])[:MAX_ADDS]
    return listed([f"{name} adds {seconds(time)} {word}" for time, name in its])


def _priced(account: Account, priced: Priced) -> str:
    planned = account.planned
    words = design_in_words(planned.question, planned, priced.design, planned.best.design)
    count = priced.design.held(planned.question)
    used = f"{count} {plural('accelerator', count)}, " if planned.question.aim != SECONDS else ""
    return f"{used}{with_unit(seconds(total(priced)))} ({over(total(priced), total(planned.best))}): {escape(words)}"


def _amount(planned: Planned, value: int) -> str:
    """So much of what is as small as possible, with its unit."""
    return with_unit(seconds(value)) if planned.question.aim == SECONDS else f"{value} {plural('accelerator', value)}"


def over_nodes(account: Account) -> str:
    """What plans come to in which tensor parallel groups lie over nodes, where these may be better."""
    planned, its = account.planned, account.planned.over_nodes
    if its is None:
        return ""
    by_time = planned.question.aim == SECONDS
    least = _amount(planned, its.bound)
    if its.best is None:
        return f"with tp groups over nodes: at least {least}; no plan of them is known that is better"
    value = total(its.best) if by_time else its.best.design.held(planned.question)
    more = "" if value <= its.bound else f"; none of them {'takes less' if by_time else 'has fewer'} than {least}"
    hint = f"`keep: {{tp: {{level: node, required: false}}}}` of {listed(list(its.components))} lets the plan be so"
    return f"with tp groups over nodes: {_priced(account, its.best)}{more}\n  {escape(hint)}"


def over_kinds(account: Account) -> str:
    """What plans take at least in which a component is on several kinds of accelerators at once, where these may be better."""
    planned, least = account.planned, account.planned.over_kinds
    if least is None:
        return ""
    return f"with a component on several kinds of accelerators at once: at least {_amount(planned, least)}; such plans are not searched"


def nested(account: Account) -> str:
    """What plans come to in which a component uses only some of another's accelerators, where these may be better."""
    planned, its = account.planned, account.planned.nested
    if its is None:
        return ""
    by_time = planned.question.aim == SECONDS
    least = f"at least {_amount(planned, its.bound)}"
    said = "with `nested: true` in `plan`, which lets a component use only some of another's accelerators:"
    if its.best is None:
        return f"{said} {least}{'' if account.given else '; none that is better was found in a tenth of the time'}"
    value = total(its.best) if by_time else its.best.design.held(planned.question)
    return f"{said}\n  {_priced(account, its.best)}{'' if value <= its.bound else f'; {least}'}"


def own_placement(account: Account) -> str:
    """The file's own placement beside the plan, and whether to keep it."""
    own, planned = account.own, account.planned
    if own is None:
        return _without_ranks(account)
    if account.given:
        return _forbidden(own.forbidden).removeprefix("\n")
    if own.priced is None:
        return f"yours: it has no price under this cost model: {escape(own.why_not)}"
    words = escape(design_in_words(planned.question, planned, own.priced.design, planned.best.design))
    yours, best = total(own.priced), total(planned.best)
    said = f"yours: {with_unit(seconds(yours))}"
    used, its = own.priced.design.held(planned.question), planned.best.design.held(planned.question)
    if planned.question.aim != SECONDS:
        on = f"{said} on {used} {plural('accelerator', used)}"
        if account.keeps:
            less = "as good as the plan" if planned.is_own else f"{its - used} fewer than the plan"
            return f"{on}, {less}: keep it\n  {words}" + _notes(own)
        return f"{on}, the plan's are {its}: {words}" + _notes(own)
    bound = "the bound" if planned.proved else "the plan"
    if own.forbidden and yours < best:
        return f"{said}, {over(yours, best)} than the plan: {words}" + _notes(own)
    distance = f"{100 * (yours - best) / best:.1f} % from {bound}"
    more = used - its
    held = f", on {more} {plural('accelerator', more)} more" if more > 0 else ""
    if yours == best and not planned.is_own:
        verdict = f"as long as the plan{held or ', and not placed as well'}"
    elif account.keeps:
        less = "as good as the plan" if yours == best else f"{over(yours, best)} than the plan"
        verdict = f"{distance if yours > best else less}: keep it"
    else:
        verdict = f"{distance}{held}: the plan saves {with_unit(seconds(yours - best))} of each iteration"
    return f"{said}, {verdict}\n  {words}" + _notes(own)


def _without_ranks(account: Account) -> str:
    """`without the ranks of reward: 95 seconds (19.7 % less): rollout and actor on 16, ...`."""
    freed, planned = account.without_ranks, account.planned
    if freed is None:
        return ""
    here, there = planned.best, freed.planned.best
    by_time = planned.question.aim == SECONDS
    value, other = (
        (total(here), total(there)) if by_time else (here.design.held(planned.question), there.design.held(freed.planned.question))
    )
    whose = f"the ranks of {listed(list(freed.names))}"
    if other >= value:
        return f"without {escape(whose)}: nothing better" + ("" if freed.planned.proved else " was found")
    used = "" if by_time else f"{other} {plural('accelerator', other)} instead of {value}, "
    words = design_in_words(freed.planned.question, freed.planned, there.design)
    return f"without {escape(whose)}: {used}{with_unit(seconds(total(there)))} ({over(total(there), total(here))}): {escape(words)}"


def _notes(own: Own) -> str:
    """What may not be proposed of the file's own placement, and what was compared of its kind only with it."""
    pairs = own.priced.design.overlapping if own.priced is not None else ()
    overlap = [
        f"\n  {escape(one)} and {escape(other)} overlap, neither inside the other: no other such plan is searched" for one, other in pairs
    ]
    return _forbidden(own.forbidden) + "".join(overlap)


def _forbidden(faults: tuple[str, ...]) -> str:
    return "".join(f"\n  it may not be proposed: {escape(fault)}" for fault in faults)


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
        lines.append(f"holds at least, and was not searched beyond: {listed(_up_to([(flip.component, flip.holds) for flip in part]))}")
    if found.left:
        lines.append(f"not searched: {_sides(found.left)}")
    if found.traffic_left_out and found.flips:
        counts = "not counted" if account.planned.question.crossing is None else "counted as the least that any placement of them has"
        lines.append(f"what other plans take for traffic is {counts}: the plan holds at least so far")
    if found.wider is not None:
        lines.append(_wider(found.wider))
    return "\n".join([f"where a hint is wrong, the plan flips when {_when(account)} ({spread}):", *(f"  {escape(line)}" for line in lines)])


def _wider(its: Wider) -> str:
    """What is known of plans that nobody asked for, which may be better sooner."""
    words = (
        (its.over_nodes, "with tp groups over nodes"),
        (its.over_kinds, "with a component on several kinds of accelerators"),
        (its.nested, "in which a component uses only some of another's accelerators"),
    )
    plans = f"plans {' or '.join(said for there, said in words if there)}"
    if not its.as_it_is:
        return f"whether it flips sooner to {plans} is not known: some may be better as it is"
    return f"it may flip sooner to {plans}; with these it holds at least: {listed(_up_to(its.holds))}"


def _when(account: Account) -> str:
    """What another plan must be like, or this one, so that it is said to flip."""
    question = account.planned.question
    better = f"another is {WORTH} % better" if question.aim == SECONDS else "fewer accelerators are enough"
    most = question.budget.nanoseconds
    return better if most is None else f"{better}, or it takes more than {with_unit(seconds(most))}"


def _up_to(part: Sequence[tuple[str, int]]) -> list[str]:
    """`env from 0.93x to 1.12x` and `rollout to 1.2x`: components with the percent up to which it is proved, each way of which it is."""
    ends: dict[str, list[str]] = {}
    for name, holds in sorted(part, key=lambda its: its[1]):
        ends.setdefault(name, []).append(f"{holds / HUNDRED:.2f}x")
    return [f"{name} {'from ' if len({*its}) > 1 else 'to '}{' to '.join(dict.fromkeys(its))}" for name, its in ends.items()]


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
    words = design_in_words(planned.question, planned, flip.to.design, planned.best.design) + ("" if flip.placed else ", not placed")
    enough = "" if flip.sure or not flip.exact else " or less" if planned.question.aim == SECONDS else " or fewer"
    if planned.question.aim != SECONDS:
        count, held = flip.to.design.held(planned.question), planned.compared.held(planned.question)
        used = f"{count} {plural('accelerator', count)}{enough} instead of {held}, which take {with_unit(seconds(flip.takes))}"
        return f"{at} {used}: {words}"
    return f"{at} {with_unit(seconds(total(flip.to)))}{enough} instead of {seconds(flip.takes)}: {words}"
