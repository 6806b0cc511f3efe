"""Reports as text for a terminal; the last line is the verdict."""

from __future__ import annotations

from collections import Counter
from typing import Iterable, Mapping, Sequence

from ..models.findings.codes import topic_of
from ..models.findings.finding import Finding, Missing, Severity, Unchecked
from ..models.findings.wording import with_noun
from ..models.level import PLACEMENT
from ..models.ranks import merge
from ..models.report import FAULTY, INCOMPLETE, OK, UNUSABLE, Report
from .frame import frame
from .table import components_table, placements_table
from .terminal import escape, paint

STYLES = {OK: "green", INCOMPLETE: "yellow", FAULTY: "red", UNUSABLE: "red"}
"""Colour of each verdict, in the order of a summary."""
MORE = 4
"""Maximum number of codes named for `explain`, and of broken files."""
MAX_NAMES = 20
"""Maximum number of components named for an unchecked rule."""


def render(report: Report, placements: bool = False, sizes: bool = True, colour: bool = False) -> str:
    """Format the report of a file; `sizes` adds components, `placements` every process."""
    blocks = [render_findings(report.findings, report.texts, colour)]
    if report.plan and report.plan.components:
        blocks.append(components_table(report.plan) if sizes else "")
        blocks += [placements_table(report.plan, name) for name in report.plan.components if placements]
    if sizes and report.sizes and report.sizes.components:
        blocks.append(f"without errors:\n{components_table(report.sizes)}")
    blocks.append(render_unchecked(report.unchecked))
    blocks.append(more_about(report.findings) if sizes else "")
    texts = [block for block in blocks if block]
    return "\n\n".join([*texts, verdict(report, colour)])


def render_brief(report: Report, colour: bool = False) -> str:
    """Format errors and verdict of a file; "" for a plain `ok`."""
    if is_plain_ok(report):
        return ""
    return "\n\n".join(filter(None, [render_findings(report.errors, report.texts, colour), verdict(report, colour)]))


def is_plain_ok(report: Report) -> bool:
    """Return True for a file that is ok without ignoring an error."""
    return report.verdict == OK and not hides_errors(report)


def hides_errors(report: Report) -> bool:
    """Return True if an error of the file is ignored."""
    return any(item.finding.severity is Severity.ERROR for item in report.ignored)


def render_findings(findings: Iterable[Finding], texts: Mapping[str, str], colour: bool = False) -> str:
    """Format findings as frames, separated by empty lines. `texts` : file name -> text."""
    return "\n\n".join(frame(finding, texts, colour) for finding in findings)


def more_about(findings: Iterable[Finding]) -> str:
    """Format the `explain` command for the errors; "" without any."""
    codes = list(dict.fromkeys(finding.code for finding in findings if finding.severity is Severity.ERROR))
    return f"`placewright explain {' '.join(codes[:MORE])}` says more" if codes else ""


def render_unchecked(unchecked: Iterable[Unchecked], title: str = "not checked") -> str:
    """Format unchecked demands, a line per rule and reason; "" without any."""
    subjects: dict[tuple[str, str], list[str]] = {}
    for item in unchecked:
        subjects.setdefault((item.rule, item.why), []).append(item.subject)
    lines = []
    for (rule, why), names_of_rule in subjects.items():
        every = list(dict.fromkeys(escape(name) for name in names_of_rule if name))
        names = ", ".join(every[:MAX_NAMES]) + (f" and {len(every) - MAX_NAMES} more" if len(every) > MAX_NAMES else "")
        lines.append(f"  {escape(rule)}{' ' + names if names else ''}: {escape(why)}")
    return "\n".join([f"{title}:", *lines]) if lines else ""


def verdict(report: Report, colour: bool = False) -> str:
    """Format the verdict line: file, verdict, scope, size, unchecked demands."""
    word, counts = report.verdict, _join(count_findings(report.findings), ignored_counts([report]))
    style = STYLES[INCOMPLETE] if word == OK and hides_errors(report) else STYLES[word]
    head = f"{escape(report.title)}: {paint(word, style, colour)}: "
    pending = f"to solve: {', '.join(map(escape, report.pending))}" if report.pending else ""
    if word == UNUSABLE:
        return head + paint(counts, style, colour)
    if word == FAULTY:
        return head + _join(paint(counts, style, colour), scope(report), _not_checked(report))
    if word == OK and hides_errors(report):
        return head + _join(counts, scope(report), _size(report), pending, _not_checked(report))
    if word == OK:
        return head + _join(scope(report), counts, _size(report), pending, _not_checked(report))
    first = report.missing[0]
    about = _join(scope(report), counts, _size(report), pending, _not_checked(report, besides=first))
    return f"{head}{escape(first.fact)}. {escape(first.add)} ({about})"


def scope(report: Report) -> str:
    """Format the scope: `placement and training arithmetic of verl 0.9.0 (stated) on 2x8xH100`."""
    if not report.is_read:
        return "nothing read"
    extent = "placement" if report.level == PLACEMENT else "placement and training arithmetic"
    subject = str(report.release) if report.release else f"a {report.dialect} file"
    return f"{extent} of {escape(subject)}{f' on {escape(report.machines)}' if report.machines else ''}"


def _not_checked(report: Report, besides: Missing | None = None) -> str:
    """Format unchecked demands briefly: `not checked: memory, batches`."""
    topics = dict.fromkeys(topic_of(item.rule) for item in report.unchecked)
    if besides is not None:
        topics = {topic: None for topic in topics if not besides.fact.startswith(f"{topic} not checked: ")}
    return f"not checked: {', '.join(topics)}" if topics else ""


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def count_findings(findings: Iterable[Finding]) -> str:
    """Format counts such as `2 errors, 1 warning`, without zeros."""
    by_severity = dict.fromkeys(Severity, 0)
    for finding in findings:
        by_severity[finding.severity] += 1
    return ", ".join(with_noun(count, severity.value) for severity, count in by_severity.items() if count)


def ignored_counts(reports: Iterable[Report]) -> str:
    """Format the number of ignored findings: `1 error, 2 warnings ignored`; "" without any."""
    findings = [item.finding for report in reports for item in report.ignored]
    return f"{count_findings(findings)} ignored" if findings else ""


def summary(reports: Sequence[Report], skipped: int = 0, colour: bool = False, broken: Sequence[str] = ()) -> str:
    """Format the summary of several files: codes, skipped and `broken` files, `explain`, verdicts."""
    lines = [_format_codes(reports, severity) for severity in (Severity.ERROR, Severity.WARNING)]
    if passed_over := skipped - len(broken):
        lines.append(f"{with_noun(passed_over, 'file')} {'places' if passed_over == 1 else 'place'} nothing")
    if broken:
        more = f" and {len(broken) - MORE} more" if len(broken) > MORE else ""
        lines.append(f"not read, as YAML is broken there: {', '.join(map(escape, broken[:MORE]))}{more}")
    lines.append(more_about(finding for report in reports for finding in report.findings))
    return "\n".join([*filter(None, lines), verdicts(reports, colour)])


def _format_codes(reports: Sequence[Report], severity: Severity) -> str:
    """Format codes such as `28 files with errors: PW116 x34`; "" without any."""
    file_codes = [(report.file, finding.code) for report in reports for finding in report.findings if finding.severity is severity]
    counts = Counter(code for _, code in file_codes)
    if not counts:
        return ""
    codes_text = ", ".join(f"{code} x{counts[code]}" for code in sorted(counts))
    return f"{with_noun(len({file for file, _ in file_codes}), 'file')} with {severity.value}s: {codes_text}"


def verdicts(reports: Sequence[Report], colour: bool = False) -> str:
    """Format the number of files by verdict: `3 files: 2 ok, 1 faulty`."""
    words = [report.verdict for report in reports]
    parts = [paint(f"{words.count(word)} {word}", style, colour) for word, style in STYLES.items() if word in words]
    files = sum(report.program is None or report.program.number == 1 for report in reports)
    programs = f", {with_noun(len(reports), 'program')}" if files != len(reports) else ""
    return _join(f"{with_noun(files, 'file')}{programs}: {', '.join(parts)}", ignored_counts(reports))


def _size(report: Report) -> str:
    if not report.plan or not report.plan.components:
        return ""
    assignment = report.plan.assignment
    processes = sum(map(assignment.world_size, report.plan.components))
    nodes = sum(map(len, merge([ranks for name in report.plan.components for ranks in assignment.node_ranges(name)])))
    counts = with_noun(len(report.plan.components), "component"), with_noun(processes, "process", ","), with_noun(nodes, "node", ",")
    return f"{counts[0]}, {counts[1]} on {counts[2]}"
