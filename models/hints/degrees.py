"""Degrees that were chosen, where hints leave them open."""

from __future__ import annotations

from dataclasses import fields

from ..component import Parallel
from ..findings.span import Edit, Span
from ..text.reshape import is_flow
from ..text.source import Source
from ..text.tree import Entry, ListNode, MapNode, plain

KEY = "parallel"


def degrees_of(source: Source, hints: MapNode, parallel: Parallel) -> list[Edit]:
    """The edits that leave a component with these hints no other degrees: only lists and what comes through an interpolation change."""
    written = hints.entry(KEY)
    if written is None:
        return []
    if not isinstance(written.value, MapNode):
        its = {each.name: getattr(parallel, each.name) for each in fields(parallel)}
        shown = ", ".join(f"{name}: {degree}" for name, degree in its.items() if degree > 1 or name == "tp")
        return [Edit(written.value.span, f"{{{shown}}}")]
    entries = ((entry, getattr(parallel, entry.key.text)) for entry in written.value)
    return [_edit(source, entry, degree) for entry, degree in entries if plain(entry.value) not in (degree, [degree])]


def _edit(source: Source, entry: Entry, degree: int) -> Edit:
    value = entry.value
    if isinstance(value, ListNode) and not is_flow(source.text, value):  # its items stand in lines of their own
        key, end = entry.key.span, value.items[-1].span.end
        return Edit(Span(key.file, key.end, end, key.line, key.column + key.length), f": {degree}")
    return Edit(value.span, str(degree))
