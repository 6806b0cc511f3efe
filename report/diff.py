"""Edits as a unified diff for `patch` and `git apply`."""

from __future__ import annotations

from difflib import unified_diff

from ..models.findings.span import Edit, apply_edits
from ..models.text.source import Source
from .terminal import escape, paint

CONTEXT = 2


def diff(source: Source, edits: list[Edit], colour: bool = False) -> str:
    """Format the changed lines with two lines of context; "" without changes."""
    before = source.text.splitlines(keepends=True)
    after = apply_edits(source.text, edits).splitlines(keepends=True)
    lines = []
    for line in unified_diff(before, after, source.name, source.name, n=CONTEXT):
        text = escape(line.rstrip("\r\n"))
        shade = "green" if line.startswith("+") else "red" if line.startswith("-") else ""
        lines.append(paint(text, shade, colour) if shade else text)
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    return "\n".join(lines)
