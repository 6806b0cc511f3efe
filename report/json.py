"""Reports as JSON with ``"schema": 1``."""

from __future__ import annotations

import json
from typing import Any, Iterable, Mapping

from ..models.findings.codes import url_of
from ..models.findings.finding import Finding, Unchecked
from ..models.findings.span import Span
from ..models.placements.placement import Placement
from ..models.placements.plan import Plan
from ..models.releases.choice import ReleaseChoice
from ..models.report import Report
from ..models.text.document import Program

SCHEMA = 1


def with_schema(**data: object) -> str:
    """Format data as JSON, with the version of the format."""
    return json.dumps({"schema": SCHEMA, **data}, indent=1)


def render(reports: Iterable[Report], placements: bool = False, findings: Iterable[Finding] = (), skipped: int = 0, site: str = "") -> str:
    """Format reports as JSON; `findings` concern the whole command, `skipped` counts files."""
    about_all = [finding_to_data(finding) for finding in findings]
    more: dict[str, object] = {**({"findings": about_all} if about_all else {}), **({"skipped": skipped} if skipped else {})}
    return with_schema(files=[report_to_data(report, placements, site) for report in reports], **more)


def attributes(value: object, *names: str) -> dict[str, Any]:
    """Return name -> attribute, for JSON."""
    return {name: getattr(value, name) for name in names}


def head_to_data(report: Report) -> dict[str, object]:
    """Convert how a file was read, the verdict and what it lacks to JSON data."""
    return {
        "dialect": report.dialect,
        "release": release_to_data(report.release),
        "level": report.level,
        "machines": report.machines or None,
        "verdict": report.verdict,
        "missing": [{"what": missing.fact, "add": missing.add} for missing in report.missing],
    }


def report_to_data(report: Report, placements: bool = False, site: str = "") -> dict[str, object]:
    """Convert a report to JSON data; `site` is the address of the documentation."""
    suppressions = [
        {**finding_to_data(item.finding, report.file, report.texts, site), "by": "comment" if item.in_source else "options"}
        for item in report.ignored
    ]
    return {
        "file": report.file,
        **program_to_data(report.program),
        **head_to_data(report),
        "findings": [finding_to_data(finding, report.file, report.texts, site) for finding in report.findings],
        **({"ignored": suppressions} if suppressions else {}),
        "unchecked": [unchecked_to_data(item) for item in report.unchecked],
        "components": plan_to_data(plan, placements) if (plan := report.plan or report.sizes) else {},
        "pending": list(report.pending),
    }


def release_to_data(choice: ReleaseChoice | None) -> dict[str, object] | None:
    """Convert the release of the verdict to JSON data; None for a native file."""
    if choice is None:
        return None
    return {"framework": choice.table.framework, "name": choice.release.name, "commit": choice.release.commit, "reason": choice.reason}


def program_to_data(program: Program | None) -> dict[str, object]:
    """Convert a started program to JSON data; empty for a configuration file."""
    if program is None or not program.name:
        return {}
    data = {"name": program.name, "line": program.span.line, "number": program.number, "of": program.count}
    return {"program": data}


def finding_to_data(finding: Finding, file: str = "", texts: Mapping[str, str] | None = None, site: str = "") -> dict[str, object]:
    """Convert a finding to JSON data; its file is added if it is not `file`.

    `texts` : file name -> text; with it the ends of places and the edits are added.
    """
    span, url = finding.span, url_of(finding.code, site)
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "subject": finding.subject,
        **({"also": list(finding.also)} if finding.also else {}),
        "message": finding.message,
        **(_place(span, file, texts) if span else {"line": None, "column": None}),
        "help": finding.help,
        **({"notes": list(finding.notes)} if finding.notes else {}),
        **({"edits": [{**_place(finding.edit.span, file, texts), "text": finding.edit.text}]} if finding.edit and texts else {}),
        **({"url": url} if url else {}),
    }


def _place(span: Span, file: str, texts: Mapping[str, str] | None) -> dict[str, object]:
    """Convert a place to JSON data; columns count characters from 1, the end is exclusive."""
    data: dict[str, object] = {"file": span.file} if file and span.file != file else {}
    data |= {"line": span.line, "column": span.column}
    if texts and span.file in texts:
        data["end_line"], data["end_column"] = span.end_in(texts[span.file])
    return data


def unchecked_to_data(item: Unchecked) -> dict[str, object]:
    """Convert an unchecked demand to JSON data."""
    return attributes(item, "rule", "subject", "why")


def plan_to_data(plan: Plan, placements: bool = False) -> dict[str, object]:
    """Convert components to JSON data: world size, and placements on request."""
    components: dict[str, object] = {}
    for name in plan.components:
        data: dict[str, object] = {"world_size": plan.assignment.world_size(name)}
        if placements:
            data["placements"] = [attributes(placement, *Placement.__slots__) for placement in plan.placements(name)]
        components[name] = data
    return components
