"""Insertions into a text in its own style: its indentation, its line ends, after its comments."""

from __future__ import annotations

from ..span import Edit, Span
from .source import Source
from .tree import Mapping


def indent_of(source: Source, span: Span) -> str:
    """What stands before it on its line, as spaces."""
    return " " * (span.column - 1)


def quotes_keys(source: Source, mapping: Mapping) -> bool:
    """Does the map write its keys in double quotes, as JSON must?"""
    return any(source.text[entry.key.span.start] == '"' for entry in mapping)


def line_end(source: Source) -> str:
    """The line end that the file uses."""
    first = source.text.find("\n")
    return "\r\n" if first > 0 and source.text[first - 1] == "\r" else "\n"


def at_line_end(source: Source, position: int, text: str) -> Edit:
    """An insertion where the line of the last character before `position` ends, after its comment."""
    while position and source.text[position - 1] in " \t\r\n":
        position -= 1
    ends = [found for found in (source.text.find(mark, position) for mark in ("\r", "\n")) if found >= 0]
    return Edit(point(source, min(ends, default=len(source.text))), text)


def point(source: Source, position: int) -> Span:
    """The empty span at an offset."""
    before = source.text[:position]
    return Span(source.name, position, position, before.count("\n") + 1, position - before.rfind("\n"))
