"""Files with several faults each: one run tells them all, each with its place and what mends it, and none twice.

The first line of each file names the codes that are expected, one for each finding, and the machines.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding, Severity
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.report import Report
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from sampling import stated

FILES = sorted((Path(__file__).parent / "broken").glob("*.yaml"))


def report_on(text: str, name: str) -> Report:
    """The verdict on a text, on the machines that its first line names."""
    machines = read_shorthand(text.splitlines()[0].rpartition(": ")[2])
    return verify(read(Source(name, text), machines, "roll", "training", Composer(frameworks=stated("roll", len(text)))))


def found(text: str, name: str) -> list[Finding]:
    """Every error and warning of a text."""
    return [finding for finding in report_on(text, name).findings if finding.severity is not Severity.NOTE]


def test_there_are_many() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_fault_is_told_in_one_run(file: Path) -> None:
    text = file.read_text("utf-8")
    expected = text.splitlines()[0].removeprefix("# ").rpartition(": ")[0].split()
    findings = found(text, file.name)
    assert sorted(finding.code for finding in findings) == sorted(expected)
    assert [finding.message for finding in findings if not finding.help or finding.span is None] == []
    assert len({(finding.code, finding.message) for finding in findings}) == len(findings)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_that_is_offered_mends_it(file: Path) -> None:
    text = file.read_text("utf-8")
    findings = found(text, file.name)
    after = found(apply_edits(text, list(dict.fromkeys(finding.edit for finding in findings if finding.edit))), file.name)
    waiting = {each.rule for each in report_on(text, file.name).unchecked if each.why.startswith("judged once")}
    mended = {(finding.code, finding.message) for finding in findings if finding.edit}
    assert [finding.message for finding in after if (finding.code, finding.message) in mended] == []
    if not any(code == "PW111" for code, _ in mended):  # workers that do not come out even have no place that more could be said of
        assert {finding.code for finding in after if finding.severity is Severity.ERROR} <= {finding.code for finding in findings} | waiting
