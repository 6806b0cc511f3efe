"""Edits as a unified diff for `patch` and `git apply`."""

from __future__ import annotations

import re
from difflib import unified_diff

from .terminal import escape, paint

CONTEXT = 2
_LINE = re.compile("[^\n]*\n|[^\n]+")  # a patch ends lines here alone


def diff_of(name: str, old: str, new: str, colour: bool = False) -> str:
    """Format the differing lines of two texts with two lines of context, or return ""."""
    lines = []
    for line in unified_diff(_LINE.findall(old), _LINE.findall(new), name, name, n=CONTEXT):
        text = escape(line.rstrip("\r\n")) + "\r" * line.endswith("\r\n")
        shade = "green" if line.startswith("+") else "red" if line.startswith("-") else ""
        lines.append(paint(text, shade, colour) if shade else text)
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    return "\n".join(lines)
