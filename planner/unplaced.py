"""Findings where no design was placed."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ..models.findings.finding import Finding, error
from ..models.findings.wording import are
from ..models.planning.planned import Unplaceable
from ..solver.refuting.impossible import NO_CHANGE
from ..solver.sandbox.stopped import Faulty, Stopped
from ..solver.wording import exactly_in_time, in_time


def nothing(proved: bool, unplaceable: Sequence[Unplaceable]) -> Answer:
    """The answer where the search has nothing left: why the best design of all has no placement, and that no other has one.

    Where traffic is what takes too long, it is that of the design which takes the least with it.
    """
    reason, slow = _best(unplaceable)
    if not reason and proved:
        found = error("PW601", "", "impossible: no counts and degrees fit together", help="leave more open")
        return Answer(IMPOSSIBLE, findings=(found,), how="search")
    if not reason:
        message = "undecided: within the limit no counts and degrees were found that fit together, and no proof that there are none"
        found = error("PW602", "", message, help="give it longer with `--limit`, or leave more open")
        return Answer(UNDECIDED, findings=(found,), how="search")
    if proved:
        others = "these counts and degrees are the best by time; none of the others that fit together can be placed either"
        if slow:
            others = "of the counts and degrees that keep to that without their traffic these take the least with it"
        first, *rest = reason
        return Answer(IMPOSSIBLE, findings=(replace(first, notes=(*first.notes, others)), *rest), how="search")
    message = "undecided: of the counts and degrees that fit together none was placed; why the best of them cannot be is told beside this"
    found = error("PW602", "", message, help="loosen what stands in the way of these, or leave more open")
    return Answer(UNDECIDED, findings=(found, *reason), how="search")


def not_all_read(count: int) -> Answer:
    """The answer where nothing is possible with the choices of degrees that were planned, and so many others were not."""
    message = f"undecided: with no choice of degrees that was planned a plan is possible, and {count:,} others were not planned"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help="leave fewer degrees open"),), how="search")


def not_all_sizes(count: int) -> Answer:
    """The answer where nothing is possible with the sizes of pools that were read, and so many others were not."""
    message = f"undecided: with no size of the pools that was read a plan is possible, and {count:,} others were not read"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help="leave fewer degrees open"),), how="search")


def too_many(unplaceable: Sequence[Unplaceable]) -> Answer:
    """The answer where so many designs were tried and none can be placed."""
    message = f"undecided: none of the {len(unplaceable)} best designs was placed"
    found = error("PW602", "", message, help="leave more open: counts, degrees, or who shares with whom")
    return Answer(UNDECIDED, findings=(found, *_best(unplaceable)[0]), how="search")


def slowly_placed(unplaceable: Sequence[Unplaceable]) -> Unplaceable | None:
    """Of the designs that were placed and take too long with their traffic, the one that takes the least."""
    placed = [each for each in unplaceable if each.priced.traffic]
    return min(placed, key=lambda each: each.priced.nanoseconds + each.priced.traffic, default=None)


def _best(unplaceable: Sequence[Unplaceable]) -> tuple[tuple[Finding, ...], bool]:
    """Why the best of these designs is none; is that one which was placed, and takes too long with its traffic?"""
    if (slow := slowly_placed(unplaceable)) is not None:
        return slow.reason, True
    return (unplaceable[0].reason if unplaceable else ()), False


def with_help(answer: Answer, helps: Iterable[str]) -> Answer:
    """The answer with what helps, each of which was tried, before what helps besides."""
    known = [each for each in helps if each]
    if not known:
        return answer
    first, *others = answer.findings
    return replace(
        answer,
        findings=(replace(first, help="; or ".join([*known, *([first.help] if first.help not in ("", NO_CHANGE) else [])])), *others),
    )


def not_placed(stopped: Stopped, found: bool) -> Answer:
    """The answer where the search was stopped and nothing is placed; `found`: had it found counts and degrees that fit together?"""
    if not found or isinstance(stopped, Faulty):
        return Answer(UNDECIDED, findings=(stopped.without_answer,), how="search")
    message = f"undecided: {stopped}, and until then none of the counts and degrees that fit together was placed"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=stopped.help),), how="search")


def over_budget(takes: int, crossing: int, most: int) -> Finding:
    """Why a design that was placed is none all the same."""
    message = f"with the {in_time(crossing)} of its traffic an iteration takes {in_time(takes)}, {exactly_in_time(most)} {are(exactly_in_time(most).partition(' ')[0])} allowed"
    return error("PW601", "", message, help="allow more seconds, or leave more open")


def around_nothing(one: str, other: str) -> Answer:
    """Answer where given ranks overlap in part: such plans are out of scope."""
    message = f"undecided: the given ranks of `{one}` and `{other}` overlap in part, and no plan beside such ranks is searched"
    help_ = "give both the same ranks, or none in common, or leave those of one open"
    return Answer(UNDECIDED, findings=(error("PW602", one, message, help=help_),), how="given")


def refusal(finding: Finding) -> Finding:
    """Why a placement is none that the framework refuses: of the same design, others are not tried."""
    message = f"the framework refuses the one that was found: {finding.message} ({finding.code})"
    return error("PW604", finding.subject, message, help="give other counts")
