"""Findings on a terminal, each with the lines of the file that it is about."""

from __future__ import annotations

import sys
from typing import Iterable, Mapping

from ...models.findings.finding import Finding
from ...models.text.files import text_of
from ...report.text import more_about, render_findings
from .colour import wants_colour
from .text import echo


def echo_findings(findings: Iterable[Finding], err: bool = False, texts: Mapping[str, str] | None = None) -> None:
    """Print findings as frames, a pointer to `explain`, and an empty line.

    `err` : print to standard error. `texts` : file name -> text; None to read the files.
    """
    listed_findings = tuple(findings)
    if texts is None:
        files = {span.file for finding in listed_findings for span in (finding.span, finding.origin) if span}
        texts = {file: text for file in files if (text := text_of(file))}
    blocks = [render_findings(listed_findings, texts, wants_colour(sys.stderr if err else sys.stdout)), more_about(listed_findings)]
    echo("\n\n".join(filter(None, blocks)) + "\n", err)
