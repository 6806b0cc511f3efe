"""What a reading finds out besides its values: findings with their places, and what could not be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from ...finding import Finding, Severity, Unchecked
from ...span import Edit, Span
from ...text.document import Document
from ...text.interpolation import UNRESOLVED
from ...text.nearest import nearest
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Entry, Mapping, Scalar, Value, kind_of


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as RLinf gets it, which is `str(value)`: ``010`` is 8 to YAML and so "8" to RLinf.

    `shift` is where its first character stands in the scalar's span, None where characters do not correspond (the value
    came through an interpolation, or the text is not what is written).
    """

    text: str
    scalar: Scalar
    shift: int | None

    def part(self, start: int, end: int) -> Span:
        """Where the characters `start` to `end` stand; the whole scalar where that cannot be said."""
        if self.shift is None:
            return self.scalar.span
        return self.scalar.span.part(self.shift + start, self.shift + max(end, start + 1 if self.text else start))

    def replaced(self, text: str) -> Edit | None:
        """The edit that makes another text of it, in its own quotes; None where it is written elsewhere."""
        if self.scalar.origin is not None or "\n" in self.scalar.text:  # elsewhere, or in a block of its own lines
            return None
        if self.shift == 1:
            return Edit(self.scalar.span.part(1, self.scalar.span.length - 1), text)
        return Edit(self.scalar.span, plain_or_quoted(text))


class Notes:
    """The findings and the unchecked rules of one file, in the order in which they were met."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.partial = document.partial
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []

    def error(
        self, code: str, subject: str, message: str, at: Span | Value, label: str = "", help: str = "", edit: Edit | None = None
    ) -> None:
        """Add an error: failure is proved."""
        self._add(Severity.ERROR, code, subject, message, at, label, help, edit)

    def warn(
        self, code: str, subject: str, message: str, at: Span | Value, label: str = "", help: str = "", edit: Edit | None = None
    ) -> None:
        """Add a warning."""
        self._add(Severity.WARNING, code, subject, message, at, label, help, edit)

    def info(
        self, code: str, subject: str, message: str, at: Span | Value, label: str = "", help: str = "", edit: Edit | None = None
    ) -> None:
        """Add something worth knowing."""
        self._add(Severity.INFO, code, subject, message, at, label, help, edit)

    def _add(
        self, severity: Severity, code: str, subject: str, message: str, at: Span | Value, label: str, help: str, edit: Edit | None
    ) -> None:
        origin = at.origin if isinstance(at, Scalar) else None
        span = at if isinstance(at, Span) else at.span
        self.findings.append(Finding(code, severity, subject, message, span, label, help, edit, origin=origin))

    def unsure(self, rule: str, subject: str, why: str) -> None:
        """Say that a rule was not judged."""
        self.unchecked.append(Unchecked(rule, subject, why))

    def missing(self, subject: str, key: str, owner: Span, help: str, shared: bool = True) -> None:
        """A required key is not there. `shared`: it could stand in a part of the configuration that could not be read."""
        if self.partial and shared:
            self.unsure("PW101", subject, f"`{key}` is not in this file; it may come from `defaults`")
        else:
            self.error("PW101", subject, f"`{subject}` has no `{key}`", owner, "here", help)

    def wrong_type(self, subject: str, key: str, value: Value, wanted: str, help: str, edit: Edit | None = None) -> None:
        """A value is not of the type that RLinf takes."""
        self.error("PW105", subject, f"`{key}` must be {wanted}, but it is {kind_of(value)}", value, kind_of(value), help, edit)

    def text(self, scalar: Scalar, subject: str) -> Text:
        """The scalar as RLinf gets it; a warning where YAML reads it otherwise than it looks."""
        value = scalar.value
        text = str(value)
        if text != scalar.text and scalar.text.replace("_", "").lstrip("+") != text:
            message = f"YAML reads `{scalar.text}` as {'nothing' if value is None else value}, so RLinf gets the text `{text}`"
            edit = None if scalar.origin else Edit(scalar.span, f'"{scalar.text}"')
            help = f'write "{scalar.text}" in quotes, or `{text}` if that is meant'
            self.warn("PW118", subject, message, scalar, f"this is `{text}`", help, edit)
        return Text(text, scalar, self._shift(scalar, text))

    def _shift(self, scalar: Scalar, text: str) -> int | None:
        written = self.document.text_of(scalar.span.file)[scalar.span.start : scalar.span.end]
        if scalar.origin is not None or "\n" in written:
            return None
        if written == text:
            return 0
        return 1 if written[1:-1] == text and written[:1] in ("'", '"') else None

    def unknown_keys(self, value: Mapping, subject: str, known: Iterable[str], refused: bool, what: str) -> None:
        """A finding for every key that is not known: an error where RLinf refuses it, else a warning."""
        names = tuple(known)
        written = {entry.key.text for entry in value}
        for entry in value:
            if entry.key.text not in names:
                self._unknown(entry, subject, tuple(name for name in names if name not in written), names, refused, what)

    def _unknown(self, entry: Entry, subject: str, open_: tuple[str, ...], known: tuple[str, ...], refused: bool, what: str) -> None:
        close = nearest(entry.key.text, open_)
        message = f"{what} has no key `{entry.key.text}`" + ("" if refused else "; RLinf ignores it silently")
        help = f"write `{close}`" if close else f"keys are {', '.join(f'`{name}`' for name in known)}"
        edit = Edit(entry.key.span, close) if close else None
        self._add(Severity.ERROR if refused else Severity.WARNING, "PW104", subject, message, entry.key.span, "not a key", help, edit)


def is_unknown(value: Value) -> bool:
    """Is it an interpolation that could not be resolved?"""
    return isinstance(value, Scalar) and value.tag == UNRESOLVED
