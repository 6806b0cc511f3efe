"""Alternatives beside a plan, and designs without a placement."""

from __future__ import annotations

from ...models.account import Account, ReportedAlternative
from ...solver.wording import join_names
from ..terminal import escape
from .words import format_price, seconds, task_name

MAX_ADDS = 2
MAX_OUT = 5
"""Maximum number of named designs without a placement; JSON has all."""


def alternatives(account: Account, brief: bool = False) -> str:
    """Format the next best arrangements with costs; without reasons if `brief`."""
    result = account.planned
    lines = [
        f"  {number}. {_alternative(account, alternative, brief)}"
        for number, alternative in enumerate(account.alternatives, 1 if account.given else 2)
    ]
    for out in result.unplaceable[:MAX_OUT]:
        verb = "has" if not any(finding.code == "PW604" for finding in out.reason) else "is known of"
        lines.append(f"  no placement {verb} {format_price(account.planned, out.priced, out.question)}")
        lines += [f"     {escape(out.reason[0].message)}"] if out.reason else []
    if (more := len(result.unplaceable) - MAX_OUT) > 0:
        lines.append(f"  and of {more} more")
    if result.without_estimates is not None:
        lines.append(
            f"  without the estimates of memory: {format_price(account.planned, result.without_estimates, result.without_question)}"
        )
    return "\n".join([f"{_title(account)}:", *lines]) if lines else ""


def _title(account: Account) -> str:
    """Format the title; beside given ranks it says if no design was placed."""
    result = account.planned
    if not account.given:  # choices of models or degrees that no better plan can have are not searched for these
        in_part = (
            result.alternatives_open
            or result.question.scope.over_kinds
            or any(question.kinds != result.question.kinds for question in result.parts)
        )
        return f"other arrangements, the best {'that was found ' if in_part else ''}of each"
    unknown = "; what they take for traffic is not known" if account.planned.best.traffic else ""
    return f"without these ranks, the best of each arrangement{f' (not placed{unknown})' if _none_is_placed(account) else ''}"


def _none_is_placed(account: Account) -> bool:
    return account.given and all(alternative.priced in account.planned.not_placed for alternative in account.alternatives)


def _alternative(account: Account, alternative: ReportedAlternative, brief: bool) -> str:
    result = account.planned
    unsure = alternative.priced in result.not_placed and not _none_is_placed(account)
    unknown = " and its traffic not known" if account.given and result.best.traffic else ""
    text = format_price(account.planned, alternative.priced) + (f", not placed{unknown}" if unsure else "")
    if brief or not alternative.adds or alternative.priced.total == result.best.total:
        return text
    longer = alternative.priced.total > result.best.total
    adds = [_adds(account, alternative, 1, "more"), _adds(account, alternative, -1, "less")]
    return f"{text}\n     {escape('; '.join(filter(None, adds if longer else adds[::-1])))}"


def _adds(account: Account, alternative: ReportedAlternative, sign: int, word: str) -> str:
    """Format the largest differences: `actor adds 6.111 more and rollout adds 5.766 more`."""
    result = account.planned
    unknown = account.given and alternative.priced in result.not_placed
    question, traffic = result.question, 0 if unknown else alternative.priced.traffic - result.best.traffic
    adds = [(time, task_name(question, task)) for task, time in alternative.adds] + [(traffic, "traffic")]
    largest = sorted(((sign * time, name) for time, name in adds if sign * time > 0), key=lambda entry: -entry[0])[:MAX_ADDS]
    return join_names([f"{name} adds {seconds(time)} {word}" for time, name in largest])
