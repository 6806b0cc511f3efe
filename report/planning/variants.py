"""What plans come to that the proof leaves out: with groups over nodes, with components on several kinds of accelerators, nested ones."""

from __future__ import annotations

from ...models.hints.levels import OVER_NODES
from ...models.planning.workload import SECONDS
from ...solver.planning.after.account import Account
from ...solver.wording import listed
from ..terminal import escape
from .priced import cost_in_words, priced_in_words
from .words import total

NESTED = "nested: true"
HURRIED = "there was no time left to plan one of them"


def over_nodes(account: Account) -> str:
    """What plans come to in which tensor parallel groups lie over nodes, where these may be better."""
    planned, its = account.planned, account.planned.over_nodes
    if its is None:
        return ""
    by_time = planned.question.aim == SECONDS
    least = cost_in_words(planned, its.bound)
    if its.best is None:
        return f"with tp groups over nodes: at least {least}; {HURRIED if planned.hurried else 'no plan of them is known that is better'}"
    value = total(its.best) if by_time else its.best.accelerators(planned.question)
    more = "" if value <= its.bound or not its.bound else f"; none of them {'takes less' if by_time else 'has fewer'} than {least}"
    hint = f"`{OVER_NODES}` of {listed(list(its.components))} lets the plan be so"
    if not its.components:
        hint = "none of its tp groups lies over nodes: it needs no hint for that"
    return f"with tp groups over nodes: {priced_in_words(account.planned, its.best, its.question)}{more}\n  {escape(hint)}"


def over_kinds(account: Account) -> str:
    """What plans take at least in which a component is on several kinds of accelerators at once, where these may be better."""
    planned, least = account.planned, account.planned.over_kinds
    if least is None:
        return ""
    found = "" if account.given else "; no plan of them is known that is better"
    return f"with a component on several kinds of accelerators at once: at least {cost_in_words(planned, least)}{found}"


def nested(account: Account) -> str:
    """What plans come to in which a component uses only some of another's accelerators, where these may be better."""
    planned, its = account.planned, account.planned.nested
    if its is None:
        return ""
    by_time = planned.question.aim == SECONDS
    least = f"at least {cost_in_words(planned, its.bound)}"
    said = "with `nested: true` in `plan`, which lets a component use only some of another's accelerators:"
    if its.best is None:
        found = HURRIED if planned.hurried else "none that is better was found in a tenth of the time"
        return f"{said} {least}{'' if account.given else f'; {found}'}"
    value = total(its.best) if by_time else its.best.accelerators(planned.question)
    return (
        f"{said}\n  {priced_in_words(account.planned, its.best, its.question)}{'' if value <= its.bound or not its.bound else f'; {least}'}"
    )


def at_once(account: Account) -> str:
    """What plans come to that are of several of these sorts at once, where that is less than what is told of each."""
    planned, its = account.planned, account.planned.at_once
    if its is None:
        return ""
    words = (
        (its.over_nodes, "tp groups over nodes"),
        (its.over_kinds, "a component on several kinds of accelerators"),
        (its.nested, "`nested: true`"),
    )
    sorts = ", ".join(said for there, said in words if there)
    least = f"at least {cost_in_words(planned, its.bound)}"
    if its.best is None:
        found = HURRIED if planned.hurried else "none that is better was found"
        return f"with several of these at once ({sorts}): {least}{'' if account.given else f'; {found}'}"
    value = total(its.best) if planned.question.aim == SECONDS else its.best.accelerators(planned.question)
    hints = f"`{NESTED}` in `plan`" + (f" and `{OVER_NODES}` of {listed(list(its.components))}" if its.components else "")
    more = "" if value <= its.bound or not its.bound else f"; {least}"
    return f"with several of these at once ({sorts}):\n  {priced_in_words(planned, its.best, its.question)}{more}\n  {escape(hints)} let it be so"
