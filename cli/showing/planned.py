"""What a verb says of a plan whose counts were chosen by time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...models.answer import Answer
    from ...models.problem import Problem


def account_of(question: Problem, answer: Answer, limit: float, seed: int) -> tuple[list[str], dict[str, object]]:
    """(blocks of text, the same as JSON data); nothing of an answer that was not planned."""
    if answer.planned is None:
        return [], {}
    from ...report.planning.data import to_data
    from ...report.planning.text import render
    from ...solver.planning.after.account import account

    try:
        found = account(question, answer.planned, seed, limit=limit)
    except KeyboardInterrupt:  # the answer is there; only what a wrong hint would change is not told
        found = account(question, answer.planned, seed, 0)
    return render(found), {"planned": to_data(found)}
