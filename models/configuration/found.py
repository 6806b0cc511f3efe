"""Findings and unchecked rules of one file, collected during reading."""

from __future__ import annotations

from ..findings.finding import Finding, Severity, Unchecked
from ..findings.span import Edit, Span
from ..releases.choice import ReleaseChoice
from ..releases.release import Range, spans_of
from ..text.document import Document
from ..text.tree import Scalar, Value

MAX_FOLLOWED = 1_000
"""Largest number of interpolated maps and lists searched for the second place of a finding."""


class ConfigurationFindings:
    """Findings and unchecked rules of one framework file, in reading order.

    Attributes
    ----------
    proves : False for files of an unknown program: errors become warnings, because no failure is
        proved.
    followed : for maps and lists from an interpolation: span of the value, span of the written
        ``${...}``.
    """

    def __init__(self, document: Document, framework: str) -> None:
        self.document = document
        self.framework = framework
        self.partial = document.partial
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []
        self.followed: list[tuple[Span, Span]] = []
        self.proves = True

    def error(
        self, code: str, subject: str, message: str, at: Span | Value, label: str = "", help: str = "", edit: Edit | None = None,
        *notes: str,
    ) -> None:  # fmt: skip
        """Add an error: failure is proved."""
        self._add(Severity.ERROR, code, subject, message, at, label, help, edit, notes)

    def warn(
        self, code: str, subject: str, message: str, at: Span | Value, label: str = "", help: str = "", edit: Edit | None = None,
        *notes: str,
    ) -> None:  # fmt: skip
        """Add a warning."""
        self._add(Severity.WARNING, code, subject, message, at, label, help, edit, notes)

    def info(
        self, code: str, subject: str, message: str, at: Span | Value, label: str = "", help: str = "", edit: Edit | None = None,
        *notes: str,
    ) -> None:  # fmt: skip
        """Add an informational finding."""
        self._add(Severity.NOTE, code, subject, message, at, label, help, edit, notes)

    def _add(
        self, severity: Severity, code: str, subject: str, message: str, at: Span | Value, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        if severity is Severity.ERROR and not self.proves:
            severity = Severity.WARNING
        span = at if isinstance(at, Span) else at.span
        origin = at.origin if isinstance(at, Scalar) and at.origin != span else None
        reference = next((reference for target, reference in self.followed[:MAX_FOLLOWED] if is_inside(span, target)), None)
        if reference is not None and origin is None:
            span, origin = reference, span
        self.findings.append(Finding(code, severity, subject, message, span, label, help, edit, origin=origin, notes=notes))

    @property
    def choice(self) -> ReleaseChoice | None:
        """Release that the file is judged for; None for a native file."""
        return self.document.release

    def judge(
        self, releases: Range, severity: Severity, code: str, subject: str, message: str, at: Span | Value, label: str = "",
        help: str = "", edit: Edit | None = None, *notes: str,
    ) -> None:  # fmt: skip
        """Add a finding that depends on the release.

        It has its severity if the release at hand refuses the text, and is a warning if only other
        possible releases do.
        """
        choice = self.choice
        if choice is None or choice.has(releases):
            accepting = [] if choice is None else [release for release in choice.possible if not choice.table.holds(releases, release)]
            if choice is not None and accepting:
                notes = (*notes, f"{choice.table.framework} {spans_of(accepting)} {'accepts' if len(accepting) == 1 else 'accept'} it")
            self._add(severity, code, subject, message, at, label, help, edit, notes)
        elif choice.possible_in(releases):
            note = f"only in {choice.in_words(releases)}; this file is judged for {choice}"
            self._add(Severity.WARNING, code, subject, message, at, label, help, edit, (*notes, note))

    def unsure(self, rule: str, subject: str, why: str, decides: bool = False, add: str = "") -> None:
        """Record a rule as unchecked; see `Unchecked` for `decides` and `add`."""
        self.unchecked.append(Unchecked(rule, subject, why, decides, add))


def is_inside(span: Span, target: Span) -> bool:
    """Return True if a span lies within the span `target`."""
    return span.file == target.file and target.start <= span.start and span.end <= target.end
