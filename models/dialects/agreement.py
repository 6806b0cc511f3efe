"""Errors of a file for an unstated release: refused by all possible releases, else warnings."""

from __future__ import annotations

from typing import Callable, Sequence

from ..findings.causes import skeleton
from ..findings.finding import Finding, Severity, UnusableInput
from ..reading import Reading
from ..record import replace
from ..releases.choice import state_release
from ..releases.release import Release, spans_of
from ..text.document import Document


def with_shared_errors(reading: Reading, read: Callable[[Document], Reading]) -> Reading:
    """Return a reading with the errors that the possible releases share; others are warnings.

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
    texts_of = {release: {_text(finding, release) for finding in refusals} for release, refusals in errors_of.items()}
    accepting = {error: [release for release, texts in texts_of.items() if _text(error, choice.release) not in texts] for error in errors}
    milder = {error: _soften(error, choice.table.framework, names) for error, names in accepting.items() if not decisive.isdisjoint(names)}
    if fewest and len(milder) == len(errors):
        return reading
    return replace(reading, findings=tuple(milder.get(finding, finding) for finding in reading.findings))


def _errors(reading: Reading) -> list[Finding]:
    return [finding for finding in reading.findings if finding.severity is Severity.ERROR]


def _text(error: Finding, release: Release) -> tuple[str, str]:
    """Return the code and the message of an error, without numbers and its release."""
    return error.code, skeleton(error.subject, error.message.replace(release.name, ""))


def _soften(error: Finding, framework: str, accepting: Sequence[Release]) -> Finding:
    """Return an error as a warning that names the accepting releases."""
    note = f"{framework} {spans_of(accepting)} {'accepts' if len(accepting) == 1 else 'accept'} it"
    notes = (*(other for other in error.notes if not other.endswith((" accepts it", " accept it"))), note)
    return replace(error, severity=Severity.WARNING, notes=notes, disputed=True)
