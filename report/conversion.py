"""Result of a conversion, as text and JSON."""

from __future__ import annotations

from ..models.findings.wording import with_noun
from ..models.report import EXACT, LOSSY, Converted
from .json import finding_to_data, with_schema
from .terminal import escape
from .text import count_findings


def render_json(conversion: Converted) -> str:
    """Format verdict, text and losses as JSON; `findings` are the reasons of a refusal."""
    lists = {
        name: [finding_to_data(finding, conversion.file) for finding in getattr(conversion, name)]
        for name in ("renames", "losses", "findings")
    }
    release = conversion.release.release.name if conversion.release is not None else None
    facts = {"file": conversion.file, "from": conversion.source, "to": conversion.target, "release": release}
    return with_schema(**facts, verdict=conversion.verdict, text=conversion.text or None, **lists)


def summary(conversion: Converted, output: str = "") -> str:
    """Format a line: file, dialects, losses, release and output."""
    subject = f"{escape(conversion.file)}: {conversion.source} to {conversion.target}"
    if conversion.verdict not in (EXACT, LOSSY):
        return f"{subject}: {conversion.verdict}, {count_findings(conversion.findings)}"
    verdict = f"lossy, {with_noun(len(conversion.losses), 'loss')}" if conversion.verdict == LOSSY else "exact"
    verdict += f", {len(conversion.renames)} renamed" * bool(conversion.renames)
    verdict += f", for {conversion.release}" if conversion.release is not None else ""
    return f"{subject}: {verdict}" + (f", written to {escape(output)}" if output else "")
