"""Findings of one framework file, with the edits that fix them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Callable, Iterable
from unicodedata import decimal

from ..findings.causes import go_together
from ..findings.finding import Finding, Severity, Unchecked
from ..findings.span import Edit, Span, apply_edits
from ..record import dataclass
from ..releases.choice import ReleaseChoice
from ..releases.release import Range, spans_of
from ..text.document import Document
from ..text.edit import in_flow_map, plain_or_quoted, with_entry, without_entry
from ..text.nearest import nearest
from ..text.tree import UNRESOLVED, Entry, MapNode, Scalar, Value, kind_of


@dataclass(frozen=True, slots=True)
class ScalarText:
    """Scalar as passed to the framework: `str(value)`.

    ``010`` is 8 to YAML, and so "8" to the framework.

    `shift`: offset of the first character in the scalar's span; None if characters do not correspond
    (the value comes from an interpolation, or the text differs from the written one).
    """

    text: str
    scalar: Scalar
    shift: int | None

    def part(self, start: int, end: int) -> Span:
        """Return the span of some characters; the whole scalar if they do not correspond."""
        if self.shift is None:
            return self.scalar.span
        return self.scalar.span.part(self.shift + start, self.shift + max(end, start + 1 if self.text else start))

    def replace(self, text: str, in_flow: bool = False) -> Edit | None:
        """Return the edit that replaces the text in its quotes. None if it is written elsewhere."""
        # written elsewhere, or a block scalar on lines of its own
        if self.scalar.origin is not None or "\n" in self.scalar.text:
            return None
        if self.shift == 1 and not set(text) & {'"', "'", "\\"}:
            return Edit(self.scalar.span.part(1, self.scalar.span.length - 1), text)
        return Edit(self.scalar.span, in_flow_map(text) if in_flow else plain_or_quoted(text))


RANKS = re.compile(r"all|\d+(-\d+)?(:\d+(-\d+)?)?", re.IGNORECASE)
"""Segment of a placement in the written form."""
MAX_FOLLOWED = 1_000
"""Largest number of interpolated maps and lists searched for the second place of a finding."""


class Notes:
    """Findings and unchecked rules of one framework file, in order, with edits of its text.

    `proves`: False for files of an unknown program: errors become warnings; so they do with a `doubt`
    about the code beside the file, which is noted. `followed`: for maps and lists from an
    interpolation: span of the value, span of the written ``${...}``.
    """

    def __init__(self, document: Document, framework: str) -> None:
        self.document = document
        self.framework = framework
        self.partial = document.partial
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []
        self.followed: list[tuple[Span, Span]] = []
        self.proves = True
        self.doubt = document.release.doubt if document.release is not None else ""

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

    def _add(
        self, severity: Severity, code: str, subject: str, message: str, at: Span | Value, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        if severity is Severity.ERROR and (self.doubt or not self.proves):
            severity, notes = Severity.WARNING, (*notes, self.doubt) if self.doubt else notes
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
        """Add a finding, as a warning if only other possible releases refuse the text."""
        choice = self.choice
        if choice is None or choice.has(releases):
            accepting = [] if choice is None else [release for release in choice.possible if not choice.table.holds(releases, release)]
            if choice is not None and accepting:
                notes = (*notes, f"{choice.table.framework} {spans_of(accepting)} {'accepts' if len(accepting) == 1 else 'accept'} it")
            self._add(severity, code, subject, message, at, label, help, edit, notes)
        elif possible := choice.possible_in(releases):
            note = f"only in {choice.table.framework} {spans_of(possible)}; this file is judged for {choice}"
            self._add(Severity.WARNING, code, subject, message, at, label, help, edit, (*notes, note))

    def unsure(self, rule: str, subject: str, why: str, decides: bool = False, add: str = "") -> None:
        """Record a rule as unchecked; see `Unchecked` for `decides` and `add`."""
        self.unchecked.append(Unchecked(rule, subject, why, decides, add))

    # -- edits

    def rename(self, entry: Entry, name: str) -> Edit:
        """Return the edit that renames a key and keeps the quotes."""
        span = entry.key.span
        has_quotes = self.document.text_of(span.file)[span.start : span.start + 1] in ("'", '"')
        return Edit(span.part(1, span.length - 1) if has_quotes else span, name)

    def to_rename(self, owner: MapNode, entry: Entry, name: str) -> tuple[str, Edit | None]:
        """Return help and edit for a misnamed key, which is deleted if `name` exists too."""
        if owner.get(name) is not None:
            return f"remove it: `{name}` is set too", self.remove(owner, entry)
        return f"write `{name}`", self.rename(entry, name)

    def remove(self, owner: MapNode, entry: Entry) -> Edit | None:
        """Return the edit that deletes an entry. None if it has other uses or cannot be cut."""
        if any(is_inside(entry.key.span, target) for target, _ in self.followed):
            return None
        return without_entry(self.document.text_of(entry.key.span.file), owner, entry)

    def add(self, owner: MapNode, key: str, value: str) -> Edit | None:
        """Return the edit that adds an entry to a map, or None if impossible."""
        return with_entry(self.document.text_of(owner.span.file), owner, key, value)

    def replace(self, value: Value, text: str) -> Edit | None:
        """Return the edit that replaces a value; None for a value from an interpolation."""
        if isinstance(value, Scalar) and value.origin is not None:
            return None
        if value.span.length:
            return Edit(value.span, text)
        before = self.document.text_of(value.span.file)[: value.span.start]
        if before.rstrip().endswith((":", "-")):
            return Edit(value.span, text if before[-1:].isspace() else f" {text}")
        return Edit(value.span, f": {text}")  # a key of a flow map without a colon

    def join(self, *edits: Edit) -> Edit:
        """Merge several edits into one, including edits of findings between them."""
        by_position = sorted(dict.fromkeys(edits), key=lambda edit: edit.span.start)
        first, last = by_position[0], by_position[-1]
        text = self.document.text_of(first.span.file)
        within = Span(first.span.file, first.span.end, last.span.start, first.span.line, first.span.column)
        between = {f.edit for f in self.findings if f.edit and is_inside(f.edit.span, within)}
        span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
        inner = apply_edits(text, list(dict.fromkeys([*by_position, *between])))
        return Edit(span, inner[span.start : len(inner) - (len(text) - span.end)])

    def settle(self) -> None:
        """Resolve conflicts, so that all edits can be applied together."""
        self.findings = go_together(self.findings)

    # -- keys and values

    def missing(
        self, subject: str, key: str, owner: Span, help: str, shared: bool = True, added: tuple[MapNode, str, str] | None = None
    ) -> None:
        """Report a missing required key.

        Parameters
        ----------
        shared : True if the key may stand in an unread part of the configuration.
        added : map, key and value of the edit that adds the key.
        """
        if self.partial and shared:
            add = "Pass `--config-root DIR` with the folder of its `defaults`"
            self.unsure("PW101", subject, f"`{key}` is not in this file; it may come from `defaults`", True, add)
        else:
            self.error("PW101", subject, f"`{subject}` has no `{key}`", owner, "here", help, self.add(*added) if added else None)

    def report_type(self, subject: str, key: str, value: Value, type_text: str, help: str, edit: Edit | None = None) -> None:
        """Report a value of a type that the framework does not accept."""
        self.error("PW105", subject, f"`{key}` must be {type_text}, but it is {kind_of(value)}", value, kind_of(value), help, edit)

    def text(self, scalar: Scalar, subject: str, usable: Callable[[str], bool] = bool, quoted: bool = True) -> ScalarText:
        """Return a scalar as the framework gets it; warn if YAML changes the written text.

        Parameters
        ----------
        usable : predicate for plausible texts.
        quoted : True if the value may be a quoted text.
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
        return ScalarText(text, scalar, self._shift(scalar, text))

    def ranks(self, scalar: Scalar, subject: str, in_flow: bool = False, of_processes: bool = True) -> ScalarText:
        """Return a rank expression as the framework gets it; int() reads all scripts' digits."""
        text = self.text(scalar, subject, lambda written: bool(RANKS.fullmatch(written)) and (of_processes or ":" not in written))
        plain = "".join(str(decimal(letter)) if letter.isdecimal() else letter for letter in text.text)
        if plain != text.text:
            edit = text.replace(plain, in_flow)
            message = f"`{text.text}` has digits that are not ASCII, which {self.framework} reads as `{plain}`"
            self.warn("PW118", subject, message, scalar, f"read as `{plain}`", f"write `{plain}`", edit)
        return ScalarText(plain, scalar, text.shift)

    def _shift(self, scalar: Scalar, text: str) -> int | None:
        written_text = self.document.text_of(scalar.span.file)[scalar.span.start : scalar.span.end]
        if scalar.origin is not None or "\n" in written_text:
            return None
        if written_text == text:
            return 0
        return 1 if written_text[1:-1] == text and written_text[:1] in ("'", '"') else None

    def unknown_keys(
        self, value: MapNode, subject: str, known_names: Iterable[str], refused: bool, section: str, required: tuple[str, ...] = ()
    ) -> MapNode:
        """Report unknown keys and return the map without them.

        An unknown key is an error if the framework refuses it, or if it seems a misspelling of a
        `required` key: then it stands for that key in the result, so that its value is judged too.
        Otherwise it is a warning, and the result lacks the key, as in the framework.
        """
        names = tuple(known_names)
        unset_names = [name for name in names if value.get(name) is None]
        entries = []
        for entry in value:
            if entry.key.text in names:
                entries.append(entry)
                continue
            word, _, rest = entry.key.text.partition(" ") if self.is_bare(entry) else (entry.key.text, "", "")
            close = nearest(word, unset_names)
            fate = f"and misses `{close}`" if close in required else "silently"
            ignored_note = () if refused else (f"{self.framework} ignores it{',' * (close in required)} {fate}",)
            message = f"{section} has no key `{entry.key.text}`"
            help, edit = f"remove it; keys are {', '.join(f'`{name}`' for name in names)}", self.remove(value, entry)
            if not close and (existing := nearest(word, names)):
                help = f"remove it: `{existing}` is set too"
            if close and rest:
                help, edit = f"write `{close}: {rest}`: is a colon missing?", self.rename(entry, f"{close}: {rest}")
            elif close:
                help, edit = f"write `{close}`", self.rename(entry, close)
            wrong = refused or close in required
            if close:
                unset_names.remove(close)
            if close and wrong:
                text = Scalar(rest, "tag:yaml.org,2002:str", entry.key.span, entry.key.span) if rest else entry.value
                entries.append(Entry(replace(entry.key, text=close), text))
            severity = Severity.ERROR if wrong else Severity.WARNING
            self._add(severity, "PW104", subject, message, entry.key.span, "not a key", help, edit, ignored_note)
        return replace(value, entries=tuple(entries)) if len(entries) < len(value.entries) or entries != list(value) else value

    def is_bare(self, entry: Entry) -> bool:
        """Return True if an entry is a word in a flow map without a colon."""
        value, after = entry.value, self.document.text_of(entry.key.span.file)[entry.key.span.end :][:64].lstrip()
        return isinstance(value, Scalar) and value.is_null and not value.span.length and after[:1] in (",", "}", "#")


def is_unknown(value: Value) -> bool:
    """Return True if a value is an unresolved interpolation."""
    return isinstance(value, Scalar) and value.tag == UNRESOLVED


def is_inside(span: Span, target: Span) -> bool:
    """Return True if a span is within the span `target`."""
    return span.file == target.file and target.start <= span.start and span.end <= target.end
