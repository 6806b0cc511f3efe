"""Findings whose condition is computed: texts, severity, releases and moment of notice as data.

facts/findings.json: name -> code, message, label, help and notes with placeholders for values. A note
may be the name of a moment in `names`; an empty note is left out.
"""

from __future__ import annotations

from typing import Sequence

from ...configuration.notes import Notes
from ...findings.finding import Severity
from ...findings.span import Edit, Span
from ...text.tree import Value
from ..demands import releases_of
from . import names
from .profile import fact_file


def report(
    notes: Notes, name: str, subject: str, at: Span | Value, edit: Edit | None = None, severity: str = "error", more: Sequence[str] = (),
    /, **values: object,
) -> None:  # fmt: skip
    """Add the finding of a name, with values in its texts, and `more` notes."""
    fact = fact_file("findings")[name]
    message, label, help_ = (fact.get(key, "").format(**values) for key in ("message", "label", "help"))
    reasons = filter(None, (getattr(names, note, note).format(**values) for note in fact.get("notes", ())))
    severity_of_fact = Severity(fact.get("severity", severity))
    notes.judge(releases_of(fact), severity_of_fact, fact["code"], subject, message, at, label, help_, edit, *reasons, *more)
