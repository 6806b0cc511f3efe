"""What a verb says of a plan where components say how long they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Mapping, NamedTuple

if TYPE_CHECKING:
    from ...models.answer import Answer
    from ...models.problem import Problem


class Shown(NamedTuple):
    """The account as blocks of text and as JSON data.

    `brief`: is it the one screen that stands for other tables too? `keeps`: does it say that the file's own placement had better stay?
    """

    blocks: list[str]
    data: Mapping[str, object]
    keeps: bool
    brief: bool = False


NOTHING = Shown([], {}, False)


def account_of(question: Problem, answer: Answer, limit: float, solve: Callable[[Problem], Answer], verbose: bool) -> Shown:
    """What is shown of the account; nothing where no component says its time. `solve` answers further questions."""
    if question.job.planning.workload is None:
        return NOTHING
    from ...planner.accounting import account, given
    from ...planner.sensitivity import SEARCHES
    from ...report.planning.brief import render_brief
    from ...report.planning.data import to_data
    from ...report.planning.text import render
    from ...solver.sandbox.interrupts import unless_heard

    searches = 0 if any(each.code == "PW602" for each in answer.findings) else SEARCHES  # who ended the search wants no further ones
    its = answer.planned
    if its is None:
        found = unless_heard(lambda: given(question, limit, solve), lambda: None)
    else:  # after Ctrl-C the answer is there; what a wrong hint would change is not told
        placed = answer.plan.assignment if answer.plan is not None else None
        found = unless_heard(
            lambda: account(question, its, searches, limit, solve, placed), lambda: account(question, its, 0, placed=placed)
        )
    if found is None:
        return NOTHING
    blocks = render(found) if verbose else render_brief(found)
    return Shown(blocks, {"planned": to_data(found)}, found.keeps, not verbose)
