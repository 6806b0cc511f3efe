"""Findings that the user ignores: by code, by path, or by a comment in the file."""

from __future__ import annotations

import os
import re
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Iterable, Iterator, Mapping, Sequence

from ..record import dataclass
from .codes import CODES
from .finding import Finding, IgnoredFinding, Severity
from .span import BREAK, Span

UNUSED = "PW806"
_COMMENT = re.compile(r"(?<!\S)#[ \t]*placewright:[ \t]*ignore(?:\[([^\]]*)\])?")
_LINE = re.compile(f"(.*?)({BREAK.pattern}|$)")
_SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class Comment:
    """Comment `# placewright: ignore[CODE, ...]`.

    Attributes
    ----------
    codes : codes or their first characters.
    lines : lines of the findings that it ignores, from 1.
    """

    span: Span
    codes: tuple[str, ...]
    lines: range

    def covers(self, finding: Finding) -> bool:
        """Return True for a code of the comment in its lines, or without a line."""
        places = [span for span in (finding.span, finding.origin) if span]
        is_here = not places or any(span.file == self.span.file and span.line in self.lines for span in places)
        return is_here and starts_with(finding.code, self.codes)


@dataclass(frozen=True)
class CodeSelection:
    """Codes to report and to ignore; unusable input is always reported.

    Attributes
    ----------
    selected : codes or their first characters; all codes if empty.
    by_path : (pattern of absolute paths, ignored codes), such as ``/home/me/examples/**``.
    """

    selected: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    by_path: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())

    def split(self, findings: Iterable[Finding], file: str, texts: Mapping[str, str]) -> tuple[list[Finding], list[IgnoredFinding]]:
        """Return the reported and the ignored findings of a file. `texts` : file name -> text."""
        comments = [comment for name, text in texts.items() for comment in comments_in(name, text)]
        ignored_codes = (*self.ignored, *(code for pattern, codes in self.by_path if path_matches(file, pattern) for code in codes))
        visible, left_out = list[Finding](), list[IgnoredFinding]()
        for finding in findings:
            by_comment = any(comment.covers(finding) for comment in comments)
            by_code = starts_with(finding.code, ignored_codes) or bool(self.selected and not starts_with(finding.code, self.selected))
            if finding.unusable or not (by_comment or by_code):
                visible.append(finding)
            else:
                left_out.append(IgnoredFinding(finding, by_comment))
        return visible, left_out


def unused_comments(file: str, text: str, findings: Sequence[Finding], pending_codes: Iterable[str]) -> Iterator[Finding]:
    """Yield a note per comment that covers no finding; `pending_codes` codes may come yet."""
    open_codes = tuple(pending_codes)
    for comment in comments_in(file, text):
        unknown = [code for code in comment.codes if not is_known(code)]
        if unknown or not comment.codes:
            code_list = ", ".join(f"`{code[:20]}`" for code in unknown)
            message = f"there is no code {code_list}" if unknown else "the comment names no code"
        elif any(starts_with(code, comment.codes) for code in open_codes) or any(map(comment.covers, findings)):
            continue
        else:
            message = f"nothing is ignored here: no {' or '.join(comment.codes)}"
        yield Finding(
            UNUSED, Severity.NOTE, "", message, comment.span, help="remove the comment, or write `ignore[CODE]` beside the finding"
        )


def comments_in(file: str, text: str) -> tuple[Comment, ...]:
    """Return the comments of a text.

    A comment behind text holds for its line, a comment alone for the next line of text; a shell
    command on several lines counts as one.
    """
    if not _COMMENT.search(text):
        return ()
    lines = [line for line, _ in _LINE.findall(text)]
    starts = [match.start() for match in _LINE.finditer(text)]
    comments = []
    for index, line in enumerate(lines):
        for match in _COMMENT.finditer(line):
            codes = tuple(code.upper() for code in _SEPARATOR.split(match[1] or "") if code)
            start = starts[index] + match.start()
            span = Span(file, start, starts[index] + match.end(), index + 1, match.start() + 1)
            target = index if line[: match.start()].strip() else _next_text(lines, index)
            comments.append(Comment(span, codes, _whole_command(lines, target)))
    return tuple(comments)


def _next_text(lines: Sequence[str], index: int) -> int:
    """Return the index of the next line with text, or of the last line."""
    later = (number for number in range(index + 1, len(lines)) if lines[number].strip() and lines[number].strip()[0] != "#")
    return next(later, len(lines) - 1)


def _whole_command(lines: Sequence[str], index: int) -> range:
    """Return the lines, from 1, that backslashes join with a line."""
    first = last = index
    while first and lines[first - 1].endswith("\\"):
        first -= 1
    while last + 1 < len(lines) and lines[last].endswith("\\"):
        last += 1
    return range(first + 1, last + 2)


def starts_with(code: str, prefixes: Iterable[str]) -> bool:
    """Return True if the code starts with one of the texts."""
    return code.startswith(tuple(prefixes))


def is_known(prefix: str) -> bool:
    """Return True for a code, or for the first characters of one."""
    return any(code.startswith(prefix) for code in CODES)


def may_be_ignored(prefix: str) -> bool:
    """Return True if some code that starts so is not one of unusable input."""
    return any(code.startswith(prefix) for code in CODES if code >= "PW1")


def path_matches(file: str, pattern: str) -> bool:
    """Return True if a path, or a folder above it, matches; `*` matches any characters."""
    path = os.path.abspath(file)
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern.rstrip('/')}/*")
