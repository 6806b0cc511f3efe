"""What is asked once for all Assignments with the same runs is what `check` says of each of them."""

from __future__ import annotations

from itertools import islice

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment
from placewright.solver.check import check

from . import parity
from .judging import Judge
from .parity_cases.every import CASES


@pytest.mark.parametrize("name", ["CPUs", "in step, around", "within searched within searched, of groups"])
def test_a_judge_says_what_check_says(name: str) -> None:
    problem, different = CASES[name], set[frozenset[str]]()
    judge = Judge(problem)
    for number, combined in enumerate(islice(parity.assignments(problem), 4_000)):
        codes = judge.codes(combined)
        if number % 7 == 0:
            found = check(problem, Assignment(combined.runs))
            assert codes == {finding.code for finding in found if finding.severity is Severity.ERROR}, combined
            different.add(codes)
    assert len(different) > 2
