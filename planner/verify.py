"""Verdict on a file, also on what it leaves open, where arithmetic shows that it has no place."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.findings.finding import Finding, Severity, error
from ..models.part import explicit
from ..models.problem import AMOUNT, Problem
from ..models.reading import Reading
from ..models.report import Report
from ..solver.check import check
from ..solver.refuting.certificate import counting_row
from ..solver.refuting.contradicted import contradicted
from ..solver.verify import verify as verify_given

MOST_NODES = 1024
"""Nodes up to which sums are made here: they look at each node, and a verdict is to take no longer for many. `solve` makes them always."""
HELP = "`placewright solve` says which changes would make it possible"


def at_sight(problem: Problem) -> Iterator[Finding]:
    """The reason, if there is one that needs no search: then a search would find nothing either, and say what helps."""
    if not problem.cluster.counted or not problem.hinted or any("placement" in each.spans for each in problem.hinted):
        return  # ranks that cannot be told yet are not left to solve
    workload = problem.job.planning.workload
    if workload is not None and any(each.timed for each in problem.hinted):
        from .why.at_sight import of_times

        reasons = list(of_times(problem, workload))
        both = contradicted(problem)
        yield from (replace(each, help=each.help or HELP) for each in reasons or ([both] if both else []))
    elif both := contradicted(problem):
        yield both
    elif len(problem.cluster.nodes) <= MOST_NODES:
        for short in _no_room(problem):
            from ..solver.unsearched import not_searched  # which loads much, and is asked of few files

            if not not_searched(problem):
                yield short


def _no_room(problem: Problem) -> Iterator[Finding]:
    """A sum that shows it, whatever the degrees are."""
    rows, refuted = [], []
    for alternative in problem.alternatives():
        if any(finding.severity is Severity.ERROR for finding in check(explicit(alternative), problem.given())):
            continue  # given ranks rule these degrees out
        row = counting_row(alternative)
        if row is None:
            return
        rows.append(row)
        refuted.append(alternative)
    if rows:
        subject, row = rows[0].components[0], rows[0]
        from ..solver.refuting.impossible import anyhow

        yield error(
            "PW601", subject.name, f"impossible: {row}{anyhow(refuted)}", row.span or subject.span(AMOUNT), help=HELP,
            witnesses=(row.need, row.have), amount=row.need - row.have,
        )  # fmt: skip


def verify(reading: Reading) -> Report:
    """Verdict on a file: findings of reading it, of its given ranks, and why open ones have no place, where a sum shows it."""
    return verify_given(reading, why_not)


def why_not(problem: Problem) -> Iterator[Finding]:
    """Reason why what is open has no place, found without a search; it loads much, and few files have anything open."""
    yield from at_sight(problem)
