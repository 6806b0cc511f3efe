"""What came out of a file: the problem that it states, and everything that is wrong with how it states it."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Protocol

from .derivation import Derivation
from .findings.finding import Finding, Severity, Unchecked
from .job import Job
from .level import DEFAULT_LEVEL
from .machines.cluster import Cluster
from .problem import Problem
from .record import dataclass
from .scope import in_scope
from .text.document import Document
from .text.source import Source


class AsBefore(Protocol):
    """Reads another text of a file as the file was read, on other machines where these are named."""

    def __call__(self, text: str, machines: Cluster | None = None, /) -> Reading:
        """The text, read."""
        ...


class Opening(Protocol):
    """A file of a framework with components that are planned by their times."""

    def opened(self) -> Reading:
        """The file with the ranks of these components left open; their own are in `PlanningSpec.own`."""
        ...

    def refused(self) -> tuple[Finding, ...]:
        """An error where the framework refuses every choice of degrees that hints leave open."""
        ...


class Elsewhere(Protocol):
    """A file of a framework that accepts other counts on other machines."""

    def job_on(self, cluster: Cluster) -> Job | None:
        """The opened job on other machines, with what the framework accepts there; None where it cannot be read there."""
        ...


@dataclass(frozen=True)
class FileSession:
    """How a file is read once more: with another text, on other machines, or with its ranks open.

    Attributes
    ----------
    as_before : reads another text of it; None where nobody knows how it was read.
    opening : what is read where its ranks are opened; None where no component has both ranks and times.
    times_follow_ranks : whether the times that components then have can depend on the ranks of the file.
    elsewhere : reads what the framework accepts on other machines; None where it is the same there.
    told : whether it was told already that every choice of degrees is refused.
    """

    as_before: AsBefore | None = None
    opening: Opening | None = None
    times_follow_ranks: bool = False
    elsewhere: Elsewhere | None = None
    told: bool = False

    def read(self, text: str, machines: Cluster | None = None) -> Reading:
        """Another text of the file. Raises ValueError where nobody knows how it was read."""
        if self.as_before is None:
            raise ValueError("how the file was read is not known")
        return self.as_before(text, machines)

    def opened(self) -> Reading:
        """The file as a search is given it. Raises ValueError where nothing can be opened."""
        if self.opening is None:
            raise ValueError("no component has both ranks and times")
        return self.opening.opened()

    def refused(self) -> tuple[Finding, ...]:
        """Errors where every choice of degrees is refused (see `Opening.refused`), unless that was told already."""
        return () if self.opening is None or self.told else self.opening.refused()


@dataclass(frozen=True)
class Reading:
    """A file, read. `problem` is None where the findings left nothing to reason about.

    `derivations` say how the numbers of the job come about. Its cluster is the one that reasoning may use: the given machines with the node
    groups and hardware of the file. `level` is how much was judged, `machines` the whole cluster that the user named. `proves`: an error is a
    proved failure, which it is not of a program that is not known. `session` reads the file once more; with `opens` a search is given it
    with the ranks of components left open that are planned by their times.
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

    def judged(self, finding: Finding) -> Finding:
        """A finding of the rules about this file: no more than a warning where nothing is proved."""
        is_doubt = not self.proves and finding.severity is Severity.ERROR
        return replace(finding, severity=Severity.WARNING) if is_doubt else finding

    @property
    def source(self) -> Source:
        """The file that was read."""
        return self.document.source

    @property
    def failed(self) -> bool:
        """Is anything in it an error?"""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def to_solve(self) -> Reading:
        """What a search is given: this, or where components are planned by their times, the file with their ranks left open."""
        return self._beside(replace(self.session.opened().in_scope(), session=replace(self.session, told=True))) if self.opens else self

    def in_scope(self) -> Reading:
        """The same, with its problem as the scope of its plan has it."""
        return self if self.problem is None else replace(self, problem=in_scope(self.problem))

    def _beside(self, anew: Reading) -> Reading:
        """What was read anew, with what is wrong in this one alone: its own ranks and degrees are none that the framework runs."""
        problem, other = anew.problem, {(finding.code, finding.message) for finding in anew.findings}
        errors = (finding for finding in self.findings if finding.severity is Severity.ERROR)
        faults = tuple(f"{each.code}: {each.message}" for each in errors if (each.code, each.message) not in other)
        if not faults or problem is None or not problem.job.planning.own:
            return anew
        return replace(anew, problem=replace(problem, job=replace(problem.job, planning=replace(problem.job.planning, own_faults=faults))))

    @property
    def to_launch(self) -> Reading:
        """What a launch is given: this, where it places what could be planned by times itself; else what a search is given."""
        if self.failed or self.problem is None or not self.opens:
            return self
        planned = self.to_solve
        if planned.problem is None:
            return planned
        open_ = {component.name for component in planned.problem.hinted}
        return self if any(component.runs is not None and component.name in open_ for component in self.problem.components) else planned
