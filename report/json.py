"""Reports as JSON with ``"schema": 1``."""

from __future__ import annotations

import json
from typing import Iterable

from ..models.findings.finding import Finding, Unchecked
from ..models.placements.placement import Placement
from ..models.placements.plan import Plan
from ..models.releases.choice import ReleaseChoice
from ..models.report import Report
from ..models.text.document import Program

SCHEMA = 1


def render(reports: Iterable[Report], placements: bool = False, findings: Iterable[Finding] = (), skipped: int = 0) -> str:
    """Format reports as JSON; `findings` concern the whole command, `skipped` counts files."""
    data: dict[str, object] = {"schema": SCHEMA, "files": [report_to_data(report, placements) for report in reports]}
    about_all = [finding_to_data(finding) for finding in findings]
    data.update({"findings": about_all} if about_all else {}, **({"skipped": skipped} if skipped else {}))
    return json.dumps(data, indent=1)


def report_to_data(report: Report, placements: bool = False) -> dict[str, object]:
    """Convert a report to JSON data."""
    return {
        "file": report.file,
        **program_to_data(report.program),
        "dialect": report.dialect,
        "release": release_to_data(report.release),
        "level": report.level,
        "machines": report.machines or None,
        "verdict": report.verdict,
        "missing": [{"what": missing.fact, "add": missing.add} for missing in report.missing],
        "findings": [finding_to_data(finding, report.file) for finding in report.findings],
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


def finding_to_data(finding: Finding, file: str = "") -> dict[str, object]:
    """Convert a finding to JSON data; its file is added if it is not `file`."""
    elsewhere = finding.span and file and finding.span.file != file
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "subject": finding.subject,
        **({"also": list(finding.also)} if finding.also else {}),
        "message": finding.message,
        **({"file": finding.span.file} if finding.span and elsewhere else {}),
        "line": finding.span.line if finding.span else None,
        "column": finding.span.column if finding.span else None,
        "help": finding.help,
        **({"notes": list(finding.notes)} if finding.notes else {}),
    }


def unchecked_to_data(item: Unchecked) -> dict[str, object]:
    """Convert an unchecked demand to JSON data."""
    return {"rule": item.rule, "subject": item.subject, "why": item.why}


def plan_to_data(plan: Plan, placements: bool = False) -> dict[str, object]:
    """Convert components to JSON data: world size, and placements on request."""
    components: dict[str, object] = {}
    for name in plan.components:
        data: dict[str, object] = {"world_size": plan.assignment.world_size(name)}
        if placements:
            data["placements"] = [placement_to_data(placement) for placement in plan.placements(name)]
        components[name] = data
    return components


def placement_to_data(placement: Placement) -> dict[str, object]:
    """Convert a placement to JSON data, every field by name."""
    return {name: getattr(placement, name) for name in Placement.__slots__}
