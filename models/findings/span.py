"""Where a value stands in a text, so that every message can point at it and every fix can replace it."""

from __future__ import annotations

from dataclasses import field, replace

from ..record import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one text.

    `line` and `column` count from 1 and point at the first character; `start` and `end` are character offsets from 0,
    `end` exclusive. A span may cover several lines. `via` is (start, end, line, column) of the alias through which
    the value came, where it did.
    """

    file: str
    start: int
    end: int
    line: int
    column: int
    via: tuple[int, int, int, int] | None = field(default=None, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Number of characters covered."""
        return self.end - self.start

    def part(self, start: int, end: int) -> Span:
        """The characters `start` to `end` (exclusive) of this span, which must lie on its first line."""
        return Span(self.file, self.start + start, self.start + end, self.line, self.column + start, self.via)

    def used_at(self, alias: Span) -> Span:
        """The same place, of a value that comes through an alias."""
        return replace(self, via=(alias.start, alias.end, alias.line, alias.column))

    @property
    def alias(self) -> Span | None:
        """The alias that uses what stands here; None for a value that is used where it stands."""
        return None if self.via is None else Span(self.file, *self.via)

    @property
    def end_in_use(self) -> int:
        """Where the text of the value ends in what holds it: the end of its alias, where it came through one."""
        return self.end if self.via is None else self.via[1]


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
