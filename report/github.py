"""Findings as workflow commands, which GitHub Actions shows as annotations of a pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of
actions/toolkit, packages/core/src/command.ts (escapeData, escapeProperty).
"""

from __future__ import annotations

from ..models.findings.finding import Finding, Severity
from ..models.report import INCOMPLETE, Report
from .results import VerifyResults, path_of, whole_message
from .terminal import escape
from .text import verdicts

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(results: VerifyResults) -> str:
    """Format a command per finding and per incomplete file; the last line counts verdicts."""
    lines = [_command(finding, None) for finding in results.findings]
    for report in results.reports:
        lines += [_command(finding, report) for finding in report.findings]
        if report.verdict == INCOMPLETE:
            message = "\n".join(f"{missing.fact}. {missing.add}" for missing in report.missing)
            lines.append(f"::warning file={_property(path_of(report.file))},title=incomplete::{_data(message)}")
    return "\n".join([*lines, *([verdicts(results.reports)] if results.reports else [])])


def _command(finding: Finding, report: Report | None) -> str:
    span, properties = finding.span, dict[str, str]()
    if report is not None:
        properties["file"] = path_of(span.file if span else report.file)
    if span is not None:
        end_line, end_column = span.end_in(report.texts.get(span.file, "") if report is not None else "")
        properties |= {"line": str(span.line), "endLine": str(end_line)}
        if end_line == span.line:  # GitHub refuses columns of several lines
            properties |= {"col": str(span.column), "endColumn": str(end_column)}
    properties["title"] = finding.code
    parameters = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {parameters}::{_data(whole_message(finding))}"


def _data(text: str) -> str:
    """Escape a message; line ends stay line ends of the annotation."""
    return "%0A".join(escape(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    """Escape the value of a property."""
    return escape(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
