"""What is said of the impossible where the search for what would help was stopped: the sum alone, which was counted here."""

from __future__ import annotations

from ...models.findings.finding import Finding, error
from ...models.problem import AMOUNT, Problem
from ..refuting.certificate import counting_row


def unexplained(problem: Problem) -> Finding:
    """The Finding for a problem that sums show to be impossible, without a change that would help."""
    row = next(filter(None, map(counting_row, problem.alternatives())), None)
    help_text = "loosen a demand, or add nodes; which change helps was not found out"
    if row is None:
        return error("PW601", "", "impossible: what is given leaves no choice of parallel degrees", help=help_text)
    subject = row.components[0]
    return error(
        "PW601",
        subject.name,
        f"impossible: {row}",
        subject.span(AMOUNT),
        help=help_text,
        witnesses=(row.need, row.have),
        amount=row.need - row.have,
    )
