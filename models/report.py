"""Reports of a verification and of a conversion."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

from .findings.finding import Finding, IgnoredFinding, Missing, Severity, Unchecked, error
from .level import DEFAULT_LEVEL
from .machines.cluster import Cluster
from .placements.plan import Plan
from .record import dataclass
from .releases.choice import ReleaseChoice

if TYPE_CHECKING:
    from .text.document import Program

OK, INCOMPLETE, FAULTY, UNUSABLE = VERDICTS = ("ok", "incomplete", "faulty", "unusable")
EXIT_CODES = {OK: 0, INCOMPLETE: 5, FAULTY: 1, UNUSABLE: 2}
"""Verdict -> exit code of a command."""
REFUSED_SETTING = "PW012"
"""Code of a setting that Hydra refuses: the job fails, but the rest of the file is judged."""
_WORST_FIRST = (UNUSABLE, FAULTY, INCOMPLETE, OK)


def exit_code(verdicts: Iterable[str]) -> int:
    """Return the exit code for several files: that of the worst verdict."""
    present = set(verdicts)
    return next((EXIT_CODES[verdict] for verdict in _WORST_FIRST if verdict in present), 0)


@dataclass(frozen=True)
class Report:
    """Verdict on a file.

    Attributes
    ----------
    plan : placements of components with given ranks; None if the file has errors.
    sizes : sizes of the error-free components, shown beside the errors; only if `plan` is None.
    ignored : findings that the user ignores, which do not count for the verdict.
    texts : name -> text, for every text of the configuration.
    program : program that a script starts with it.
    missing : unknown inputs that decide the verdict, most urgent first.
    machines : shorthand such as ``2x8xH100``; "" if unknown.
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
    release: ReleaseChoice | None = None
    level: str = DEFAULT_LEVEL
    machines: str = ""
    sizes: Plan | None = None
    ignored: tuple[IgnoredFinding, ...] = ()

    @property
    def is_read(self) -> bool:
        """True if a dialect read the file."""
        return self.dialect != "unknown"

    @property
    def title(self) -> str:
        """Subject of the report: the file, and the program if the file starts several."""
        program = self.program
        if program is None or program.count < 2:
            return self.file
        return f"{self.file}, program {program.number} of {program.count} ({program.name} in line {program.span.line})"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """Errors; without any, the first missing input as an error."""
        return self.errors or tuple(
            error("PW013", "", missing.fact, help=missing.add[:1].lower() + missing.add[1:]) for missing in self.missing[:1]
        )

    def with_warnings_as_errors(self) -> Report:
        """Return the report with every warning as an error, with a note."""
        note = "a warning, made an error by `--warnings-as-errors`"
        findings = (
            replace(finding, severity=Severity.ERROR, notes=(*finding.notes, note)) if finding.severity is Severity.WARNING else finding
            for finding in self.findings
        )
        return replace(self, findings=tuple(findings))

    @property
    def verdict(self) -> str:
        """``ok`` (all checked, warnings allowed), ``incomplete``, ``faulty`` or ``unusable``."""
        if any(finding.unusable and not (finding.code == REFUSED_SETTING and self.is_read) for finding in self.errors):
            return UNUSABLE
        return FAULTY if self.errors else INCOMPLETE if self.missing else OK

    def __bool__(self) -> bool:
        """Return True if the verdict is ``ok``."""
        return self.verdict == OK


EXACT, LOSSY, REFUSED = "exact", "lossy", "refused"


@dataclass(frozen=True)
class Converted:
    """Result of a conversion.

    Attributes
    ----------
    file, source, target : the file, its dialect, and the requested dialect.
    verdict : ``exact`` (lossless), ``lossy`` (see `losses`), ``refused`` (errors in the file, or
        the target cannot express it), ``incomplete`` (the file places nothing without another input)
        or ``unusable`` (unreadable file, or unknown nodes).
    text : the new file; "" if there is none.
    losses : everything that the new file omits or states differently (PW605).
    renames : a note per component with another name in the new file, which is not a loss.
    release : release that the new file is for; None for a native file.
    """

    file: str
    source: str
    target: str
    verdict: str
    text: str = ""
    losses: tuple[Finding, ...] = ()
    renames: tuple[Finding, ...] = ()
    findings: Sequence[Finding] = ()
    cluster: Cluster | None = None
    release: ReleaseChoice | None = None
