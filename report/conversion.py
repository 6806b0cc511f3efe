"""Result of a conversion, as text and JSON."""

from __future__ import annotations

import json

from ..models.findings.wording import with_noun
from ..models.report import EXACT, LOSSY, Converted
from .json import SCHEMA, finding_to_data
from .terminal import escape
from .text import count_findings


def render_json(conversion: Converted) -> str:
    """Format verdict, text and losses as JSON; `findings` are the reasons of a refusal."""
    data = {
        "schema": SCHEMA,
        "file": conversion.file,
        "from": conversion.source,
        "to": conversion.target,
        "release": conversion.release.release.name if conversion.release is not None else None,
        "verdict": conversion.verdict,
        "text": conversion.text or None,
        "renames": [finding_to_data(rename, conversion.file) for rename in conversion.renames],
        "losses": [finding_to_data(loss, conversion.file) for loss in conversion.losses],
        "findings": [finding_to_data(finding, conversion.file) for finding in conversion.findings],
    }
    return json.dumps(data, indent=1)


def summary(conversion: Converted, output: str = "") -> str:
    """Format a line: file, dialects, losses, release and output."""
    subject = f"{escape(conversion.file)}: {conversion.source} to {conversion.target}"
    if conversion.verdict not in (EXACT, LOSSY):
        return f"{subject}: {conversion.verdict}, {count_findings(conversion.findings)}"
    verdict = f"lossy, {with_noun(len(conversion.losses), 'loss')}" if conversion.verdict == LOSSY else "exact"
    verdict += f", {len(conversion.renames)} renamed" * bool(conversion.renames)
    verdict += f", for {conversion.release}" if conversion.release is not None else ""
    return f"{subject}: {verdict}" + (f", written to {escape(output)}" if output else "")
