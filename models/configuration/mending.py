"""Edits that fix findings and can be applied together."""

from __future__ import annotations

from dataclasses import replace

from ..findings.causes import go_together
from ..findings.span import Edit, Span, apply_edits
from ..text.edit import with_entry, without_entry
from ..text.tree import Entry, MapNode, Scalar, Value
from .found import ConfigurationFindings, is_inside


class KeyFix(ConfigurationFindings):
    """Findings of a file, with builders for edits of its text."""

    def renamed(self, entry: Entry, name: str) -> Edit:
        """Return the edit that renames a key and keeps the quotes."""
        span = entry.key.span
        quoted = self.document.text_of(span.file)[span.start : span.start + 1] in ("'", '"')
        return Edit(span.part(1, span.length - 1) if quoted else span, name)

    def to_rename(self, owner: MapNode, entry: Entry, name: str) -> tuple[str, Edit | None]:
        """Return help and edit for a misnamed key.

        The edit deletes the key if `name` exists too.
        """
        if owner.get(name) is not None:
            return f"remove it: `{name}` is set too", self.removed(owner, entry)
        return f"write `{name}`", self.renamed(entry, name)

    def removed(self, owner: MapNode, entry: Entry) -> Edit | None:
        """Return the edit that deletes an entry from a map.

        None if the entry cannot be cut out, or if the map comes from an interpolation and so has
        further uses.
        """
        if any(is_inside(entry.key.span, target) for target, _ in self.followed):
            return None
        return without_entry(self.document.text_of(entry.key.span.file), owner, entry)

    def added(self, owner: MapNode, key: str, value: str) -> Edit | None:
        """Return the edit that adds an entry to a map, or None if impossible."""
        return with_entry(self.document.text_of(owner.span.file), owner, key, value)

    def instead(self, value: Value, text: str) -> Edit | None:
        """Return the edit that replaces a value; None for a value from an interpolation."""
        if isinstance(value, Scalar) and value.origin is not None:
            return None
        if value.span.length:
            return Edit(value.span, text)
        before = self.document.text_of(value.span.file)[: value.span.start]
        if before.rstrip().endswith((":", "-")):
            return Edit(value.span, text if before[-1:].isspace() else f" {text}")
        return Edit(value.span, f": {text}")  # a key of a flow map without a colon

    def joined(self, *edits: Edit) -> Edit:
        """Merge several edits into one, including edits of findings between them."""
        ordered = sorted(dict.fromkeys(edits), key=lambda edit: edit.span.start)
        first, last = ordered[0], ordered[-1]
        text = self.document.text_of(first.span.file)
        within = Span(first.span.file, first.span.end, last.span.start, first.span.line, first.span.column)
        between = {f.edit for f in self.findings if f.edit and is_inside(f.edit.span, within)}
        span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
        inner = apply_edits(text, list(dict.fromkeys([*ordered, *between])))
        return Edit(span, inner[span.start : len(inner) - (len(text) - span.end)])

    def absorb(self, wide: Edit) -> None:
        """Replace the edits of findings inside a wide edit by the wide edit."""
        self.findings = [replace(f, edit=wide) if f.edit and is_inside(f.edit.span, wide.span) else f for f in self.findings]

    def in_new_form(self, first: int) -> None:
        """Drop the edits of all findings from index `first` on.

        An edit before them rewrites their text in another form, which their own edits would not
        fit.
        """
        self.findings[first:] = [replace(finding, edit=None) for finding in self.findings[first:]]

    def settle(self) -> None:
        """Resolve conflicts, so that all edits can be applied together."""
        self.findings = go_together(self.findings)
