"""Insertions into a text in its own style: its indentation, its line ends, after its comments."""

from __future__ import annotations

import re

from ..findings.span import Edit, Span
from .source import Source
from .tree import MapNode

_END = re.compile("\r\n|\r|\n")
_BREAK = re.compile("[\r\n\x85\u2028\u2029]")  # what ends a line, and with it a comment, in YAML 1.1


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
