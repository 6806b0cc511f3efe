"""Scalar as passed to a framework, and the places of its characters."""

from __future__ import annotations

from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.edit import in_flow_map, plain_or_quoted
from ..text.tree import Scalar


@dataclass(frozen=True, slots=True)
class ScalarText:
    """Scalar as passed to the framework: `str(value)`.

    ``010`` is 8 to YAML, and so "8" to the framework.

    Attributes
    ----------
    shift : offset of the first character in the scalar's span; None if characters do not correspond
        (the value comes from an interpolation, or the text differs from the written one).
    """

    text: str
    scalar: Scalar
    shift: int | None

    def part(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` to `end`.

        The span of the whole scalar if characters do not correspond.
        """
        if self.shift is None:
            return self.scalar.span
        return self.scalar.span.part(self.shift + start, self.shift + max(end, start + 1 if self.text else start))

    def replaced(self, text: str, in_flow: bool = False) -> Edit | None:
        """Return the edit that replaces the text and keeps the quotes.

        None if the text is written elsewhere.
        """
        # written elsewhere, or a block scalar on lines of its own
        if self.scalar.origin is not None or "\n" in self.scalar.text:
            return None
        if self.shift == 1 and not set(text) & {'"', "'", "\\"}:
            return Edit(self.scalar.span.part(1, self.scalar.span.length - 1), text)
        return Edit(self.scalar.span, in_flow_map(text) if in_flow else plain_or_quoted(text))
