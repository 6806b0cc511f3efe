"""Findings and answers for problems without a placed design."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ..models.findings.finding import Finding, error
from ..models.findings.wording import are
from ..models.planning.planned import Unplaceable
from ..solver.refuting.impossible import NO_CHANGE
from ..solver.sandbox.end_reasons import Faulty, SearchStopped
from ..solver.wording import exactly_in_time, format_time


def report_infeasible(is_proved: bool, unplaceable: Sequence[Unplaceable]) -> Answer:
    """Return the infeasible answer: why the best design has no placement, and no other has."""
    reason, slow = _best(unplaceable)
    if not reason and is_proved:
        finding = error("PW601", "", "impossible: no counts and degrees fit together", help="leave more open")
        return Answer(IMPOSSIBLE, findings=(finding,), how="search")
    if not reason:
        message = "within the limit no counts and degrees were found, and no proof that there are none"
        return report_undecided(message, "give it longer with `--limit`, or leave more open")
    if is_proved:
        note = "these counts and degrees are the best by time, and no others that fit can be placed"
        if slow:
            note = "of the counts and degrees that keep to that without their traffic these take the least with it"
        first, *rest = reason
        return Answer(IMPOSSIBLE, findings=(replace(first, notes=(*first.notes, note)), *rest), how="search")
    message, note = "none of the counts and degrees that fit together was placed", "the next finding has the reason of the best of them"
    return report_undecided(message, "loosen what prevents these, or leave more open", reason, notes=(note,))


def report_undecided(
    message: str, advice: str, reason: Sequence[Finding] = (), name: str = "", how: str = "search", notes: tuple[str, ...] = ()
) -> Answer:
    """Return the undecided answer, about a component where one is named."""
    return Answer(UNDECIDED, findings=(error("PW602", name, f"undecided: {message}", help=advice, notes=notes), *reason), how=how)


def not_all_read(count: int) -> Answer:
    """Return the undecided answer for unread choices of degrees."""
    return report_undecided(f"no planned choice of degrees has a plan, and {count:,} others were not planned", "leave fewer degrees open")


def report_too_many(unplaceable: Sequence[Unplaceable]) -> Answer:
    """Return the undecided answer after too many unplaceable designs."""
    message = f"none of the {len(unplaceable)} best designs was placed"
    return report_undecided(message, "leave more open: counts, degrees, or who shares with whom", _best(unplaceable)[0])


def find_slow(unplaceable: Sequence[Unplaceable]) -> Unplaceable | None:
    """Return the placed design with the least time among those with too much traffic."""
    with_traffic = [design for design in unplaceable if design.priced.traffic]
    return min(with_traffic, key=lambda design: design.priced.total, default=None)


def _best(unplaceable: Sequence[Unplaceable]) -> tuple[tuple[Finding, ...], bool]:
    """Return the reason against the best design, and True if its traffic takes too long."""
    if (slow := find_slow(unplaceable)) is not None:
        return slow.reason, True
    return (unplaceable[0].reason if unplaceable else ()), False


def with_help(answer: Answer, helps: Iterable[str]) -> Answer:
    """Return the answer with tested helps first."""
    texts = [text for text in helps if text]
    if not texts:
        return answer
    first, *rest = answer.findings
    return replace(
        answer, findings=(replace(first, help="; or ".join([*texts, *([first.help] if first.help not in ("", NO_CHANGE) else [])])), *rest)
    )


def not_placed(reason: SearchStopped, has_designs: bool) -> Answer:
    """Return the answer of a stopped search; `has_designs` is True if designs existed."""
    if not has_designs or isinstance(reason, Faulty):
        return Answer(UNDECIDED, findings=(reason.without_answer,), how="search")
    return report_undecided(f"{reason}, and until then none of the counts and degrees that fit together was placed", reason.help)


def report_over_budget(takes: int, crossing: int, most: int) -> Finding:
    """Return the reason why a placed design exceeds the budget with its traffic."""
    message = f"with the {format_time(crossing)} of its traffic an iteration takes {format_time(takes)}, {exactly_in_time(most)} {are(exactly_in_time(most).partition(' ')[0])} allowed"
    return error("PW601", "", message, help="allow more seconds, or leave more open")


def refuse_overlap(first: str, second: str) -> Answer:
    """Return the answer for given ranks that overlap in part: out of scope."""
    message = f"given ranks that overlap in part, as of `{first}` and `{second}`, are out of scope"
    return report_undecided(message, "give both the same ranks, or none in common, or leave those of one open", name=first, how="given")
