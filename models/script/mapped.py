"""A word of a command and the places of its characters in the script, for spans and edits that are right there."""

from __future__ import annotations

from dataclasses import replace

from ..composition.setting_text import Setting
from ..findings.finding import Finding
from ..findings.span import Edit, Span
from ..text.tree import Entry, Mapping, Scalar, Sequence, Value
from .holding.value import Piece, Text
from .lines import Lines
from .quoting import fitted, quoted
from .syntax.parts import Place

_QUOTES = "bash takes quotes away: put the value in quotes within quotes, as in `\"key='a b'\"`"


class Mapped:
    """One word. `key` is how many of its first characters name what is set.

    A word that a variable holds whole, key and all, stands where the variable's value is written. What comes through a
    variable into a word stands where the variable is named, with where its value is written as the origin. `shell`: is the text a
    script, where quotes are taken away before a program sees them?
    """

    def __init__(self, word: Text, key: int, lines: Lines, script: str, shell: bool = True) -> None:
        self.word, self._lines, self._script, self._shell = word, lines, script, shell
        keys = word.cut(0, max(key, 1)).pieces or word.pieces
        self._depth = min((len(piece.frames) - 1 for piece in keys), default=0)

    def span(self, start: int, end: int) -> Span:
        """The place of some of its characters."""
        places = [self._place(piece) for piece in self._covering(start, end)]
        return self._lines.span((places[0][0], max(place[1] for place in places)) if places else (0, 0))

    def origin(self, start: int, end: int) -> Span | None:
        """Where some of its characters really stand, if that is elsewhere."""
        for piece in self._covering(start, end):
            if len(piece.frames) - 1 > self._depth:
                return self._lines.span(piece.frames[-1])
        return None

    def _place(self, piece: Piece) -> Place:
        return piece.frames[min(self._depth, len(piece.frames) - 1)]

    def _covering(self, start: int, end: int) -> list[Piece]:
        """The pieces of these characters; of an empty stretch those at its edge."""
        return list(self.word.cut(start, max(start, end)).pieces) or list(self.word.cut(max(0, start - 1), start).pieces[-1:])

    # -- what was read of its plain text, whose spans count from 0

    def setting(self, setting: Setting) -> Setting:
        """A setting of the plain text, at its real places."""
        value = None if setting.value is None else self.value(setting.value)
        return replace(setting, value=value, span=self._moved(setting.span), key_span=self._moved(setting.key_span))

    def value(self, value: Value) -> Value:
        """A value of the plain text, at its real places."""
        span = self._moved(value.span)
        if isinstance(value, Scalar):
            return replace(value, span=span, origin=self.origin(value.span.start, value.span.end))
        if isinstance(value, Sequence):
            return Sequence(tuple(map(self.value, value.items)), span)
        entries = []
        for entry in value:
            key = replace(entry.key, span=self._moved(entry.key.span))
            entries.append(Entry(key, self.value(entry.value)))
        return Mapping(tuple(entries), span, value.flow)

    def finding(self, finding: Finding) -> Finding:
        """A finding about the plain text, at its real places; its edit in the quotes that it needs there."""
        span = None if finding.span is None else self._moved(finding.span)
        if finding.edit is None:
            wanted = self._shell and "in quotes" in finding.help
            return replace(finding, span=span, help=_QUOTES if wanted else finding.help)
        moved = Edit(self._moved(finding.edit.span), finding.edit.text)
        if self.origin(finding.edit.span.start, finding.edit.span.end) is not None:
            return replace(finding, span=span, edit=None, help=f"write `{quoted(moved.text)}` where the value comes from")
        edit = fitted(self._script, moved) if self._shell else moved
        return replace(finding, span=span, edit=edit, help=f"write `{edit.text}`")

    def _moved(self, span: Span) -> Span:
        moved = self.span(span.start, span.end)
        if span.end > span.start:
            return moved
        after = self.word.cut(0, span.start).pieces[-1:]
        position = self._place(after[0])[1] if after else moved.start
        return self._lines.span((position, position))
