"""A Finding as a person reads it: what is wrong, where in the text, and what mends it."""

from __future__ import annotations

import re
from typing import Mapping

from ..models.finding import Finding, Severity
from ..models.span import Span
from .terminal import cells, escape, paint, source_character

WIDTH = 100
_BREAK = re.compile("[\n\r\x85\u2028\u2029]")  # what ends a line in YAML 1.1
_CUT = "..."
_STYLE = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def frame(finding: Finding, texts: Mapping[str, str], colour: bool = False) -> str:
    """The finding with its source line and a caret, without a line end.

    `texts` holds the text of each file by name; where a file's text is not there, only the place is given.
    """
    style = _STYLE[finding.severity]
    places = [span for span in (finding.span, finding.origin) if span]
    gutter = max((len(str(span.line)) for span in places), default=1)
    code = paint(f"{finding.severity.value}[{finding.code}]", style, colour)
    lines = [f"{code}: {paint(escape(finding.message), 'bold', colour)}"]
    if finding.span:
        lines += _place(finding.span, finding.label, texts, gutter, style, colour)
    if finding.help:
        mark = paint("=", "blue", colour)
        lines.append(f"{' ' * (gutter + 2)}{mark} {paint('help', 'bold', colour)}: {escape(finding.help)}")
    if finding.origin:
        lines.append(f"{paint('note', 'cyan', colour)}: the value comes from here")
        lines += _place(finding.origin, "", texts, gutter, "cyan", colour)
    return "\n".join(lines)


def _place(span: Span, label: str, texts: Mapping[str, str], gutter: int, style: str, colour: bool) -> list[str]:
    arrow = f"{' ' * (gutter + 1)}{paint('-->', 'blue', colour)} {escape(span.file)}:{span.line}:{span.column}"
    if span.file not in texts:
        return [arrow]
    shown, before, length = excerpt(texts[span.file], span)
    bar, number = paint("|", "blue", colour), paint(f"{span.line:>{gutter}}", "blue", colour)
    empty = f"{' ' * (gutter + 2)}{bar}"
    carets = paint("^" * length + (f" {escape(label)}" if label else ""), style, colour)
    return [arrow, empty, f" {number} {bar} {shown}".rstrip(), f"{empty} {' ' * before}{carets}"]


def excerpt(text: str, span: Span) -> tuple[str, int, int]:
    """(the first line of the span as shown, columns before the caret, columns under it), the line cut to WIDTH columns around the caret."""
    start = max(span.start - (span.column - 1), 0)
    found = _BREAK.search(text, max(span.start, start))
    line = text[start : found.start() if found else len(text)]
    first = min(span.start - start, len(line))
    last = max(first + len(line[first : span.end - start].rstrip()), first)
    pieces = [source_character(character) for character in line]
    widths = [cells(piece) for piece in pieces]
    left, right = _window(widths, first)
    last = min(last, right)
    shown = (_CUT if left else "") + "".join(pieces[left:right]) + (_CUT if right < len(pieces) else "")
    return shown, len(_CUT) * bool(left) + sum(widths[left:first]), max(sum(widths[first:last]), 1)


def _window(widths: list[int], first: int) -> tuple[int, int]:
    """The characters of a line to show, so that at most WIDTH columns are taken and the caret is among them."""
    left = right = 0
    if sum(widths) > WIDTH:
        left, room = first, WIDTH // 3
        while left and widths[left - 1] <= room:
            left -= 1
            room -= widths[left]
    right, room = left, WIDTH
    while right < len(widths) and widths[right] <= room:
        room -= widths[right]
        right += 1
    return left, right
