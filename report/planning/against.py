"""The plan against what else there is: other arrangements, the file's own placement, and hints that are wrong."""

from __future__ import annotations

from ...models.planning.planned import Priced
from ...models.planning.workload import SECONDS
from ...solver.planning.after.account import Account, Other
from ...solver.planning.after.sensitivity import HUNDRED, QUICKEST, SLOWEST, WORTH, Flip
from ...solver.wording import listed
from ..table import table
from ..terminal import escape
from .words import design_in_words, over, seconds

KEEP = 5
"""Percent over the best up to which a placement that stands is worth keeping: measured times differ as much from run to run."""
MAX_ADDS = 2


def alternatives(account: Account) -> str:
    """The next best arrangements: what each is, what it costs, and what makes it lose."""
    planned = account.planned
    lines = [f"  {number}. {_other(account, each)}" for number, each in enumerate(account.others, 2)]
    if planned.without_estimates is not None:
        lines.append(f"  without the estimates of memory: {_priced(account, planned.without_estimates)}")
    return "\n".join(["other arrangements, the best of each (not placed):", *lines]) if lines else ""


def _other(account: Account, other: Other) -> str:
    more = [(task, time) for task, time in other.adds if time > 0][:MAX_ADDS]
    if more and other.priced.nanoseconds > account.planned.best.nanoseconds:
        why = "loses by " + listed([f"{task}, which adds {seconds(time)} more" for task, time in more])
        return f"{_priced(account, other.priced)}: {escape(why)}"
    return _priced(account, other.priced)


def _priced(account: Account, priced: Priced) -> str:
    planned = account.planned
    words = design_in_words(planned.question, planned, priced.design)
    used = f"{priced.design.accelerators} accelerators, " if planned.question.aim != SECONDS else ""
    return f"{used}{seconds(priced.nanoseconds)} seconds ({over(priced.nanoseconds, planned.best.nanoseconds)}): {escape(words)}"


def own_placement(account: Account) -> str:
    """The file's own placement beside the plan, and whether to keep it."""
    own, planned = account.own, account.planned
    if own is None:
        return ""
    if own.priced is None:
        return f"yours: it has no price under this cost model: {escape(own.why_not)}"
    words = escape(design_in_words(planned.question, planned, own.priced.design))
    yours, best = own.priced.nanoseconds, planned.best.nanoseconds
    said = f"yours: {seconds(yours)} seconds"
    used = own.priced.design.accelerators
    if planned.question.aim != SECONDS:
        return f"{said} on {used} accelerators, the plan's are {planned.best.design.accelerators}: {words}" + _forbidden(own.forbidden)
    bound = "the bound" if planned.proved else "the plan"
    if own.forbidden and yours < best:
        return f"{said}, {over(yours, best)} than the plan: {words}" + _forbidden(own.forbidden)
    distance = f"{100 * (yours - best) / best:.1f} % from {bound}"
    if yours <= best:
        verdict = "as good as the plan: keep it"
    elif (yours - best) * HUNDRED <= best * KEEP:
        verdict = f"{distance}: keep it"
    else:
        verdict = f"{distance}: the plan saves {seconds(yours - best)} of each iteration"
    return f"{said}, {verdict}\n  {words}" + _forbidden(own.forbidden)


def _forbidden(faults: tuple[str, ...]) -> str:
    return "".join(f"\n  the hints do not allow it: {escape(fault)}" for fault in faults)


def sensitivities(account: Account) -> str:
    """One row a component: from where on another plan is better where it is slower, and where it is quicker, than its times say."""
    found = account.sensitivity
    if found is None or not (found.flips or found.left):
        return ""
    rows = [["if its times are", "", "flips", "then"]]
    for flip in found.flips:
        slower = flip.flips > HUNDRED if flip.flips else flip.holds > HUNDRED
        rows.append([flip.component, "slower" if slower else "quicker", *_flip(account, flip)])
    better = f"{WORTH} % better" if account.planned.question.aim == SECONDS else "of fewer accelerators"
    title = f"where a hint is wrong, the plan flips when another is {better} ({found.searches} further searches, from {QUICKEST / 100:g}x to {SLOWEST / 100:g}x):"
    left = f"\nnot searched any more: {escape(', '.join(found.left))}" if found.left else ""
    return f"{title}\n{table(rows, width=120)}{left}"


def _flip(account: Account, flip: Flip) -> list[str]:
    planned, sure = account.planned, "" if flip.sure else ", as far as the search came"
    if flip.flips is None:
        return [f"not up to {flip.holds / 100:.2f}x{sure}", ""]
    sign = "over" if flip.flips > HUNDRED else "under"
    at = f"{sign} {flip.holds / 100:.2f}x{sure}"
    if flip.to is None:
        return [at, "nothing keeps to the budget"]
    words = design_in_words(planned.question, planned, flip.to.design)
    return [at, f"{words}: {seconds(flip.to.nanoseconds)} instead of {seconds(flip.takes)} seconds"]
