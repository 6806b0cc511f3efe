"""Edits of a YAML text in its own style.

`text` is the text that the spans point into. Maps with entries in several texts, or from an
interpolation, an alias or a merge, have no edits.
"""

from __future__ import annotations

import re
from typing import Any, Iterable, Sequence

import yaml

from ..findings.span import Edit, Span
from ..ranks import merge, write_ranks
from .nearest import nearest
from .source import EXPONENT, Source, read_yaml
from .tree import Entry, MapNode, Scalar

_END = re.compile("\r\n|\r|\n")
_BREAK = re.compile("[\r\n\x85\u2028\u2029]")  # ends of lines, and so of comments, in YAML 1.1
WIDTH = 120


def plain_or_quoted(text: str) -> str:
    """Return the text as a YAML scalar, quoted only if plain YAML would change it."""
    if text and text == text.strip() and all(letter.isalnum() or letter in "-,:_. " for letter in text) and text[0].isalnum():
        value = read_yaml("", text)
        if isinstance(value, Scalar) and value.text == text and str(value.value) == text and not value.is_null:
            return text
    return _quote(text)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def in_flow_map(text: str) -> str:
    """Return the text as a YAML scalar within brackets: quoted with a comma or a colon."""
    return _quote(text) if "," in text or ":" in text else plain_or_quoted(text)


def correct_name(name: str, candidates: Iterable[str], span: Span | None, otherwise: str) -> tuple[str, Edit | None]:
    """Return help and edit for a misspelt name; the help `otherwise` if none is similar."""
    close = nearest(name, candidates)
    if close is None:
        return otherwise, None
    return f"write `{close}`", Edit(span, in_flow_map(close)) if span else None


def indent_of(span: Span) -> str:
    """Return spaces as wide as the text before the span on its line."""
    return " " * (span.column - 1)


def quotes_keys(source: Source, mapping: MapNode) -> bool:
    """Return True if the map writes its keys in double quotes, as in JSON."""
    return any(source.text[entry.key.span.start] == '"' for entry in mapping)


def line_end(text: str) -> str:
    """Return the line end of the first line of a text."""
    match = _END.search(text)
    return match[0] if match else "\n"


def line_stop(text: str, position: int) -> int:
    """Return the end of the line, with its comment, of the last character before `position`."""
    while position and text[position - 1] in " \t\r\n\x85\u2028\u2029":
        position -= 1
    match = _BREAK.search(text, position)
    return match.start() if match else len(text)


def point(source: Source, position: int) -> Span:
    """Return the empty span at an offset."""
    return _build_span(source.text, source.name, position)


def without_entry(text: str, mapping: MapNode, entry: Entry) -> Edit | None:
    """Build the edit that deletes an entry of a map; None for the only entry."""
    if not _is_in_place(mapping):
        return None
    spans = [_whole(child) for child in mapping]
    return _without(text, spans, spans.index(_whole(entry)), mapping.flow)


def with_entry(text: str, mapping: MapNode, key: str, value: str) -> Edit | None:
    """Build the edit that appends `key: value` to a map; None for an empty map."""
    files = {mapping.span.file, *(span.file for entry in mapping for span in (entry.key.span, entry.value.span))}
    if not mapping.entries or not _is_in_place(mapping) or len(files) > 1:
        return None
    first, last = mapping.entries[0].key.span, mapping.entries[-1].value.span
    if mapping.flow:
        quote = '"' if text[first.start] == '"' else ""
        return Edit(_build_span(text, last.file, last.end_in_use), f", {quote}{key}{quote}: {value}")
    position = line_stop(text, last.end_in_use)
    return Edit(_build_span(text, last.file, position), f"{line_end(text)}{' ' * (first.column - 1)}{key}: {value}")


def _is_in_place(mapping: MapNode) -> bool:
    """Return True if no entry of the map comes from an alias or a merge."""
    return not mapping.merged and all(entry.key.span.via is None for entry in mapping)


def _whole(entry: Entry) -> Span:
    key, value = entry.key.span, entry.value.span
    return Span(key.file, key.start, max(key.end, value.end_in_use), key.line, key.column)


def _without(text: str, spans: list[Span], position: int, flow: bool) -> Edit | None:
    if len(spans) < 2 or len({span.file for span in spans}) > 1:
        return None
    item = spans[position]
    if position + 1 < len(spans):
        start, end = item.start, spans[position + 1].start
    elif flow:
        start, end = spans[position - 1].end, item.end
    else:
        start, end = line_stop(text, spans[position - 1].end), line_stop(text, item.end)
    return Edit(Span(item.file, start, end, item.line, item.column), "")


def _build_span(text: str, file: str, position: int) -> Span:
    before = text[:position]
    return Span(file, position, position, before.count("\n") + 1, position - before.rfind("\n"))


class _Dumper(yaml.SafeDumper):
    """Dumper without aliases, and with indented lists below a key."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_implicit_resolver(*EXPONENT)


def to_yaml(data: dict[str, Any]) -> str:
    """Write data as YAML, keys in the given order; reading it gives the same values."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=WIDTH)
    return text


def number_or_text(text: str) -> int | str:
    """Convert a text of plain digits, but not ``007``, to a number without quotes."""
    return int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text else text


def ranks_to_data(ranks: Sequence[int]) -> int | str:
    """Write ascending ranks, such as ``0-3,6``; a single rank as a number."""
    return number_or_text(write_ranks((ranks,) if isinstance(ranks, range) else merge([range(rank, rank + 1) for rank in ranks])))
