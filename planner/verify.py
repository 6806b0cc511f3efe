"""Verdict on a file, including quick infeasibility of open components."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.findings.finding import Finding, Severity, error
from ..models.findings.selection import CodeSelection
from ..models.problem import AMOUNT, Problem
from ..models.reading import Reading
from ..models.report import Report
from ..models.sharing import given_part
from ..solver.check import check
from ..solver.verify import verify as verify_given

MOST_NODES = 1024
"""Maximum number of nodes for sums in a verdict, as they look at every node.

`solve` always makes them.
"""
HELP = "`placewright solve` says which changes would make it possible"


def verify(reading: Reading, selection: CodeSelection | None = None) -> Report:
    """Verify a file: findings of reading, of its ranks, and quick infeasibility.

    Findings that `selection` ignores do not count for the verdict.
    """
    return verify_given(reading, why_not, selection)


def why_not(problem: Problem) -> Iterator[Finding]:
    """Yield the reason for infeasibility if no search is needed to find it."""
    if not problem.cluster.counted or not problem.hinted or any("placement" in component.spans for component in problem.hinted):
        return  # ranks that cannot be told yet are not left to solve
    from ..solver.refuting.contradictions import find_contradiction  # which loads much, and is asked of few files

    if problem.job.planning.workload is not None and any(component.timed for component in problem.hinted):
        from .why.quick_infeasibility import of_times

        reasons = list(of_times(problem))
        both = find_contradiction(problem)
        yield from (replace(finding, help=finding.help or HELP) for finding in reasons or ([both] if both else []))
    elif both := find_contradiction(problem):
        yield both
    elif len(problem.cluster.nodes) <= MOST_NODES:
        for short in _no_room(problem):
            from ..solver.search_scope import unsupported

            if not unsupported(problem):
                yield short


def _no_room(problem: Problem) -> Iterator[Finding]:
    """Yield a sum that proves infeasibility for all degrees."""
    from ..solver.refuting.certificate import counting_row
    from ..solver.refuting.impossible import open_choices_text

    rows, refuted = [], []
    for alternative in problem.alternatives():
        if any(finding.severity is Severity.ERROR for finding in check(given_part(alternative), problem.given())):
            continue  # given ranks rule these degrees out
        row = counting_row(alternative)
        if row is None:
            return
        rows.append(row)
        refuted.append(alternative)
    if rows:
        subject, row = rows[0].components[0], rows[0]
        yield error(
            "PW601", subject.name, f"impossible: {row}{open_choices_text(refuted)}", row.span or subject.span(AMOUNT), help=HELP,
            witnesses=(row.need, row.have), amount=row.need - row.have,
        )  # fmt: skip
