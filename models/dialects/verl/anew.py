"""Reading of a file; with times, pools are open, and written places are the baseline."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Mapping, Union

from ...configuration.settings import Amount
from ...findings.finding import Finding, Severity, Unchecked, warning
from ...hints.block import may_leave_degrees, timed_names
from ...job import Job
from ...level import DEFAULT_LEVEL
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared
from ...parallel import Parallel
from ...problem import Problem
from ...reading import FileSession, Reading
from ...record import dataclass
from ...text.document import Document
from ...text.tree import MapNode, find, leaves, with_value
from ..all_refused import Chosen, all_refused
from ..following import with_dependent_degrees, with_hint
from ..skeleton import HINTS
from .pools import FIT
from .programs import SPEC
from .reader import VerlReader
from .sizes import MOST_READ, PLANNED, Known, changed

Machines = Union[Cluster, AsDeclared, None]
_KEYS = re.compile(r"[\w.]+")


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """Read a document into a problem and findings. See `Dialect.read`."""
    reading = VerlReader(document, machines, level).read()
    hints = document.root.get(HINTS)
    if not timed_names(hints):
        is_open = reading.problem is not None and reading.problem.job.planning.laying is not None
        return replace(reading, session=FileSession(elsewhere=OpenSizes(document, level))) if is_open else reading
    opening = VerlOpening(document, machines, level, may_leave_degrees(hints))
    return replace(reading, session=FileSession(opening=opening, elsewhere=opening), opens=True)


@dataclass(frozen=True)
class OpenSizes:
    """File without times that leaves sizes of pools open; implements `Elsewhere`."""

    document: Document
    level: str

    def job_on(self, cluster: Cluster) -> Job | None:
        """See `Elsewhere.job_on`."""
        return VerlReader(self.document, cluster, self.level).with_accepted_sizes()


@dataclass(frozen=True)
class VerlOpening:
    """File with times; implements `Opening` and `Elsewhere`."""

    document: Document
    machines: Machines
    level: str
    leaves_degrees: bool

    def opened(self) -> Reading:
        """See `Opening.opened`."""
        known: Known = {}
        before = self._read(self.machines, known, open_=False)
        if before.problem is None:
            return before
        machines = self.machines if isinstance(self.machines, Cluster) else before.problem.cluster
        if refused := self._refused_on(machines):
            return replace(before, findings=(*before.findings, *refused))
        reading = self._read(machines, known)
        if reading.problem is None:
            return reading
        job, cluster = reading.problem.job, reading.problem.cluster
        if job.planning.laying is None and job.planning.workload is None and reading.failed:
            return reading  # the unreadable part has a finding of its own
        if job.planning.laying is None:
            unplanned = replace(reading.problem, job=replace(job, planning=replace(job.planning, workload=None)))
            return replace(reading, problem=unplanned, findings=(*reading.findings, self._nothing_planned()))
        # A pool of a given size moves while the pools before it are open.
        same = {component.name: component for component in before.problem.components if before.problem.cluster == cluster}
        placed = {
            component.name: runs
            for component in job.components
            if component.name in same and (runs := same[component.name].runs) is not None and component.runs != runs
        }
        assumed = [note for note in before.unchecked if note.rule == FIT and not note.subject and note not in reading.unchecked]
        job, refused = self._with_followers(reading, reading.problem, known)
        if len(known) >= MOST_READ:
            why = f"{MOST_READ:,} sizes with degrees were read; which of the others verl takes is judged once they are planned"
            assumed.append(Unchecked(PLANNED, "", why))
        servers = {name: server for name in same if name in placed and (server := same[name].server)}
        problem = replace(reading.problem, job=replace(job, planning=replace(job.planning, own=placed, own_servers=servers)))
        findings = (*reading.findings, *(refused if not reading.failed else ()))
        return replace(reading, problem=problem, findings=findings, unchecked=(*reading.unchecked, *assumed))

    def refused(self) -> tuple[Finding, ...]:
        """See `Opening.refused`."""
        return self._refused_on(self.machines) if self.leaves_degrees else ()

    def job_on(self, cluster: Cluster) -> Job | None:
        """See `Elsewhere.job_on`."""
        known: Known = {}
        reading = self._read(cluster, known)
        return self._with_followers(reading, reading.problem, known)[0] if reading.problem is not None else None

    def _read(self, machines: Machines, known: Known | None = None, root: MapNode | None = None, open_: bool = True) -> Reading:
        """Read the file, or another tree of it; `open_`: pools with times have no size."""
        document = self.document if root is None else replace(self.document, root=root)
        return VerlReader(document, machines, self.level, open_=open_, known=known).read()

    def _own(self, names: Mapping[str, object]) -> dict[str, Mapping[str, Amount]]:
        """Map components to their own degrees with the settings."""
        reader = VerlReader(self.document, self.machines, self.level, open_=True)
        return {name: reader.own(name) for name in names}

    def _refused_on(self, machines: Machines) -> tuple[Finding, ...]:
        """Return an error if verl refuses every open choice of degrees, on any size."""
        if not isinstance(machines, Cluster):
            problem = self._read(machines, open_=False).problem
            machines = problem.cluster if problem is not None else machines
        reading = self._read(machines)
        if reading.problem is None or reading.failed or not reading.problem.job.choices:
            return ()
        amounts = self._own(reading.problem.job.choices)

        def job_with(degrees: Chosen) -> Job | str:
            candidate = self._read(machines, root=self._with_degrees(degrees, amounts))
            error = next((finding.message for finding in candidate.findings if finding.severity is Severity.ERROR), "")
            return error or (candidate.problem.job if candidate.problem is not None else "the file cannot be read")

        return all_refused(reading.problem.job, job_with)

    def _with_followers(self, reading: Reading, problem: Problem, known: Known) -> tuple[Job, tuple[Finding, ...]]:
        """Add degrees that follow from open ones; refuse if no choice is accepted."""
        from ...hints.amount import KEY
        from ...hints.block import COMPONENTS, NAME

        root, planned, before, jobs = self.document.root, problem.job, _refusals(reading), list[Job]()
        choices = {name: every for name, every in planned.choices.items() if find(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}") is not None}
        amounts = self._own(choices)

        def job_with(degrees: Chosen) -> Job | str:
            candidate = self._read(problem.cluster, known, self._with_degrees(degrees, amounts))
            worse = next((message for key, message in _refusals(candidate).items() if key not in before), "")
            if worse or candidate.problem is None:
                return worse or "the file cannot be read"
            jobs.append(candidate.problem.job)
            return candidate.problem.job

        alone = replace(planned, choices=choices, planning=replace(planned.planning, followed=()))
        job, refused = with_dependent_degrees(alone, self._leaders(amounts), job_with)
        # Degrees that follow from sizes: of the file itself, and of the file with each choice.
        every_job, on_sizes = (planned, *jobs), dict[str, tuple[Parallel, ...]]()
        for name, degrees in (pair for variant in every_job for pair in variant.choices.items() if pair[0] not in choices):
            on_sizes[name] = tuple(dict.fromkeys((*on_sizes.get(name, ()), *degrees)))
        left = max(variant.planning.sizes_not_read for variant in every_job)
        by_size = job.planning.by_size.union(*(variant.planning.by_size for variant in every_job))
        planning = replace(job.planning, sizes_not_read=left, by_size=by_size)
        return replace(job, choices={**job.choices, **on_sizes}, planning=planning), refused

    def _leaders(self, amounts: Mapping[str, Mapping[str, Amount]]) -> list[str]:
        """Return the components whose open degrees an interpolation may refer to."""
        texts = (text for leaf in leaves(self.document.root) for _, marker, text in (leaf.text.partition("${"),) if marker)
        taken = {key.rpartition(".")[2] for text in texts for key in _KEYS.findall(text)}
        return [name for name in amounts if any(not taken.isdisjoint(amount.name.split(".")) for amount in amounts[name].values())]

    def _with_degrees(self, degrees: Chosen, amounts: Mapping[str, Mapping[str, Amount]]) -> MapNode:
        """Return the tree with new degrees in the hints and in verl's own keys."""
        root = self.document.root
        for name, parallel in degrees.items():
            root = with_hint(root, name, parallel)
            for degree, number in changed(amounts[name], parallel).items():
                root = with_value(root, amounts[name][degree].name, number)
        return root

    def _nothing_planned(self) -> Finding:
        root = self.document.root
        block, why = root.get(HINTS), "no pool of this program has a size of its own that could be chosen"
        if root.get(SPEC) is not None:
            why = f"the pools that `{SPEC}` names are taken as it has them, and none is planned"
        help_ = "drop the times, or plan a program with one pool, or with one to train in and one to generate in"
        return warning(PLANNED, HINTS, "the times of the file choose no ranks", block.span if block else None, help=help_, notes=(why,))


def _refusals(reading: Reading) -> dict[tuple[str, str], str]:
    """Map (code, subject) to verl's refusals of a file or of all pool sizes."""
    refused = (finding for finding in reading.findings if finding.severity is Severity.ERROR or finding.code == PLANNED)
    return {(finding.code, finding.subject): finding.message for finding in refused}
