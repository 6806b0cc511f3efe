"""A scalar as a framework gets it, and where its characters stand."""

from __future__ import annotations

from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.edit import in_flow_map, plain_or_quoted
from ..text.tree import Scalar


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as a framework gets it, which is `str(value)`: ``010`` is 8 to YAML and so "8" to the framework.

    `shift` is where its first character stands in the scalar's span, None where characters do not correspond (the value
    came through an interpolation, or the text is not what is written).
    """

    text: str
    scalar: Scalar
    shift: int | None

    def part(self, start: int, end: int) -> Span:
        """Where the characters `start` to `end` stand; the whole scalar where that cannot be said."""
        if self.shift is None:
            return self.scalar.span
        return self.scalar.span.part(self.shift + start, self.shift + max(end, start + 1 if self.text else start))

    def replaced(self, text: str, in_flow: bool = False) -> Edit | None:
        """The edit that makes another text of it, in its own quotes; None where it is written elsewhere."""
        if self.scalar.origin is not None or "\n" in self.scalar.text:  # elsewhere, or in a block of its own lines
            return None
        if self.shift == 1 and not set(text) & {'"', "'", "\\"}:
            return Edit(self.scalar.span.part(1, self.scalar.span.length - 1), text)
        return Edit(self.scalar.span, in_flow_map(text) if in_flow else plain_or_quoted(text))
