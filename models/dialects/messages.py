"""Findings of a dialect with code, severity and texts as data.

A file of findings maps a name to `code`, `severity` (default: error), `message`, `label`, `help`,
`notes`, and `since` and `until` of the releases that refuse the text. `{count:accelerator}` is a
number with its noun, `{count:are}` and `{count:do}` its verbs, `{names:words}` a list of words.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Mapping

from ..configuration.notes import Notes
from ..findings.finding import Fix, Severity
from ..findings.span import Edit, Span
from ..findings.wording import are, do, with_noun
from ..releases.release import Range
from ..text.tree import Value
from .demands import releases_of


class _Sentence(Formatter):
    """Formatter of texts with nouns and verbs for numbers."""

    def format_field(self, value: Any, spec: str) -> str:
        """Return a value as text; see the module."""
        if spec == "words":
            return ", ".join(f"`{word}`" for word in value)
        if spec in ("are", "do"):
            return are(value) if spec == "are" else do(value)
        return with_noun(value, spec) if spec.isalpha() else str(super().format_field(value, spec))


@cache
def _entries(file: Path) -> Mapping[str, Mapping[str, Any]]:
    entries: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return entries


def add_finding(
    notes: Notes, file: Path, name: str, subject: str, /, at: Span | Value, edit: Edit | None = None, severity: Severity | None = None,
    fix: Fix | None = None, further: tuple[str, ...] = (),
    releases: Range | None = None, **values: Any,
) -> None:  # fmt: skip
    """Add the finding `name`, with the help and edit of a `fix` if known.

    `further` are more notes below it. A fact of other possible releases alone becomes a warning, see
    `Notes.judge`.
    """
    entry, values, text = _entries(file)[name], {"subject": subject, **values}, _Sentence().vformat
    message, label, help = (text(entry.get(key, ""), (), values) for key in ("message", "label", "help"))
    help, edit = (fix.help, fix.edit) if fix else (help, edit)
    lines = (*(text(note, (), values) for note in entry.get("notes", ())), *further)
    severity = severity or Severity(entry.get("severity", "error"))
    notes.judge(releases or releases_of(entry), severity, entry["code"], subject, message, at, label, help, edit, *lines)
