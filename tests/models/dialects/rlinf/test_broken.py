"""Twenty files with two or more faults each: one run tells them all, and what it offers removes those that it is offered for.

The first line of each file names the codes that are expected, and the machines. One code stands for all its findings.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding, Severity
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source
from placewright.planner.verify import verify

FILES = sorted((Path(__file__).parent / "broken").glob("*.yaml"))


def found(text: str, name: str) -> list[Finding]:
    """Every error and warning of a text, on the machines that its first line names."""
    machines = read_shorthand(text.splitlines()[0].rpartition(": ")[2])
    reading = read(Source(name, text), machines, composer=Composer(frameworks=("rlinf==a3816b59",)))
    return [finding for finding in verify(reading).findings if finding.severity is not Severity.NOTE]


def test_there_are_twenty() -> None:
    assert len(FILES) == 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_fault_is_told_in_one_run_and_all_that_is_offered_mends_it(file: Path) -> None:
    text = file.read_text("utf-8")
    expected = text.splitlines()[0].removeprefix("# ").rpartition(": ")[0].split()
    findings = found(text, file.name)
    assert sorted(finding.code for finding in findings) == sorted(expected)
    assert [finding.message for finding in findings if not finding.help] == []
    assert len({finding.span for finding in findings}) >= 2
    edits = list(dict.fromkeys(finding.edit for finding in findings if finding.edit))
    after = apply_edits(text, edits)
    left = [(finding.code, finding.message) for finding in findings if finding.edit is None]
    assert [(finding.code, finding.message) for finding in found(after, file.name)] == left
    assert after.splitlines()[0] == text.splitlines()[0]
