"""What a reading finds out besides its values: findings with their places, and what could not be judged."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Callable, Iterable
from unicodedata import decimal

from ..findings.edits import go_together
from ..findings.finding import Finding, Severity, Unchecked
from ..findings.span import Edit, Span, apply_edits
from ..text.document import Document
from ..text.interpolation import UNRESOLVED
from ..text.nearest import nearest
from ..text.reshape import with_entry, without_entry
from ..text.scalar_text import in_flow_map, plain_or_quoted
from ..text.tree import Entry, Mapping, Scalar, Value, kind_of


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as a framework gets it, which is `str(value)`: ``010`` is 8 to YAML and so "8" to the framework.

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

    def replaced(self, text: str, in_flow: bool = False) -> Edit | None:
        """The edit that makes another text of it, in its own quotes; None where it is written elsewhere."""
        if self.scalar.origin is not None or "\n" in self.scalar.text:  # elsewhere, or in a block of its own lines
            return None
        if self.shift == 1 and not set(text) & {'"', "'", "\\"}:
            return Edit(self.scalar.span.part(1, self.scalar.span.length - 1), text)
        return Edit(self.scalar.span, in_flow_map(text) if in_flow else plain_or_quoted(text))


RANKS = re.compile(r"all|\d+(-\d+)?(:\d+(-\d+)?)?", re.IGNORECASE)
"""One segment of a placement, as people write it."""

MAX_FOLLOWED = 1_000
"""In so many interpolated maps and lists both places of a finding are told."""


class Notes:
    """The findings and the unchecked rules of one file of a framework, in the order in which they were met.

    `followed` holds, for maps and lists that came through an interpolation, where they stand and where `${...}` is written.
    """

    def __init__(self, document: Document, framework: str) -> None:
        self.document = document
        self.framework = framework
        self.partial = document.partial
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []
        self.followed: list[tuple[Span, Span]] = []

    def error(
        self,
        code: str,
        subject: str,
        message: str,
        at: Span | Value,
        label: str = "",
        help: str = "",
        edit: Edit | None = None,
        *notes: str,
    ) -> None:
        """Add an error: failure is proved."""
        self._add(Severity.ERROR, code, subject, message, at, label, help, edit, notes)

    def warn(
        self,
        code: str,
        subject: str,
        message: str,
        at: Span | Value,
        label: str = "",
        help: str = "",
        edit: Edit | None = None,
        *notes: str,
    ) -> None:
        """Add a warning."""
        self._add(Severity.WARNING, code, subject, message, at, label, help, edit, notes)

    def info(
        self,
        code: str,
        subject: str,
        message: str,
        at: Span | Value,
        label: str = "",
        help: str = "",
        edit: Edit | None = None,
        *notes: str,
    ) -> None:
        """Add something worth knowing."""
        self._add(Severity.INFO, code, subject, message, at, label, help, edit, notes)

    def _add(
        self, severity: Severity, code: str, subject: str, message: str, at: Span | Value, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        span = at if isinstance(at, Span) else at.span
        origin = at.origin if isinstance(at, Scalar) and at.origin != span else None
        reference = next((reference for target, reference in self.followed[:MAX_FOLLOWED] if _inside(span, target)), None)
        if reference is not None and origin is None:
            span, origin = reference, span
        self.findings.append(Finding(code, severity, subject, message, span, label, help, edit, origin=origin, notes=notes))

    def unsure(self, rule: str, subject: str, why: str) -> None:
        """Say that a rule was not judged."""
        self.unchecked.append(Unchecked(rule, subject, why))

    def missing(
        self, subject: str, key: str, owner: Span, help: str, shared: bool = True, added: tuple[Mapping, str, str] | None = None
    ) -> None:
        """A required key is not there.

        `shared`: it could stand in a part of the configuration that could not be read. `added`: the map, the key and the
        value that mend it.
        """
        if self.partial and shared:
            self.unsure("PW101", subject, f"`{key}` is not in this file; it may come from `defaults`")
        else:
            self.error("PW101", subject, f"`{subject}` has no `{key}`", owner, "here", help, self.added(*added) if added else None)

    def wrong_type(self, subject: str, key: str, value: Value, wanted: str, help: str, edit: Edit | None = None) -> None:
        """A value is not of the type that the framework takes."""
        self.error("PW105", subject, f"`{key}` must be {wanted}, but it is {kind_of(value)}", value, kind_of(value), help, edit)

    def renamed(self, entry: Entry, name: str) -> Edit:
        """The edit that gives a key another name, in its own quotes."""
        span = entry.key.span
        quoted = self.document.text_of(span.file)[span.start : span.start + 1] in ("'", '"')
        return Edit(span.part(1, span.length - 1) if quoted else span, name)

    def removed(self, owner: Mapping, entry: Entry) -> Edit | None:
        """The edit that takes an entry out of a map, where that can be said, and the map is for this use alone."""
        if any(_inside(entry.key.span, target) for target, _ in self.followed):
            return None
        return without_entry(self.document.text_of(entry.key.span.file), owner, entry)

    def added(self, owner: Mapping, key: str, value: str) -> Edit | None:
        """The edit that puts an entry into a map, where that can be said."""
        return with_entry(self.document.text_of(owner.span.file), owner, key, value)

    def instead(self, value: Value, text: str) -> Edit | None:
        """The edit that writes something else for a value; None where it came through an interpolation."""
        if isinstance(value, Scalar) and value.origin is not None:
            return None
        if value.span.length:
            return Edit(value.span, text)
        before = self.document.text_of(value.span.file)[: value.span.start]
        if before.rstrip().endswith((":", "-")):
            return Edit(value.span, text if before[-1:].isspace() else f" {text}")
        return Edit(value.span, f": {text}")  # a key of a flow map without a colon

    def joined(self, one: Edit, other: Edit) -> Edit:
        """Both edits as one; what was to be mended between them is mended too."""
        first, last = sorted((one, other), key=lambda edit: edit.span.start)
        text = self.document.text_of(first.span.file)
        within = Span(first.span.file, first.span.end, last.span.start, first.span.line, first.span.column)
        between = {f.edit for f in self.findings if f.edit and _inside(f.edit.span, within)}
        span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
        inner = apply_edits(text, [first, last, *between])
        return Edit(span, inner[span.start : len(inner) - (len(text) - span.end)])

    def absorb(self, wide: Edit) -> None:
        """Findings whose edit lies within a wide one are mended by that one."""
        self.findings = [replace(f, edit=wide) if f.edit and _inside(f.edit.span, wide.span) else f for f in self.findings]

    def in_new_form(self, first: int) -> None:
        """The findings from the `first` on are about text that an edit before them writes in another form.

        Their own edits would not fit that form, so they have none until then.
        """
        self.findings[first:] = [replace(finding, edit=None) for finding in self.findings[first:]]

    def settle(self) -> None:
        """Make sure that all edits can be made together."""
        self.findings = go_together(self.findings)

    def text(self, scalar: Scalar, subject: str, usable: Callable[[str], bool] = bool, quoted: bool = True) -> Text:
        """The scalar as the framework gets it; a warning where YAML reads it otherwise than it looks.

        `usable`: can this text be meant? `quoted`: may it be a text?
        """
        value = scalar.value
        text = str(value)
        if text != scalar.text and scalar.text.replace("_", "").lstrip("+") != text:
            message = f"YAML reads `{scalar.text}` as {'nothing' if value is None else value}, so {self.framework} gets the text `{text}`"
            better, help = "", "write what is meant"
            if not scalar.text:
                message = f"nothing is written here, so {self.framework} gets the text `{text}`"
            elif quoted and usable(scalar.text):
                better, help = f'"{scalar.text}"', f'write "{scalar.text}" in quotes' + (f", or `{text}` if that is meant" * usable(text))
            elif usable(text):
                better, help = text, f"write `{text}`"
            edit = Edit(scalar.span, better) if better and not scalar.origin else None
            self.warn("PW118", subject, message, scalar, f"this is `{text}`", help, edit)
        return Text(text, scalar, self._shift(scalar, text))

    def ranks(self, scalar: Scalar, subject: str, in_flow: bool = False, of_processes: bool = True) -> Text:
        """A rank expression as the framework gets it; digits of other scripts, which Python's int() takes, as the ASCII ones.

        `of_processes`: ranks of processes may follow a colon.
        """
        text = self.text(scalar, subject, lambda written: bool(RANKS.fullmatch(written)) and (of_processes or ":" not in written))
        if text.text.isascii():
            return text
        plain = "".join(str(decimal(letter)) if letter.isdecimal() else letter for letter in text.text)
        if plain != text.text:
            edit = text.replaced(plain, in_flow)
            message = f"`{text.text}` has digits that are not ASCII; {self.framework} reads them as `{plain}`"
            self.warn("PW118", subject, message, scalar, f"read as `{plain}`", f"write `{plain}`", edit)
        return Text(plain, scalar, text.shift)

    def _shift(self, scalar: Scalar, text: str) -> int | None:
        written = self.document.text_of(scalar.span.file)[scalar.span.start : scalar.span.end]
        if scalar.origin is not None or "\n" in written:
            return None
        if written == text:
            return 0
        return 1 if written[1:-1] == text and written[:1] in ("'", '"') else None

    def unknown_keys(
        self, value: Mapping, subject: str, known: Iterable[str], refused: bool, what: str, required: tuple[str, ...] = ()
    ) -> Mapping:
        """The map as it was meant, with a finding for every key that is not known.

        It is an error where the framework refuses the key, or ignores it and then misses one that is `required`: then a misspelt key
        counts as the one that it was meant to be, so that its value is judged too. Else it is a warning, and the map is judged
        as the framework has it: without this key.
        """
        names = tuple(known)
        open_ = [name for name in names if value.get(name) is None]
        meant = []
        for entry in value:
            if entry.key.text in names:
                meant.append(entry)
                continue
            word, _, rest = entry.key.text.partition(" ") if self.is_bare(entry) else (entry.key.text, "", "")
            close = nearest(word, open_)
            missed = (
                ""
                if refused
                else f"; {self.framework} ignores it, and misses `{close}`"
                if close in required
                else f"; {self.framework} ignores it silently"
            )
            message = f"{what} has no key `{entry.key.text}`{missed}"
            help, edit = f"remove it; keys are {', '.join(f'`{name}`' for name in names)}", self.removed(value, entry)
            if close and rest:
                help, edit = f"write `{close}: {rest}`: is a colon missing?", self.renamed(entry, f"{close}: {rest}")
            elif close:
                help, edit = f"write `{close}`", self.renamed(entry, close)
            wrong = refused or close in required
            if close:
                open_.remove(close)
            if close and wrong:
                text = Scalar(rest, "tag:yaml.org,2002:str", entry.key.span, entry.key.span) if rest else entry.value
                meant.append(Entry(replace(entry.key, text=close), text))
            self._add(Severity.ERROR if wrong else Severity.WARNING, "PW104", subject, message, entry.key.span, "not a key", help, edit)
        return Mapping(tuple(meant), value.span, value.flow) if len(meant) < len(value.entries) or meant != list(value) else value

    def is_bare(self, entry: Entry) -> bool:
        """Is it a word between two commas of a flow map, without a colon?"""
        value, after = entry.value, self.document.text_of(entry.key.span.file)[entry.key.span.end :][:64].lstrip()
        return isinstance(value, Scalar) and value.is_null and not value.span.length and after[:1] in (",", "}", "#")


def _inside(span: Span, target: Span) -> bool:
    return span.file == target.file and target.start <= span.start and span.end <= target.end


def is_unknown(value: Value) -> bool:
    """Is it an interpolation that could not be resolved?"""
    return isinstance(value, Scalar) and value.tag == UNRESOLVED
