"""What came out of a file: the problem that it states, and everything that is wrong with how it states it."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Callable

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


@dataclass(frozen=True)
class Reading:
    """A file, read. `problem` is None where the findings left nothing to reason about.

    `anew` reads the file once more with the ranks of the components left open that are planned by their times, whose own ranks then are in
    `Job.own`; None where no component has both. With `times_of_ranks` the times that it then has can depend on the ranks of the file.
    `choices_refused` tells whether the framework refuses every choice of degrees that hints leave open; None where it was told already.
    `taken_on` reads it on other machines, and gives the job there, of whose `Job.accepted` and what follows from degrees that is another;
    None where that is the same. `again` reads another text of the same file as this one was read, on other machines where these are named;
    None where nobody knows how that was. `derivations` say how the numbers of the job come about. Its cluster is the one that reasoning may
    use: the given machines with the node groups and hardware of the file. `level` is how much was judged, `machines` the
    whole cluster that the user named. `proves`: an error is a proved failure, which it is not of a program that is not known.
    """

    document: Document
    dialect: str
    problem: Problem | None
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    anew: Callable[[], Reading] | None = field(default=None, compare=False, repr=False)
    choices_refused: Callable[[], tuple[Finding, ...]] | None = field(default=None, compare=False, repr=False)
    times_of_ranks: bool = field(default=False, compare=False, repr=False)
    taken_on: Callable[[Cluster], Job | None] | None = field(default=None, compare=False, repr=False)
    again: Callable[[str, Cluster | None], Reading] | None = field(default=None, compare=False, repr=False)
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
        return self._beside(replace(self.anew().in_scope(), again=self.again)) if self.anew else self

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
        if self.failed or self.problem is None or self.anew is None:
            return self
        planned = self.to_solve
        if planned.problem is None:
            return planned
        open_ = {component.name for component in planned.problem.hinted}
        return self if any(component.runs is not None and component.name in open_ for component in self.problem.components) else planned
