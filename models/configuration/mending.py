"""The edits that mend what was found, so that all of them can be made together."""

from __future__ import annotations

from dataclasses import replace

from ..findings.causes import go_together
from ..findings.span import Edit, Span, apply_edits
from ..text.edit import with_entry, without_entry
from ..text.tree import Entry, MapNode, Scalar, Value
from .found import Found, is_inside


class Mending(Found):
    """What is found in a file, and the edits of its text."""

    def renamed(self, entry: Entry, name: str) -> Edit:
        """The edit that gives a key another name, in its own quotes."""
        span = entry.key.span
        quoted = self.document.text_of(span.file)[span.start : span.start + 1] in ("'", '"')
        return Edit(span.part(1, span.length - 1) if quoted else span, name)

    def to_rename(self, owner: MapNode, entry: Entry, name: str) -> tuple[str, Edit | None]:
        """Help and edit that give a key its right name; where that is there too, the key is removed."""
        if owner.get(name) is not None:
            return f"remove it: `{name}` is set too", self.removed(owner, entry)
        return f"write `{name}`", self.renamed(entry, name)

    def removed(self, owner: MapNode, entry: Entry) -> Edit | None:
        """The edit that takes an entry out of a map, where that can be said, and the map is for this use alone."""
        if any(is_inside(entry.key.span, target) for target, _ in self.followed):
            return None
        return without_entry(self.document.text_of(entry.key.span.file), owner, entry)

    def added(self, owner: MapNode, key: str, value: str) -> Edit | None:
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

    def joined(self, *edits: Edit) -> Edit:
        """Several edits as one; what was to be mended between them is mended too."""
        ordered = sorted(dict.fromkeys(edits), key=lambda edit: edit.span.start)
        first, last = ordered[0], ordered[-1]
        text = self.document.text_of(first.span.file)
        within = Span(first.span.file, first.span.end, last.span.start, first.span.line, first.span.column)
        between = {f.edit for f in self.findings if f.edit and is_inside(f.edit.span, within)}
        span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
        inner = apply_edits(text, list(dict.fromkeys([*ordered, *between])))
        return Edit(span, inner[span.start : len(inner) - (len(text) - span.end)])

    def absorb(self, wide: Edit) -> None:
        """Findings whose edit lies within a wide one are mended by that one."""
        self.findings = [replace(f, edit=wide) if f.edit and is_inside(f.edit.span, wide.span) else f for f in self.findings]

    def in_new_form(self, first: int) -> None:
        """The findings from the `first` on are about text that an edit before them writes in another form.

        Their own edits would not fit that form, so they have none until then.
        """
        self.findings[first:] = [replace(finding, edit=None) for finding in self.findings[first:]]

    def settle(self) -> None:
        """Make sure that all edits can be made together."""
        self.findings = go_together(self.findings)
