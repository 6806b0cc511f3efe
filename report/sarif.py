"""Reports as SARIF 2.1.0, which code scanning of GitHub, GitLab and Azure reads.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", errata 01.
"""

from __future__ import annotations

import json
import os
from typing import Mapping
from urllib.parse import quote

from ..models.findings.codes import CODES, url_of
from ..models.findings.finding import Finding
from ..models.findings.span import Span
from ..models.report import UNUSABLE, Report
from .results import VerifyResults, path_of, whole_message
from .version import version

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LINE_ENDS = ["\r\n", "\n", "\r", "\x85", "\u2028", "\u2029"]
"""Ends of lines by which places are counted: those of YAML 1.1."""
Data = dict[str, object]


def render(results: VerifyResults) -> str:
    """Format the reports as a SARIF log of one run."""
    results_of_runs = [(finding, report, None) for report in results.reports for finding in report.findings]
    suppressions = [(item.finding, report, item.in_source) for report in results.reports for item in report.ignored]
    codes = sorted({finding.code for finding, *_ in (*results_of_runs, *suppressions)} | {finding.code for finding in results.findings})
    number = version()
    driver: Data = {"name": "placewright", **({"version": number} if number else {})}
    driver["rules"] = [_rule(code, results) for code in codes]
    run: Data = {
        "tool": {"driver": driver},
        "invocations": [_invocation(results)],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": _LINE_ENDS,
        "results": [_result(*result, codes) for result in (*results_of_runs, *suppressions)],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(code: str, results: VerifyResults) -> Data:
    url = url_of(code, results.site)
    page = {"text": results.page_of(code)}
    return {"id": code, "shortDescription": {"text": CODES[code]}, "help": page, **({"helpUri": url} if url else {})}


def _invocation(results: VerifyResults) -> Data:
    """Return the end of the command; incomplete files and its own findings are notifications."""
    notifications = [_notification(finding.severity.value, finding.code, whole_message(finding)) for finding in results.findings]
    notifications += [
        {**_notification("warning", "incomplete", f"{missing.fact}. {missing.add}"), "locations": [_location(report, None)]}
        for report in results.reports
        for missing in report.missing
    ]
    unusable = bool(results.findings) or any(report.verdict == UNUSABLE for report in results.reports)
    data: Data = {"executionSuccessful": not unusable, "exitCode": results.exit_code}
    return {**data, "toolExecutionNotifications": notifications} if notifications else data


def _notification(level: str, identifier: str, text: str) -> Data:
    return {"level": level, "descriptor": {"id": identifier}, "message": {"text": text}}


def _result(finding: Finding, report: Report, in_source: bool | None, codes: list[str]) -> Data:
    """Return a finding; `in_source` is None if it is not ignored."""
    data: Data = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity.value,
        "message": {"text": whole_message(finding)},
        "locations": [_location(report, finding.span)],
    }
    if in_source is not None:
        data["suppressions"] = [{"kind": "inSource" if in_source else "external"}]
    if finding.origin:
        data["relatedLocations"] = [{**_location(report, finding.origin), "message": {"text": finding.origin_label}}]
    if finding.edit and finding.edit.span.file in report.texts:
        replacement = {"deletedRegion": _region(finding.edit.span, report.texts), "insertedContent": {"text": finding.edit.text}}
        change = {"artifactLocation": _artifact(finding.edit.span.file), "replacements": [replacement]}
        data["fixes"] = [{"description": {"text": finding.help}, "artifactChanges": [change]}]
    return data


def _location(report: Report, span: Span | None) -> Data:
    place: Data = {"artifactLocation": _artifact(span.file if span else report.file)}
    if span is not None:
        place["region"] = _region(span, report.texts)
    return {"physicalLocation": place}


def _region(span: Span, texts: Mapping[str, str]) -> Data:
    end_line, end_column = span.end_in(texts.get(span.file, ""))
    return {"startLine": span.line, "startColumn": span.column, "endLine": end_line, "endColumn": end_column}


def _artifact(file: str) -> Data:
    path = path_of(file)
    uri = quote(os.fsencode(path))
    return {"uri": f"file://{uri}"} if os.path.isabs(path) else {"uri": uri, "uriBaseId": "%SRCROOT%"}
