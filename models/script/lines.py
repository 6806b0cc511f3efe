"""From offsets of a script to places with line and column."""

from __future__ import annotations

from bisect import bisect_right

from ..findings.span import Span
from ..text.source import Source
from .syntax.parts import Place


class Lines:
    """The beginnings of the lines of a script."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._starts = [0, *(position + 1 for position, letter in enumerate(source.text) if letter == "\n")]

    def span(self, place: Place) -> Span:
        """The span of a place."""
        line = bisect_right(self._starts, place[0])
        return Span(self._source.name, place[0], max(place), line, place[0] - self._starts[line - 1] + 1)

    def number(self, position: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._starts, position)

    def end(self, position: int) -> int:
        """Where the line of an offset ends."""
        line = bisect_right(self._starts, position)
        return self._starts[line] - 1 if line < len(self._starts) else len(self._source.text)
