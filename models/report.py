"""What verifying a file found out."""

from __future__ import annotations

from dataclasses import field
from typing import Iterable, Mapping

from .findings.finding import Finding, Missing, Severity, Unchecked
from .level import DEFAULT_LEVEL
from .placements.plan import Plan
from .record import dataclass
from .releases.choice import Choice
from .text.program import Program

OK, INCOMPLETE, FAULTY, UNUSABLE = VERDICTS = ("ok", "incomplete", "faulty", "unusable")
EXIT_CODES = {OK: 0, INCOMPLETE: 5, FAULTY: 1, UNUSABLE: 2}
"""Verdict -> what a command returns for it."""
_WORST_FIRST = (UNUSABLE, FAULTY, INCOMPLETE, OK)


def exit_code(verdicts: Iterable[str]) -> int:
    """Exit code of several files: that of the worst verdict."""
    found = set(verdicts)
    return next((EXIT_CODES[verdict] for verdict in _WORST_FIRST if verdict in found), 0)


@dataclass(frozen=True)
class Report:
    """The verdict on one file.

    `findings` are in the order of the texts, those of the file itself first. `plan` holds the placements of the components whose ranks are given; None
    if the file has errors. `sizes` are then those of the components that no error is about, to be shown beside the errors. `pending` names the components that are left to solve. `texts` holds
    every text that the configuration is made of, by its name. `program` is what a script starts with it.
    `missing` is what decides and is unknown, most urgent first. `release`, `level` and `machines` say what was judged:
    machines are ``2x8xH100``, or "" where they are unknown.
    """

    file: str
    dialect: str
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    plan: Plan | None = None
    pending: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    program: Program | None = None
    missing: tuple[Missing, ...] = ()
    release: Choice | None = None
    level: str = DEFAULT_LEVEL
    machines: str = ""
    sizes: Plan | None = None

    @property
    def title(self) -> str:
        """What the report is about: the file, and which of its programs if it starts several."""
        program = self.program
        if program is None or program.count < 2:
            return self.file
        return f"{self.file}, program {program.number} of {program.count} ({program.name} in line {program.span.line})"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def verdict(self) -> str:
        """``ok`` (all that placement needs was checked; warnings may be there), ``incomplete``, ``faulty`` or ``unusable``."""
        if any(finding.unusable for finding in self.errors):
            return UNUSABLE
        return FAULTY if self.errors else INCOMPLETE if self.missing else OK
