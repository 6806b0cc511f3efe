"""Result of reading a file: the stated problem and all faults of the text."""

from __future__ import annotations

from dataclasses import field
from typing import Callable, Protocol

from .derivation import Derivation
from .findings.finding import Finding, Severity, Unchecked
from .job import Job
from .level import DEFAULT_LEVEL
from .machines.cluster import Cluster
from .problem import Problem
from .record import dataclass, replace
from .releases.release import Release
from .scope import widen_scope
from .text.document import Document
from .text.source import Source


class TextReader(Protocol):
    """Function to read another text of a file, on any cluster, in the same way."""

    def __call__(self, text: str, machines: Cluster | None = None, /) -> Reading:
        """Return the reading of the text."""
        ...


class RankOpener(Protocol):
    """File of a framework with components that are planned by time."""

    def open_ranks(self) -> Reading:
        """Return the reading with open ranks; the old ranks are in `PlanningSpec.own`."""
        ...

    def find_refusals(self) -> tuple[Finding, ...]:
        """Return an error if the framework refuses every open choice of degrees."""
        ...


class ClusterReader(Protocol):
    """File of a framework with cluster-dependent counts."""

    def job_on(self, cluster: Cluster) -> Job | None:
        """Return the opened job for another cluster; None if unreadable there."""
        ...


@dataclass(frozen=True)
class FileSession:
    """Session of a file: reads another text, another cluster, or open ranks.

    Attributes
    ----------
    as_before : reads another text of the file; None if the way of reading is unknown.
    opening : reader with open ranks; None if no component has both ranks and times.
    times_follow_ranks : True if the times with open ranks can depend on the ranks of the file.
    elsewhere : reads what the framework accepts on other clusters; None if nothing changes.
    refusal_reported : True if the refusal of all degrees was already reported.
    for_release : reads the file for another release; None if the release is stated, and for
        open ranks.
    """

    as_before: TextReader | None = None
    opening: RankOpener | None = None
    times_follow_ranks: bool = False
    elsewhere: ClusterReader | None = None
    refusal_reported: bool = False
    for_release: Callable[[Release], Reading] | None = None

    def read(self, text: str, machines: Cluster | None = None) -> Reading:
        """Return the reading of another text. Raises ValueError if that is impossible."""
        if self.as_before is None:
            raise ValueError("how the file was read is not known")
        return self.as_before(text, machines)

    def open_ranks(self) -> Reading:
        """Return the reading for a search. Raises ValueError if nothing can be opened."""
        if self.opening is None:
            raise ValueError("no component has both ranks and times")
        return self.opening.open_ranks()

    def find_refusals(self) -> tuple[Finding, ...]:
        """Return unreported errors about refused degrees (see `RankOpener.find_refusals`)."""
        return () if self.opening is None or self.refusal_reported else self.opening.find_refusals()


@dataclass(frozen=True)
class Reading:
    """Reading of a file.

    Attributes
    ----------
    problem : problem on the usable cluster, with the file's node groups and hardware; None after
        findings that leave no problem.
    derivations : how the numbers of the job were computed.
    opens : True if a search gets the file with open ranks of components that are planned by time.
    machines : whole cluster that the user named.
    proves : True if an error is a proved failure; False for an unknown program.
    """

    document: Document
    dialect: str
    problem: Problem | None
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    session: FileSession = field(default=FileSession(), compare=False, repr=False)
    opens: bool = field(default=False, compare=False, repr=False)
    level: str = DEFAULT_LEVEL
    machines: Cluster | None = field(default=None, compare=False, repr=False)
    proves: bool = True

    def judge(self, finding: Finding) -> Finding:
        """Return a rule's finding; an error becomes a warning if nothing is proved."""
        doubt = self.document.release.doubt if self.document.release is not None else ""
        if finding.severity is not Severity.ERROR or (self.proves and not doubt):
            return finding
        return replace(finding, severity=Severity.WARNING, notes=(*finding.notes, doubt) if doubt else finding.notes)

    @property
    def source(self) -> Source:
        """Source of the file."""
        return self.document.source

    @property
    def failed(self) -> bool:
        """True if the file has an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def to_solve(self) -> Reading:
        """Reading for a search: with open ranks if components are planned by time."""
        one_release = self.for_one_release()
        if not one_release.opens:
            return one_release
        session = replace(one_release.session, refusal_reported=True, for_release=None)
        return one_release._keep_own_errors(replace(one_release.session.open_ranks().widen(), session=session, machines=self.machines))

    def for_one_release(self) -> Reading:
        """Return the reading for its release alone: what other releases accept is an error again."""
        if self.session.for_release is None:
            return self
        findings = tuple(replace(finding, severity=Severity.ERROR) if finding.disputed else finding for finding in self.findings)
        return replace(self, findings=findings, session=replace(self.session, for_release=None))

    def widen(self) -> Reading:
        """Return the reading with the problem widened to the scope of the plan."""
        problem = self.problem and widen_scope(self.problem)
        return self if problem is self.problem else replace(self, problem=problem)

    def _keep_own_errors(self, anew: Reading) -> Reading:
        """Return a new reading with own errors as faults of the file's ranks."""
        problem, new_findings = anew.problem, {(finding.code, finding.message) for finding in anew.findings}
        errors = (finding for finding in self.findings if finding.severity is Severity.ERROR)
        faults = tuple(f"{finding.code}: {finding.message}" for finding in errors if (finding.code, finding.message) not in new_findings)
        if not faults or problem is None or not problem.job.planning.own:
            return anew
        return replace(anew, problem=replace(problem, job=replace(problem.job, planning=replace(problem.job.planning, own_faults=faults))))

    @property
    def to_launch(self) -> Reading:
        """Reading for a launch: this one if it ranks all that could be planned, else `to_solve`."""
        one_release = self.for_one_release()
        if one_release.failed or one_release.problem is None or not one_release.opens:
            return one_release
        reading = one_release.to_solve
        if reading.problem is None:
            return reading
        open_names = {component.name for component in reading.problem.hinted}
        is_ranked = any(component.runs is not None and component.name in open_names for component in one_release.problem.components)
        return one_release if is_ranked else reading
