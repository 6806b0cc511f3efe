"""Place of a value in a text, for messages and edits."""

from __future__ import annotations

import re
from dataclasses import field, replace

from ..record import dataclass

BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""End of a line in YAML 1.1."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Range of characters of a text.

    `line` and `column` count from 1 and point at the first character; `start` and `end` are
    character offsets from 0, `end` exclusive. A span may cover several lines. `via` is (start, end,
    line, column) of the alias through which the value came, if any.
    """

    file: str
    start: int
    end: int
    line: int
    column: int
    via: tuple[int, int, int, int] | None = field(default=None, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Number of characters."""
        return self.end - self.start

    def part(self, start: int, end: int) -> Span:
        """Return the characters `start` to `end` (exclusive), which must lie on the first line."""
        return Span(self.file, self.start + start, self.start + end, self.line, self.column + start, self.via)

    def use_at(self, alias: Span) -> Span:
        """Return the span of a value that comes through an alias."""
        return replace(self, via=(alias.start, alias.end, alias.line, alias.column))

    def end_in(self, text: str) -> tuple[int, int]:
        """Return the line and column behind the last character; `text` is that of the file."""
        *before, last = BREAK.split(text[self.start : self.end])
        return (self.line + len(before), len(last) + 1) if before else (self.line, self.column + len(last))

    @property
    def alias(self) -> Span | None:
        """Alias that uses this text; None without an alias."""
        return None if self.via is None else Span(self.file, *self.via)

    @property
    def end_in_use(self) -> int:
        """End of the value in the parent text: the end of the alias, if there is one."""
        return self.end if self.via is None else self.via[1]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the text at `span`; the rest stays."""

    span: Span
    text: str


def apply_edits(text: str, edits: list[Edit]) -> str:
    """Return the text with all edits made, in order; they must not overlap."""
    result, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if edit.span.start < position:
            raise ValueError(f"edits overlap at offset {edit.span.start}")
        result += [text[position : edit.span.start], edit.text]
        position = edit.span.end
    return "".join([*result, text[position:]])
