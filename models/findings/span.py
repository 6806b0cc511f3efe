"""Where a value stands in a text, so that every message can point at it and every fix can replace it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one text.

    `line` and `column` count from 1 and point at the first character; `start` and `end` are character offsets from 0,
    `end` exclusive. A span may cover several lines.
    """

    file: str
    start: int
    end: int
    line: int
    column: int

    @property
    def length(self) -> int:
        """Number of characters covered."""
        return self.end - self.start

    def part(self, start: int, end: int) -> Span:
        """The characters `start` to `end` (exclusive) of this span, which must lie on its first line."""
        return Span(self.file, self.start + start, self.start + end, self.line, self.column + start)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace what stands at `span` by `text`; every other character of the file stays as it is."""

    span: Span
    text: str


def apply_edits(text: str, edits: list[Edit]) -> str:
    """The text with all edits made. Edits must not overlap; two insertions at one place keep their order."""
    result, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if edit.span.start < position:
            raise ValueError(f"edits overlap at offset {edit.span.start}")
        result += [text[position : edit.span.start], edit.text]
        position = edit.span.end
    return "".join([*result, text[position:]])
