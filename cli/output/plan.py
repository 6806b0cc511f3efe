"""Output of a verb for a plan of a job with times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, NamedTuple

if TYPE_CHECKING:
    from ...models.account import Account
    from ...models.answer import Answer
    from ...models.problem import Problem
    from ...planner.answer import Solver


class PlanOutput(NamedTuple):
    """Account, also as text and JSON; `keeps` : the file may stay; `brief` : a screen for all tables."""

    blocks: list[str]
    data: Mapping[str, object]
    keeps: bool
    brief: bool = False
    account: Account | None = None


NOTHING = PlanOutput([], {}, False)


def account_of(question: Problem, answer: Answer, limit: float, solve: Solver, verbose: bool) -> PlanOutput:
    """Return the output for the account of a plan; empty without times."""
    if question.job.planning.workload is None:
        return NOTHING
    from ...planner.accounting import account, account_of_given_ranks
    from ...planner.sensitivity import SEARCHES
    from ...report.planning.data import to_data
    from ...report.planning.text import render, render_brief

    searches = 0 if any(finding.code == "PW602" for finding in answer.findings) else SEARCHES  # who ended the search wants no further ones
    result, session = answer.planned, solve.session
    if result is None:
        account_found = session.unless_cancelled(lambda: account_of_given_ranks(question, solve), lambda: None)
    else:  # after Ctrl-C the answer is there; what a wrong hint would change is not told
        assignment = answer.plan.assignment if answer.plan is not None else None
        account_found = session.unless_cancelled(
            lambda: account(question, result, searches, limit, solve, assignment, session),
            lambda: account(question, result, 0, assignment=assignment),
        )
    if account_found is None:
        return NOTHING
    blocks = render(account_found) if verbose else render_brief(account_found)
    return PlanOutput(blocks, {"planned": to_data(account_found)}, account_found.keeps, not verbose, account_found)
