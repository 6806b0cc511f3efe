"""Result of a conversion, as text and JSON."""

from __future__ import annotations

from typing import Iterable

from ..models.findings.finding import Finding
from ..models.findings.wording import with_noun
from ..models.report import EXACT, LOSSY, Converted
from .json import finding_to_data, with_schema
from .terminal import escape
from .text import count_findings


def render_json(conversion: Converted) -> str:
    """Format verdict, text and losses as JSON; `findings` are the reasons of a refusal."""

    def listed(findings: Iterable[Finding]) -> list[dict[str, object]]:
        return [finding_to_data(finding, conversion.file) for finding in findings]

    return with_schema(
        file=conversion.file, **{"from": conversion.source}, to=conversion.target, verdict=conversion.verdict, text=conversion.text or None,
        renames=listed(conversion.renames), losses=listed(conversion.losses), findings=listed(conversion.findings),
    )  # fmt: skip


def summary(conversion: Converted, output: str = "") -> str:
    """Format a line: file, dialects, losses, output, and how to check it."""
    subject = f"{escape(conversion.file)}: {conversion.source} to {conversion.target}"
    if conversion.verdict not in (EXACT, LOSSY):
        return f"{subject}: {conversion.verdict}, {count_findings(conversion.findings)}"
    verdict = f"lossy, {with_noun(len(conversion.losses), 'loss')}" if conversion.verdict == LOSSY else "exact"
    verdict += f", {len(conversion.renames)} renamed" * bool(conversion.renames)
    return f"{subject}: {verdict}" + (f", written to {escape(output)}" if output else "")
