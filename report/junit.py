"""Reports as JUnit XML: a test case per file, for the test views of CI systems.

Source: Jenkins xUnit plugin, `junit-10.xsd`.
"""

from __future__ import annotations

from typing import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from ..models.findings.finding import Finding
from ..models.report import FAULTY, INCOMPLETE, UNUSABLE, Report
from .results import VerifyResults
from .terminal import escape
from .text import count_findings, render_findings, verdict


def render(results: VerifyResults) -> str:
    """Format the reports as XML, in ASCII."""
    tests = len(results.reports) + bool(results.findings)
    verdicts = [report.verdict for report in results.reports]
    counts = {"tests": tests, "failures": verdicts.count(FAULTY), "errors": verdicts.count(UNUSABLE) + bool(results.findings)}
    attributes = {name: str(count) for name, count in counts.items()}
    root = Element("testsuites", {"name": "placewright", **attributes})
    suite = SubElement(root, "testsuite", {"name": "placewright verify", **attributes, "skipped": str(verdicts.count(INCOMPLETE))})
    if results.findings:
        case = SubElement(suite, "testcase", name="command line", classname="placewright")
        _add_failure(case, "error", results.findings, Report("", ""))
    for report in results.reports:
        _add_case(suite, report)
    text: bytes = tostring(root, encoding="us-ascii")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + text.decode()


def _add_case(suite: Element, report: Report) -> None:
    """Add a file: errors fail it, warnings and notes are its output."""
    case = SubElement(suite, "testcase", name=escape(report.title), classname=f"placewright.{report.dialect}")
    if report.errors:
        _add_failure(case, "error" if report.verdict == UNUSABLE else "failure", report.errors, report)
    elif report.missing:
        message = " ".join(f"{missing.fact}. {missing.add}." for missing in report.missing)
        SubElement(case, "skipped", type=INCOMPLETE, message=escape(message))
    remarks = [finding for finding in report.findings if finding not in report.errors]
    SubElement(case, "system-out").text = "\n\n".join(filter(None, [render_findings(remarks, report.texts), verdict(report)]))


def _add_failure(case: Element, kind: str, findings: Sequence[Finding], report: Report) -> None:
    """Add a failure of all findings: readers look at the first one of a test case only."""
    codes = " ".join(dict.fromkeys(finding.code for finding in findings))
    message = f"{count_findings(findings)}: {escape(findings[0].message)}"
    SubElement(case, kind, type=codes, message=message).text = render_findings(findings, report.texts)
