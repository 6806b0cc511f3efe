"""Texts of a flow map that a comma has split, such as `{actor,rollout: 0-7, env: 8-11,12-15}`."""

from __future__ import annotations

from typing import Callable

from ..findings.span import Span
from .tree import Entry, MapNode, Scalar

JOINED = "!joined"
"""Tag of joined texts."""


def join_split(value: MapNode, is_bare: Callable[[Entry], bool], continues: Callable[[str], bool], joins_keys: bool) -> tuple[Entry, ...]:
    """Return the entries with split values, and with `joins_keys` split keys, joined again.

    `is_bare` is True for a word without a colon; `continues`: for a text that may continue a value.
    """
    entries, names = list[Entry](), list[Entry]()  # `names`: bare entries before the key that they belong to
    for entry in value.entries:
        last = entries[-1] if entries and not names else None
        if is_bare(entry) and continues(entry.key.text) and last is not None and isinstance(last.value, Scalar) and not is_bare(last):
            entries[-1] = Entry(last.key, _join(last.value, entry.key))
        elif is_bare(entry) and joins_keys and not continues(entry.key.text):
            names.append(entry)
        else:
            key = _join(*(name.key for name in names), entry.key) if names else entry.key
            entries, names = [*entries, Entry(key, entry.value)], []
    return (*entries, *names)


def _join(*pieces: Scalar) -> Scalar:
    first, last = pieces[0], pieces[-1]
    span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
    return Scalar(",".join(piece.text for piece in pieces), JOINED, span, span)
