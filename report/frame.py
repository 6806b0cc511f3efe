"""Findings as text: message, source line with caret, help."""

from __future__ import annotations

import re
from typing import Mapping

from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Span
from .terminal import cells, escape, paint, source_character
from .wrapping import COLUMNS, fit_columns

WIDTH = 100
"""Columns of a source line without its number."""
REACH = 2 * WIDTH
MAX_SENTENCE = 1000
_BREAK = re.compile("[\n\r\x85\u2028\u2029]")  # what ends a line in YAML 1.1
_CUT = "..."
_STYLE = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def frame(finding: Finding, texts: Mapping[str, str], colour: bool = False) -> str:
    """Format a finding with its source line and caret, without a line end.

    `texts` : file name -> text; without it only the location is given.
    """
    style = _STYLE[finding.severity]
    places = [span for span in (finding.span, finding.origin) if span]
    gutter = max((len(str(span.line)) for span in places), default=1)
    code = paint(f"{finding.severity.value}[{finding.code}]", style, colour)
    lines = [f"{code}: {paint(_sentence(finding.message), 'bold', colour)}"]
    if finding.span:
        lines += _place(finding.span, finding.label, texts, gutter, style, colour)
    mark = paint("=", "blue", colour)
    for word, text in [*(("note", note) for note in finding.notes), ("help", finding.help)]:
        if text:
            lines.append(f"{' ' * (gutter + 2)}{mark} {paint(word, 'bold', colour)}: {_sentence(text)}")
    if finding.origin:
        lines.append(f"{paint('note', 'cyan', colour)}: {_sentence(finding.origin_label)}")
        lines += _place(finding.origin, "", texts, gutter, "cyan", colour)
    return "\n".join(lines)


def _sentence(text: str) -> str:
    """Escape a text for a terminal and cut endless ones."""
    return escape(text if len(text) <= MAX_SENTENCE else text[:MAX_SENTENCE] + _CUT)


def _place(span: Span, label: str, texts: Mapping[str, str], gutter: int, style: str, colour: bool) -> list[str]:
    arrow = f"{' ' * (gutter + 1)}{paint('-->', 'blue', colour)} {escape(span.file)}:{span.line}:{span.column}"
    if span.file not in texts:
        return [arrow]
    columns = COLUMNS.get() - gutter - 4
    source_line, before, length = excerpt(texts[span.file], span, columns)
    if cells(source_line) > columns:  # the line is cut
        source_line, before, length = excerpt(texts[span.file], span, columns - 2 * len(_CUT))
    bar, number = paint("|", "blue", colour), paint(f"{span.line:>{gutter}}", "blue", colour)
    empty = f"{' ' * (gutter + 2)}{bar}"
    below = [
        line[: len(line) - len(line.lstrip())] + paint(line.strip(), style, colour)
        for line in _carets(before, length, _sentence(label), columns)
    ]
    return [arrow, empty, f" {number} {bar} {source_line}".rstrip(), *(f"{empty} {line}" for line in below)]


def _carets(before: int, length: int, label: str, columns: int) -> list[str]:
    """Return the line of carets with the label; a long label stands below."""
    carets = " " * before + "^" * length
    if before + length + 1 + cells(label) <= columns:
        return [f"{carets} {label}"]
    indent = " " * max(min(before, columns - cells(label)), 0)
    return [carets, *fit_columns(indent + label, columns).split("\n")]


def excerpt(text: str, span: Span, width: int = WIDTH) -> tuple[str, int, int]:
    """Return (first line of the span, columns before the caret, columns under it).

    The line is cut to `width` columns around the caret. The cost does not grow with the line: at most
    REACH characters on either side of the caret are read.
    """
    start = max(span.start - (span.column - 1), 0)
    begin, stop = max(start, span.start - REACH), min(len(text), span.start + REACH)
    line_break = _BREAK.search(text, span.start, stop)
    line = text[begin : line_break.start() if line_break else stop]
    first = min(span.start - begin, len(line))
    last = first + len(line[first : span.end - begin].rstrip())
    pieces = [source_character(character) for character in line]
    widths = [cells(piece) for piece in pieces]
    start_piece, stop_piece = _window(widths, first, width)
    before = _CUT if start_piece or begin > start else ""
    after = _CUT if stop_piece < len(pieces) or (not line_break and stop < len(text)) else ""
    under = sum(widths[first : min(last, stop_piece)])
    return before + "".join(pieces[start_piece:stop_piece]) + after, len(before) + sum(widths[start_piece:first]), max(under, 1)


def _window(widths: list[int], first: int, width: int) -> tuple[int, int]:
    """Return the window of characters with at most `width` columns around the caret."""
    start = stop = 0
    if sum(widths) > width:
        start, space = first, width // 3
        while start and widths[start - 1] <= space:
            start -= 1
            space -= widths[start]
    stop, space = start, width
    while stop < len(widths) and widths[stop] <= space:
        space -= widths[stop]
        stop += 1
    return start, stop
