"""What is said where no design was placed."""

from __future__ import annotations

from typing import Sequence

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ....models.findings.finding import Finding, error
from ....models.planning.measured import SECOND
from ....models.planning.planned import Unplaceable


def nothing(proved: bool, unplaceable: Sequence[Unplaceable]) -> Answer:
    """The answer where the search has nothing left: the reason of the best design that no placement has comes after it."""
    reason: tuple[Finding, ...] = unplaceable[0].reason if unplaceable else ()
    if unplaceable:
        message = "no counts and degrees that fit together can be placed: of the best of them it is said next why not"
        advice = "change what the next one names"
    else:
        message, advice = "no counts and degrees fit together", "leave more open, or give it longer"
    found = error("PW601" if proved else "PW602", "", message, help=advice)
    return Answer(IMPOSSIBLE if proved else UNDECIDED, findings=(found, *reason), how="search")


def too_many(unplaceable: Sequence[Unplaceable]) -> Answer:
    """The answer where so many designs were tried and none can be placed."""
    message = f"undecided: the {len(unplaceable)} best designs cannot be placed"
    found = error("PW602", "", message, help="leave more open: counts, degrees, or who shares with whom")
    return Answer(UNDECIDED, findings=(found, *unplaceable[0].reason), how="search")


def over_budget(takes: int, crossing: int, most: int) -> Finding:
    """Why a design that was placed is none all the same."""
    message = f"with the {_seconds(crossing)} of its traffic an iteration takes {_seconds(takes)}, {_seconds(most)} are allowed"
    return error("PW601", "", message, help="allow more seconds, or leave more open")


def overlapping(one: str, other: str) -> Answer:
    """The answer where given ranks overlap in part."""
    message = f"`{one}` and `{other}` hold some of the same accelerators by their ranks and others too: no time is known of that"
    return Answer(UNDECIDED, findings=(error("PW602", one, message, help="give both the same ranks, or none in common"),), how="given")


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / SECOND:.4g} s"
