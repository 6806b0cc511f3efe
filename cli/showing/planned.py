"""What a verb says of a plan where components say how long they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from ...models.answer import Answer
    from ...models.problem import Problem


def account_of(
    question: Problem, answer: Answer, limit: float, seed: int, solve: Callable[[Problem], Answer]
) -> tuple[list[str], dict[str, object]]:
    """(blocks of text, the same as JSON data); nothing where no component says its time. `solve` answers further questions."""
    if question.job.workload is None:
        return [], {}
    from ...report.planning.data import to_data
    from ...report.planning.text import render
    from ...solver.planning.after.accounting import account
    from ...solver.planning.after.flips.sensitivity import SEARCHES
    from ...solver.planning.after.own.given import given

    searches = 0 if any(each.code == "PW602" for each in answer.findings) else SEARCHES  # who ended the search wants no further ones
    try:
        its = answer.planned
        found = given(question, limit, seed) if its is None else account(question, its, seed, searches, limit, solve)
    except KeyboardInterrupt:  # the answer is there; what else could be, or what a wrong hint would change, is not told
        found = None if answer.planned is None else account(question, answer.planned, seed, 0)
    return ([], {}) if found is None else (render(found), {"planned": to_data(found)})
