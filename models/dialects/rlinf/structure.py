"""Kinds of values in the `cluster` section: maps, lists and words, with a finding for each that is another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterable, TypeVar

from ...configuration.notes import Notes, is_unknown
from ...findings.span import Edit, Span
from ...text.nearest import nearest
from ...text.reshape import as_list, without_item
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of

Read = TypeVar("Read")


def is_absent(value: Value | None) -> bool:
    """True if nothing is written here, or nothing that is known."""
    return value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null)


@dataclass(frozen=True)
class Structure:
    """One part of the section: its findings have this code and this subject."""

    notes: Notes
    code: str
    subject: str

    def error(self, message: str, at: Span | Value, label: str, help: str, edit: Edit | None = None) -> None:
        """Add an error of this part."""
        self.notes.error(self.code, self.subject, message, at, label, help, edit)

    def wrong(self, what: str, wanted: str, value: Value, help: str, edit: Edit | None = None) -> None:
        """Add an error for a value of another kind."""
        kind = kind_of(value)
        self.error(f"{what} must be {wanted}, but it is {kind}", value, kind, help, edit)

    def mapping(self, value: Value, what: str, help: str) -> Mapping | None:
        """Map that stands here; None, and a finding, where something else does."""
        if isinstance(value, Mapping):
            return value
        if not is_unknown(value):
            self.wrong(what, "a map", value, help)
        return None

    def items(self, value: Value, what: str, help: str, read: Callable[[Sequence], Read], empty: Read) -> Read:
        """What is read of a list. A map without a `-` is read as the list of one that was meant, with its mend."""
        if isinstance(value, Sequence):
            return read(value)
        if is_absent(value):
            return empty
        edit = as_list(self.text(value), value, each=False) if isinstance(value, Mapping) else None
        self.wrong(what, "a list", value, help, edit)
        if edit is None:
            return empty
        first = len(self.notes.findings)
        meant = read(Sequence((value,), value.span))
        self.notes.in_new_form(first)
        return meant

    def word(self, value: Value, names: Iterable[str], message: str, label: str, others: str) -> str | None:
        """One of some names; the one that was meant, and a finding, where another is written. `message` has a place for that."""
        written, known = (value.text if isinstance(value, Scalar) else kind_of(value)), tuple(names)
        if is_unknown(value):
            return None
        if isinstance(value, Scalar) and written in known:
            return written
        close = nearest(written, known)
        help, edit = (f"write `{close}`", self.notes.instead(value, close)) if close else (others, None)
        self.error(message.format(written), value, label, help, edit)
        return close

    def missing(self, owner: Mapping, key: str, message: str, help: str, value: str = "") -> None:
        """Add an error for a key without which RLinf cannot do; `value` mends it."""
        edit = self.notes.added(owner, key, value) if value else None
        self.notes.error("PW101", self.subject, message, owner.span, "here", help, edit)

    def without(self, owner: Value, item: Value) -> Edit | None:
        """Edit that takes an item out of a list."""
        return without_item(self.text(owner), owner, item) if isinstance(owner, Sequence) else None

    def text(self, value: Value) -> str:
        """Text of the file in which a value stands."""
        return self.notes.document.text_of(value.span.file)
