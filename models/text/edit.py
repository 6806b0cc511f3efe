"""Edits of a YAML text in its own style.

`text` is the text that the spans point into. There is no edit for a map whose entries stand in several texts, or came
through an interpolation, an alias or a merge.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from ..findings.span import Edit, Span
from .source import EXPONENT, Source, read_yaml
from .tree import Entry, ListNode, MapNode, Scalar, Value

_END = re.compile("\r\n|\r|\n")
_BREAK = re.compile("[\r\n\x85\u2028\u2029]")  # what ends a line, and with it a comment, in YAML 1.1
WIDTH = 120


def plain_or_quoted(text: str) -> str:
    """The text as a YAML scalar that is read as this very text: quoted only where it must be."""
    if text and text == text.strip() and all(letter.isalnum() or letter in "-,:_. " for letter in text) and text[0].isalnum():
        value = read_yaml("", text)
        if isinstance(value, Scalar) and value.text == text and str(value.value) == text and not value.is_null:
            return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def in_flow_map(text: str) -> str:
    """The text as a YAML scalar inside brackets or braces, where a comma or a colon would end it."""
    return f'"{text}"' if "," in text or ":" in text else plain_or_quoted(text)


def indent_of(span: Span) -> str:
    """What stands before it on its line, as spaces."""
    return " " * (span.column - 1)


def quotes_keys(source: Source, mapping: MapNode) -> bool:
    """Does the map write its keys in double quotes, as JSON must?"""
    return any(source.text[entry.key.span.start] == '"' for entry in mapping)


def line_end(source: Source) -> str:
    """The line end that the file uses."""
    return line_end_of(source.text)


def line_end_of(text: str) -> str:
    """The line end that a text uses: that of its first line."""
    found = _END.search(text)
    return found[0] if found else "\n"


def line_stop(text: str, position: int) -> int:
    """Where the line of the last character before `position` ends, after its comment."""
    while position and text[position - 1] in " \t\r\n\x85\u2028\u2029":
        position -= 1
    found = _BREAK.search(text, position)
    return found.start() if found else len(text)


def at_line_end(source: Source, position: int, text: str) -> Edit:
    """An insertion where the line of the last character before `position` ends, after its comment."""
    return Edit(point(source, line_stop(source.text, position)), text)


def point(source: Source, position: int) -> Span:
    """The empty span at an offset."""
    before = source.text[:position]
    return Span(source.name, position, position, before.count("\n") + 1, position - before.rfind("\n"))


def without_entry(text: str, mapping: MapNode, entry: Entry) -> Edit | None:
    """The map without an entry; None if it is the only one."""
    if not _in_one_place(mapping):
        return None
    spans = [_whole(each) for each in mapping]
    return _without(text, spans, spans.index(_whole(entry)), mapping.flow)


def without_item(text: str, sequence: ListNode, item: Value) -> Edit | None:
    """The list without an item; None if it is the only one."""
    if sequence.span.via is not None or any(each.span.via is not None for each in sequence.items):
        return None
    spans = [each.span for each in sequence.items]
    position = [span.start for span in spans].index(item.span.start)  # whole numbers compare faster than spans
    return _without(text, spans, position, is_flow(text, sequence))


def with_entry(text: str, mapping: MapNode, key: str, value: str) -> Edit | None:
    """The map with one more `key: value` at its end, in its own style; None if it is empty."""
    if not mapping.entries or not _of_one_text(mapping):
        return None
    first, last = mapping.entries[0].key.span, mapping.entries[-1].value.span
    if mapping.flow:
        quote = '"' if text[first.start] == '"' else ""
        return Edit(_at(text, last, last.end_in_use), f", {quote}{key}{quote}: {value}")
    position = line_stop(text, last.end_in_use)
    return Edit(_at(text, last, position), f"{line_end_of(text)}{' ' * (first.column - 1)}{key}: {value}")


def as_list(text: str, mapping: MapNode, each: bool) -> Edit | None:
    """The map as a list: one item that is the map, or with `each` one item for every entry. None if it is empty."""
    if not mapping.entries or not _of_one_text(mapping):
        return None
    span, entries = mapping.span, [_whole(entry) for entry in mapping]
    if mapping.flow:
        items = [text[entry.start : entry.end] for entry in entries] if each else [text[span.start + 1 : span.end - 1].strip()]
        return Edit(span, "[" + ", ".join(f"{{{item}}}" for item in items) + "]")
    inside = Span(span.file, entries[0].start, entries[-1].end, entries[0].line, entries[0].column)
    if any(text[entry.start - entry.column + 1 : entry.start].strip() for entry in entries[1:]):
        return None
    if each:
        pieces, position = [], inside.start
        for entry in entries:
            pieces += [text[position : entry.start], "- "]
            position = entry.start
        return Edit(inside, "".join([*pieces, text[position : inside.end]]))
    end = line_end_of(text)
    lines = text[inside.start : inside.end].split(end)
    return Edit(inside, "- " + end.join([lines[0], *(f"  {line}" if line.strip() else line for line in lines[1:])]))


def split_item(text: str, sequence: ListNode, mapping: MapNode) -> Edit | None:
    """An item that is a map of several entries, as one item for each entry; None where it stands in an unusual way."""
    entries = [_whole(entry) for entry in mapping]
    if not entries or not _of_one_text(mapping):
        return None
    if is_flow(text, sequence):
        return Edit(mapping.span, ", ".join(f"{{{text[entry.start : entry.end]}}}" for entry in entries)) if mapping.flow else None
    start, end = (mapping.span.start, mapping.span.end) if mapping.flow else (entries[0].start, entries[-1].end)
    dash = text.rfind("-", 0, start)
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if dash < line or text[line:dash].strip() or text[dash + 1 : start].strip():
        return None
    shown = [text[entry.start : entry.end] for entry in entries]
    items = [f"{{{item}}}" for item in shown] if mapping.flow else shown
    span = Span(mapping.span.file, start, end, mapping.span.line, mapping.span.column)
    return Edit(span, f"{line_end_of(text)}{text[line:dash]}- ".join(items))


def is_flow(text: str, sequence: ListNode) -> bool:
    """Is the list written in brackets?"""
    return text[sequence.span.start : sequence.span.start + 1] == "["


def _of_one_text(mapping: MapNode) -> bool:
    return (
        _in_one_place(mapping)
        and len({span.file for entry in mapping for span in (entry.key.span, entry.value.span)} | {mapping.span.file}) == 1
    )


def _in_one_place(mapping: MapNode) -> bool:
    """Do its entries stand in it, and not where an alias or a merge takes them from?"""
    return not mapping.merged and all(entry.key.span.via is None for entry in mapping)


def _whole(entry: Entry) -> Span:
    key, value = entry.key.span, entry.value.span
    return Span(key.file, key.start, max(key.end, value.end_in_use), key.line, key.column)


def _without(text: str, spans: list[Span], position: int, flow: bool) -> Edit | None:
    if len(spans) < 2 or len({span.file for span in spans}) > 1:
        return None
    this = spans[position]
    if position + 1 < len(spans):
        start, end = this.start, spans[position + 1].start
    elif flow:
        start, end = spans[position - 1].end, this.end
    else:
        start, end = line_stop(text, spans[position - 1].end), line_stop(text, this.end)
    return Edit(Span(this.file, start, end, this.line, this.column), "")


def _at(text: str, near: Span, position: int) -> Span:
    before = text[:position]
    return Span(near.file, position, position, before.count("\n") + 1, position - before.rfind("\n"))


class _Dumper(yaml.SafeDumper):
    """Never writes aliases; lists below a key are indented."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_implicit_resolver(*EXPONENT)


def to_yaml(data: dict[str, Any]) -> str:
    """The text, keys in the given order; read again it holds the same values."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=WIDTH)
    return text


def number_or_text(text: str) -> int | str:
    """A text of plain digits as the number that is written in the same way, so that it needs no quotes."""
    return int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text else text
