"""Result of a conversion, as text and JSON."""

from __future__ import annotations

import json

from ..models.findings.wording import with_noun
from ..models.report import EXACT, LOSSY, Converted
from .json import SCHEMA, finding_to_data
from .terminal import escape
from .text import count_findings


def render_json(done: Converted) -> str:
    """Format verdict, text and losses as JSON; `findings` are the reasons of a refusal."""
    data = {
        "schema": SCHEMA,
        "file": done.file,
        "from": done.source,
        "to": done.target,
        "verdict": done.verdict,
        "text": done.text or None,
        "renames": [finding_to_data(rename, done.file) for rename in done.renames],
        "losses": [finding_to_data(loss, done.file) for loss in done.losses],
        "findings": [finding_to_data(finding, done.file) for finding in done.findings],
    }
    return json.dumps(data, indent=1)


def summary(done: Converted, output: str = "") -> str:
    """Format a line: file, dialects, losses, output, and how to check it."""
    way = f"{escape(done.file)}: {done.source} to {done.target}"
    if done.verdict not in (EXACT, LOSSY):
        return f"{way}: {done.verdict}, {count_findings(done.findings)}"
    verdict = f"lossy, {with_noun(len(done.losses), 'loss')}" if done.verdict == LOSSY else "exact"
    verdict += f", {len(done.renames)} renamed" * bool(done.renames)
    return f"{way}: {verdict}" + (f", written to {escape(output)}" if output else "")
