"""Edits of findings, made in a file only if it verifies better with them."""

from __future__ import annotations

from collections import Counter
from typing import Callable, Iterable, Sequence

from .findings.finding import Finding, Severity
from .findings.span import Edit, apply_edits
from .reading import Reading
from .record import dataclass
from .report import Report, exit_code

MOST_STEPS = 20
"""Largest number of steps; an edit may show faults with further edits."""
Judge = Callable[[Reading], Report]
Reports = Sequence[Report]
Accepts = Callable[[Reports, Reports, list[Edit]], bool]


@dataclass(frozen=True)
class FixedFile:
    """File with its edits.

    Attributes
    ----------
    readings : readings of the text before, one per program of a script.
    text : text with the edits; equal to the text before if none helps.
    """

    readings: Sequence[Reading]
    text: str
    reports: Reports
    count: int

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.readings[0].source.name

    @property
    def before(self) -> str:
        """Text before the edits."""
        return self.readings[0].source.text


def fix(readings: Sequence[Reading], judge: Judge) -> FixedFile:
    """Make the edits of findings with which a file verifies better.

    No error is new afterwards. Edits that show what a misspelling hid are tried first; if an error is left there, only edits
    that show no error are made.
    """
    original = FixedFile(readings, readings[0].source.text, [judge(reading) for reading in readings], 0)
    if any(reading.session.as_before is None for reading in readings):
        return original
    for accepts in (_is_fixed, _is_better_with):
        repaired_file = _fix_file(original, judge, accepts)
        if repaired_file.count and _is_better(original.reports, repaired_file.reports):
            return repaired_file
    return original


def _fix_file(file: FixedFile, judge: Judge, accepts: Accepts) -> FixedFile:
    for _ in range(MOST_STEPS):
        step = _step(file, judge, accepts)
        if step is None:
            break
        file = step
    return file


def _step(file: FixedFile, judge: Judge, accepts: Accepts) -> FixedFile | None:
    """Make all edits, else the first that is accepted; None if none is."""
    edits = select_edits(file.name, file.reports)
    for edits_made in [edits, *([edit] for edit in edits if len(edits) > 1)] if edits else ():
        text = apply_edits(file.text, edits_made)
        reports = [judge(reading.session.read(text)) for reading in file.readings]
        if accepts(file.reports, reports, edits_made):
            return FixedFile(file.readings, text, reports, file.count + len(edits_made))
    return None


def select_edits(name: str, reports: Reports) -> list[Edit]:
    """Return the edits of errors and warnings in a file, in text order, without overlaps.

    A warning's edit that only deletes is left to the user: the framework ignores the text, but a
    fork may read it.
    """
    findings = (finding for report in reports for finding in report.findings if finding.severity is not Severity.NOTE)
    edits = list[Edit]()
    for finding in sorted(findings, key=lambda finding: finding.edit.span.start if finding.edit else -1):
        edit = finding.edit
        if edit is None or edit.span.file != name or (not edit.text and finding.severity is Severity.WARNING):
            continue
        if not edits or edit.span.start >= edits[-1].span.end + (not edits[-1].span.length):
            edits.append(edit)
    return edits


def _is_fixed(before: Reports, after: Reports, edits: list[Edit]) -> bool:
    """Return True if the findings of the edits are gone."""
    targets = {_identity(finding) for report in before for finding in report.findings if finding.edit in edits}
    return targets.isdisjoint(_identity(finding) for report in after for finding in report.findings)


def _is_better_with(before: Reports, after: Reports, edits: list[Edit]) -> bool:
    return _is_better(before, after)


def _is_better(before: Reports, after: Reports) -> bool:
    """Return True if there are fewer findings, no new error, and no worse verdict.

    Errors that wait for the repair of another error are known before.
    """
    errors_before = _errors(before) + Counter(
        item.rule for report in before for item in report.unchecked if item.why.startswith("judged once")
    )
    fewer = _weight(after) < _weight(before)
    return fewer and not _errors(after) - errors_before and _code(after) <= _code(before)


def _errors(reports: Reports) -> Counter[str]:
    return Counter(finding.code for report in reports for finding in report.errors)


def _weight(reports: Reports) -> tuple[int, int]:
    """Return the number of errors, and of all findings but notes."""
    findings = [finding for report in reports for finding in report.findings if finding.severity is not Severity.NOTE]
    return _errors(reports).total(), len(findings)


def _code(reports: Iterable[Report]) -> int:
    """Return 0 for ok, else more for a worse verdict."""
    return [0, 5, 1, 2].index(exit_code(report.verdict for report in reports))


def _identity(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.subject, finding.message
