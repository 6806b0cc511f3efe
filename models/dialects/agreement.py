"""Errors of a file for an unstated release: refused by all possible releases, else warnings."""

from __future__ import annotations

from typing import Callable, Sequence

from ..findings.causes import skeleton
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput
from ..findings.span import Span
from ..reading import Reading
from ..record import replace
from ..releases.choice import state_release
from ..releases.release import Release, spans_of
from ..text.document import Document


def with_shared_errors(reading: Reading, read: Callable[[Document], Reading]) -> Reading:
    """Return a reading with the errors that the possible releases share; others are warnings.

    Such a warning leaves the verdict open.
    The document is read for each other possible release. Decisive are the releases with the fewest
    errors; if they share none, all errors of the reading stay.
    """
    document, choice = reading.document, reading.document.release
    errors = _errors(reading)
    if choice is None or choice.is_stated or not errors:
        return reading
    errors_of: dict[Release, Sequence[Finding]] = {choice.release: errors}
    for release in choice.possible:
        if release != choice.release:
            try:
                errors_of[release] = _errors(read(replace(document, release=state_release(choice.table, release))))
            except UnusableInput as problem:
                errors_of[release] = problem.findings
    fewest = min(map(len, errors_of.values()))
    decisive = {release for release, refusals in errors_of.items() if len(refusals) == fewest}
    tops = (document.root.span, document.program.span if document.program is not None else None)
    causes_of = {
        release: {cause for finding in refusals for cause in _causes(finding, release, tops)} for release, refusals in errors_of.items()
    }
    accepting = {
        error: [release for release, causes in causes_of.items() if causes.isdisjoint(_causes(error, choice.release, tops))]
        for error in errors
    }
    milder = {
        error: replace(error, severity=Severity.WARNING, disputed=True) for error in errors if not decisive.isdisjoint(accepting[error])
    }
    if fewest and len(milder) == len(errors):
        milder = {}
    named = {error: _name_accepting(milder.get(error, error), choice.table.framework, accepting[error]) for error in errors}
    reading = replace(reading, findings=tuple(named.get(finding, finding) for finding in reading.findings))
    if not milder:
        return reading
    why = f"the release is unknown: {choice.release} refuses what older releases accept"
    add = f"Name the release that you run: `--framework {choice.table.framework.lower()}==VERSION`"
    return replace(reading, unchecked=(*reading.unchecked, Unchecked("PW015", "", why, True, add)))


def _errors(reading: Reading) -> list[Finding]:
    return [finding for finding in reading.findings if finding.severity is Severity.ERROR]


def _causes(error: Finding, release: Release, tops: Sequence[Span | None]) -> set[object]:
    """Return the code of an error with its message, and with its place.

    The message has no numbers and no release.
    """
    message = skeleton(error.subject, error.message.replace(release.name, ""))
    return {(error.code, message), *(((error.code, error.span),) if error.span not in (None, *tops) else ())}


def _name_accepting(finding: Finding, framework: str, accepting: Sequence[Release]) -> Finding:
    """Return a finding with the releases that accept it; of an error, only in place of such a note."""
    notes = tuple(text for text in finding.notes if not text.endswith((" accepts it", " accept it")))
    if accepting and (finding.disputed or notes != finding.notes):
        notes += (f"{framework} {spans_of(accepting)} {'accepts' if len(accepting) == 1 else 'accept'} it",)
    return finding if notes == finding.notes else replace(finding, notes=notes)
