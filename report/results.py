"""Results of one command over several files, in a format for programs: a module of this folder each."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Callable, Sequence

from ..models.findings.codes import CODES
from ..models.findings.finding import Finding
from ..models.record import dataclass
from ..models.report import UNUSABLE, Report
from ..models.report import exit_code as worst_exit_code
from .json import render as render_json


@dataclass(frozen=True)
class VerifyResults:
    """Reports of a command.

    Attributes
    ----------
    reports : a report per file, or per program of a script.
    findings : findings about the whole command.
    skipped : number of files of a folder that place nothing.
    placements : True if every process is to be listed.
    site : address of the documentation; "" if unknown.
    page_of : function from a code to the text of its page.
    """

    reports: Sequence[Report] = ()
    findings: Sequence[Finding] = ()
    skipped: int = 0
    placements: bool = False
    site: str = ""
    page_of: Callable[[str], str] = CODES.__getitem__

    @property
    def exit_code(self) -> int:
        """Exit code of the command."""
        return worst_exit_code([*(report.verdict for report in self.reports), *(UNUSABLE for _ in self.findings)])


def render(form: str, results: VerifyResults) -> str:
    """Format the results, without a line end. Only the module of the format is loaded."""
    if form == "json":
        return render_json(results.reports, results.placements, results.findings, results.skipped, results.site)
    text: str = import_module(f".{form}", __package__).render(results)
    return text


def path_of(file: str) -> str:
    """Return a path below the current folder relative to it; other paths unchanged."""
    folder = os.path.join(os.getcwd(), "")
    return os.path.normpath(file[len(folder) :] if file.startswith(folder) else file)


def whole_message(finding: Finding) -> str:
    """Join message, notes and help of a finding, a line each."""
    lines = [finding.message, *(f"note: {note}" for note in finding.notes), f"help: {finding.help}" if finding.help else ""]
    return "\n".join(filter(None, lines))
