"""Errors of a file for an unstated release: refused by all possible releases, else warnings."""

from __future__ import annotations

from typing import Callable, Sequence

from ..findings.causes import skeleton
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput
from ..findings.span import Span
from ..machines.cluster import Cluster
from ..model_cards.card import ModelCard
from ..reading import Reading
from ..record import replace
from ..releases.choice import ReleaseChoice, state_release
from ..releases.release import Release, spans_of
from ..resolving import with_models
from ..text.document import Document


def with_shared_errors(reading: Reading, read: Callable[[Document], Reading]) -> Reading:
    """Return a reading with the errors that the possible releases share; others are warnings.

    Such a warning leaves the verdict open. `read` reads the document, also for each other possible release.
    """
    document, choice = reading.document, reading.document.release
    if choice is None or choice.is_stated:
        return reading

    def read_for(release: Release) -> Reading:
        return read(replace(document, release=state_release(choice.table, release)))

    findings = share_errors(document, reading.findings, lambda release: read_for(release).findings)
    gaps = (*reading.unchecked, *unknown_release(choice, findings))
    return replace(reading, findings=findings, unchecked=gaps, session=replace(reading.session, for_release=read_for))


def with_policy(reading: Reading, card: ModelCard) -> Reading:
    """Return a reading with the user's model, with the errors that the possible releases share."""

    def read(text: str, machines: Cluster | None = None, /) -> Reading:
        return with_policy(reading.session.read(text, machines), card)

    result = with_models(reading, card)
    findings, session, read_for = result.findings, result.session, result.session.for_release
    if read_for is not None and len(findings) > len(reading.findings):
        findings = share_errors(result.document, findings, lambda release: read_for(release).findings)
    return replace(result, findings=findings, session=replace(session, as_before=read if session.as_before is not None else None))


def share_errors(
    document: Document, findings: Sequence[Finding], findings_for: Callable[[Release], Sequence[Finding]], needs_sound: bool = False
) -> tuple[Finding, ...]:  # fmt: skip
    """Return findings with the errors that the possible releases share; others are disputed.

    A disputed error is a warning. Decisive are the releases with the fewest errors; if they share none, all errors stay.
    With `needs_sound`, all errors stay unless a release has none.
    """
    choice, errors = document.release, _errors(findings)
    if choice is None or choice.is_stated or not errors:
        return tuple(findings)
    errors_of: dict[Release, Sequence[Finding]] = {choice.release: [*errors, *(finding for finding in findings if finding.disputed)]}
    for release in choice.possible:
        if release != choice.release:
            try:
                errors_of[release] = _errors(findings_for(release))
            except UnusableInput as problem:
                errors_of[release] = problem.findings
    fewest = min(map(len, errors_of.values()))
    if needs_sound and fewest:
        return tuple(findings)
    decisive = {release for release, refusals in errors_of.items() if len(refusals) == fewest}
    tops = (document.root.span, document.program.span if document.program is not None else None)
    causes_of = {
        release: {cause for finding in refusals for cause in _causes(finding, release, tops)} for release, refusals in errors_of.items()
    }
    releases_accepting = {
        error: [release for release, causes in causes_of.items() if causes.isdisjoint(_causes(error, choice.release, tops))]
        for error in errors
    }
    milder = {
        error: replace(error, severity=Severity.WARNING, disputed=True)
        for error in errors
        if not decisive.isdisjoint(releases_accepting[error])
    }
    if fewest and len(milder) == len(errors):
        milder = {}
    with_notes = {error: _name_accepting(milder.get(error, error), choice.table.framework, releases_accepting[error]) for error in errors}
    return tuple(with_notes.get(finding, finding) for finding in findings)


def unknown_release(choice: ReleaseChoice | None, findings: Sequence[Finding]) -> Sequence[Unchecked]:
    """Return what leaves the verdict open, if a finding is disputed among the possible releases."""
    if choice is None or not any(finding.disputed for finding in findings):
        return ()
    why = f"the release is unknown: {choice.release} refuses what older releases accept"
    return (Unchecked("PW015", "", why, True, f"Name the release that you run: `--framework {choice.table.framework.lower()}==VERSION`"),)


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def _causes(error: Finding, release: Release, tops: Sequence[Span | None]) -> set[object]:
    """Return the code of an error with its message, and with its place.

    The message has no numbers and no release.
    """
    message = skeleton(error.subject, error.message.replace(release.name, ""))
    return {(error.code, message), *(((error.code, error.span),) if error.span not in (None, *tops) else ())}


def _name_accepting(finding: Finding, framework: str, accepting: Sequence[Release]) -> Finding:
    """Return a finding with a note of the releases that accept it.

    An error gets the note only in place of such a note.
    """
    notes = tuple(text for text in finding.notes if not text.endswith((" accepts it", " accept it")))
    if accepting and (finding.disputed or notes != finding.notes):
        notes += (f"{framework} {spans_of(accepting)} {'accepts' if len(accepting) == 1 else 'accept'} it",)
    return finding if notes == finding.notes else replace(finding, notes=notes)
