"""Verdict on a file, including quick infeasibility of open components."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.findings.finding import Finding
from ..models.findings.selection import CodeSelection
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
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
    from ..solver.refuting.conflict import find_contradiction  # which loads much, and is asked of few files

    if problem.job.planning.workload is not None and any(component.timed for component in problem.hinted):
        from .why.quick_infeasibility import of_times

        reasons = list(of_times(problem))
        both = find_contradiction(problem)
        yield from (replace(finding, help=finding.help or HELP) for finding in reasons or ([both] if both else []))
    elif both := find_contradiction(problem):
        yield both
    elif len(problem.cluster.nodes) <= MOST_NODES:
        from ..solver.refuting.impossible import shortage

        if (short := shortage(problem)) is not None:
            yield replace(short, help=HELP)
