"""Texts that fit a terminal: long lines are broken between words, indented."""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from typing import Iterator, TextIO

from .terminal import cells

PIPED = 100
"""Columns of an output that is not a terminal."""
LEAST, MOST = 40, 200
"""Bounds of the columns of a terminal."""
COLUMNS: ContextVar[int] = ContextVar("COLUMNS", default=PIPED)
"""Columns for which source lines and tables are cut."""
_STYLE = re.compile("\x1b\\[[0-9;]*m")
MAX_COMMAND = 60
"""Maximum number of characters of words in backticks that stay on a line."""
_WORDS, _WORD = re.compile(r"(?:`[^`\n]*`|\d (?:m?s|seconds)\b|\S)+"), re.compile(r"\S+")
_AS_IT_IS = re.compile(r" *\d* \|")
_HANG = re.compile(r" += [a-z]+: | *")
_DIFF = "--- "


def columns_of(stream: TextIO | None) -> int:
    """Return the columns of a stream: those of its terminal within bounds, else `PIPED`."""
    if stream is None or not stream.isatty():
        return PIPED
    try:
        width = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = PIPED
    return min(max(width or PIPED, LEAST), MOST)


def fit_columns(text: str, columns: int) -> str:
    """Break the long lines of a text; source lines and patches stay as they are.

    Words and short commands in backticks stay whole.
    """
    lines, in_patch = list[str](), False
    for line in text.split("\n"):
        plain = _STYLE.sub("", line) if "\x1b" in line else line
        in_patch = bool(plain) and (in_patch or plain.startswith(_DIFF))
        if len(plain) * 2 <= columns or cells(plain) <= columns or in_patch or _AS_IT_IS.match(plain):
            lines.append(line)
        else:
            lines += _broken(line, plain, columns)
    return "\n".join(lines)


def _broken(line: str, plain: str, columns: int) -> Iterator[str]:
    """Yield the pieces of a line, later ones indented below its text."""
    match = _HANG.match(plain)
    indent = min(match.end() if match and match[0].strip() else len(plain) - len(plain.lstrip()) + 2, columns // 2)
    current, width, end = "", 0, 0
    for start, stop in _words(line):
        blank, word = line[end:start], line[start:stop]
        size, end = cells(_STYLE.sub("", word)), stop
        if current.strip() and width + len(blank) + size > columns:
            yield current
            current, width = " " * indent + word, indent + size
        else:
            current, width = current + blank + word, width + len(blank) + size
    yield current


def _words(line: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of words; short backticks and times with units hold together."""
    for match in _WORDS.finditer(line):
        if len(match[0]) <= MAX_COMMAND:
            yield match.span()
        else:
            yield from (word.span() for word in _WORD.finditer(line, match.start(), match.end()))
