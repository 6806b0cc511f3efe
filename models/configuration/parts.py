"""Parts of a file by kind: maps without unknown keys, lists, words out of a list, required keys."""

from __future__ import annotations

from typing import Iterable, Sequence

from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.nearest import nearest
from ..text.tree import ListNode, MapNode, Scalar, Value, kind_of
from .notes import Notes, is_unknown


def is_absent(value: Value | None) -> bool:
    """Return True if a value is missing, unknown or null."""
    return value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null)


@dataclass(frozen=True)
class PartReader:
    """Reader of a part of a file, with code and subject of its findings."""

    notes: Notes
    code: str
    subject: str

    def error(self, message: str, at: Span | Value, label: str, help: str, edit: Edit | None = None) -> None:
        """Add an error of this part."""
        self.notes.error(self.code, self.subject, message, at, label, help, edit)

    def report_kind(self, noun: str, target: str, value: Value, help: str, edit: Edit | None = None) -> None:
        """Add an error for a value of the wrong kind."""
        kind = kind_of(value)
        self.error(f"{noun} must be {target}, but it is {kind}", value, kind, help, edit)

    def mapping(self, value: Value, noun: str, help: str, keys: Sequence[str], section: str = "") -> MapNode | None:
        """Return the map without unknown keys; None and a finding for another kind of value.

        `section` stands for the noun in findings about keys.
        """
        if isinstance(value, MapNode):
            return self.notes.unknown_keys(value, self.subject, keys, True, section or noun)
        if not is_unknown(value):
            self.report_kind(noun, "a map", value, help)
        return None

    def items(self, value: Value, noun: str) -> Sequence[Value] | None:
        """Return the items of a list; None and a finding for another kind of value."""
        if isinstance(value, ListNode):
            return value.items
        if is_absent(value):
            return ()
        self.report_kind(noun, "a list", value, "start each item with `- `: is a `-` missing?")
        return None

    def word(self, value: Value, names: Iterable[str], message: str, label: str) -> str | None:
        """Return the word if it is in `names`; else a similar name, with an error.

        `message` has a placeholder for the written word.
        """
        candidates = tuple(names)
        text = ("" if value.is_null else value.text) if isinstance(value, Scalar) else kind_of(value)
        if is_unknown(value) or (isinstance(value, Scalar) and text in candidates):
            return text if text in candidates else None
        close = nearest(text, candidates)
        help, edit = (f"write `{close}`", self.notes.replace(value, close)) if close else (f"write one of {', '.join(candidates)}", None)
        self.error(message.format(text or "nothing"), value, label, help, edit)
        return close

    def missing(self, owner: MapNode, key: str, message: str, value: str = "") -> None:
        """Add an error for a required key; `value` is the correction."""
        edit = self.notes.add(owner, key, value) if value else None
        self.notes.error("PW101", self.subject, message, owner.span, "here", f"add `{key}: {value or '...'}`", edit)
