"""Reports of many files: a line for each cause, with its files; the counts last."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Sequence

from ..models.findings.wording import with_noun
from ..models.report import FAULTY, INCOMPLETE, OK, UNUSABLE, Report
from .terminal import escape, paint
from .text import STYLES, is_plain_ok, summary

MAX_CAUSES = 25
"""Maximum number of causes listed."""
MAX_FILES = 2
"""Maximum number of files named for a cause."""
_WORST_FIRST = (UNUSABLE, FAULTY, INCOMPLETE)


class Cause(NamedTuple):
    """First reason why a file is not ok; files with equal ones are listed together.

    Incomplete files have the same cause if the same addition completes them, whatever lacks.
    """

    verdict: str
    code: str
    text: str


def render(reports: Sequence[Report], skipped: int = 0, quiet: bool = False, colour: bool = False, broken: Sequence[str] = ()) -> str:
    """Format files that are not ok by cause, then the summary.

    Returns "" if quiet and all is ok.
    """
    if quiet and all(map(is_plain_ok, reports)):
        return ""
    causes: dict[Cause, list[Report]] = {}
    for report in reports:
        if report.verdict != OK:
            causes.setdefault(_cause(report), []).append(report)
    by_severity = sorted(causes.items(), key=lambda item: (_WORST_FIRST.index(item[0].verdict), -len(item[1])))
    lines = [line for cause, files in by_severity[:MAX_CAUSES] for line in _lines(cause, files, colour)]
    if rest := by_severity[MAX_CAUSES:]:
        count = sum(len(files) for _, files in rest)
        lines.append(f"and {with_noun(len(rest), 'cause')} more in {with_noun(count, 'file')}")
    if lines:
        lines += ["", "-v shows every finding with its help"]
    return "\n".join([*lines, summary(reports, skipped, colour, broken)])


def _cause(report: Report) -> Cause:
    if report.errors:
        first = report.errors[0]
        return Cause(report.verdict, first.code, first.message)
    return Cause(report.verdict, "", report.missing[0].add)


def _lines(cause: Cause, files: Sequence[Report], colour: bool) -> list[str]:
    """Format a cause in a line, or in two with the names of several files."""
    head = paint(f"error[{cause.code}]" if cause.code else cause.verdict, STYLES[cause.verdict], colour)
    text = f"{head}: {escape(cause.text if cause.code else _lacking(files))}"
    if len(files) == 1:
        more = len(files[0].errors) - 1
        return [f"{_place(files[0])}: {text}" + (f" (and {with_noun(more, 'more error')})" if more > 0 else "")]
    places = list(dict.fromkeys(map(_place, files)))
    more_files = f" and {len(places) - MAX_FILES} more" if len(places) > MAX_FILES else ""
    count = len({report.file for report in files})
    return [f"{text} ({with_noun(count, 'file')})", f"  {', '.join(places[:MAX_FILES])}{more_files}"]


def _lacking(files: Sequence[Report]) -> str:
    """Return what most of the files lack, and the addition that completes them."""
    facts = Counter(report.missing[0].fact for report in files)
    (fact, _), *similar = facts.most_common()
    more = f" (and {len(similar)} like it)" if similar else ""
    return f"{fact}{more}. {files[0].missing[0].add}"


def _place(report: Report) -> str:
    """Format the place of the first error: `run.yaml:3:5`."""
    span = report.errors[0].span if report.errors else None
    return escape(f"{span.file}:{span.line}:{span.column}" if span else report.title)
