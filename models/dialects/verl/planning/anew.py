"""A file with times, read once more: its pools are open, and where it places them itself is kept beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence, Union

from ....findings.finding import Finding, Severity, Unchecked, warning
from ....job import Job
from ....machines.cluster import Cluster
from ....machines.shorthand import AsDeclared
from ....placements.run import Run
from ....problem import Problem
from ....reading import Reading
from ....text.tree import Mapping
from ...all_refused import Chosen, all_refused
from ...following import following
from ..entries.which import SPEC, TOPOLOGY
from ..pools.declared import FIT
from .degrees import leaders, opened, with_degrees
from .opening import PLANNED, Own, with_sizes
from .refused import MOST_READ, Known

HINTS = "placewright"
Read = Callable[[Union[Cluster, AsDeclared, None], bool, Union[Mapping, None], Union[Known, None]], Reading]


def anew(read: Read, root: Mapping, machines: Cluster | AsDeclared | None, own: Own) -> Reading:
    """The file as it is planned.

    `read` is given the machines, whether pools with times are open, another tree than its `root`, and what is known of what verl refuses;
    without that no size is judged.
    """
    known: Known = {}
    before = read(machines, False, None, known)
    if before.problem is None:
        return before
    machines = machines if isinstance(machines, Cluster) else before.problem.cluster
    if refused := choices_refused(read, root, machines, own):
        return replace(before, findings=(*before.findings, *refused))
    found = read(machines, True, None, known)
    if found.problem is None:
        return found
    job, cluster = found.problem.job, found.problem.cluster
    open_ = {each.name for each in job.components if each.runs is None}
    if job.laying is None and job.workload is None and found.failed:
        return found  # what is planned could not be read, which is told where that stands
    if job.laying is None:
        unplanned = replace(found.problem, job=replace(job, workload=None))
        return replace(found, problem=unplanned, findings=(*found.findings, _nothing_planned(found)))
    fits = before.problem.cluster is cluster or before.problem.cluster == cluster
    # A pool whose size is given lies where those before it leave it room: elsewhere, while these are open.
    moved = {each.name for each in job.components if each.runs is not None and each.runs != _runs(before.problem, each.name)}
    placed = {name: runs for name in open_ | moved if fits and (runs := _runs(before.problem, name)) is not None}
    assumed = [each for each in before.unchecked if each.rule == FIT and not each.subject and each not in found.unchecked]

    def taken_on(other: Cluster) -> Job | None:
        its: Known = {}
        there = read(other, True, None, its)
        return _with_followers(there, there.problem, read, root, own, its)[0] if there.problem is not None else None

    job, refused = _with_followers(found, found.problem, read, root, own, known)
    findings = (*found.findings, *(refused if not found.failed else ()))
    if len(known) >= MOST_READ:
        why = f"{MOST_READ:,} sizes with degrees were read; which of the others verl takes is judged once they are planned"
        assumed.append(Unchecked(PLANNED, "", why))
    servers = {each.name: each.server for each in before.problem.components if each.name in placed and each.server}
    problem = replace(found.problem, job=replace(job, own=placed, own_servers=servers))
    return replace(found, problem=problem, findings=findings, unchecked=(*found.unchecked, *assumed), taken_on=taken_on)


def _runs(problem: Problem, name: str) -> Sequence[Run] | None:
    """Where a component lies; None where it has no ranks, or is none of the problem."""
    return next((each.runs for each in problem.components if each.name == name), None)


def choices_refused(read: Read, root: Mapping, machines: Cluster | AsDeclared | None, own: Own) -> tuple[Finding, ...]:
    """An error where verl refuses every choice of degrees that hints leave open, on any size."""
    if not isinstance(machines, Cluster):
        there = read(machines, False, None, None).problem
        machines = there.cluster if there is not None else machines
    found = read(machines, True, None, None)
    if found.problem is None or found.failed or not found.problem.job.choices:
        return ()
    amounts = {name: own(name) for name in found.problem.job.choices}

    def job_with(degrees: Chosen) -> Job | str:
        its = read(machines, True, with_degrees(root, degrees, amounts), None)
        told = next((each.message for each in its.findings if each.severity is Severity.ERROR), "")
        return told or (its.problem.job if its.problem is not None else "the file cannot be read")

    return all_refused(found.problem.job, job_with)


def _with_followers(
    reading: Reading, problem: Problem, read: Read, root: Mapping, own: Own, known: Known
) -> tuple[Job, tuple[Finding, ...]]:
    """With what follows through interpolations from the choices of degrees that hints leave open; an error where verl refuses all of them."""
    before, each = _refusals(reading), list[tuple[Chosen, Job]]()
    job = replace(problem.job, choices=opened(problem.job, root), followed=())
    amounts = {name: own(name) for name in job.choices}

    def job_with(degrees: Chosen) -> Job | str:
        found = read(problem.cluster, True, with_degrees(root, degrees, amounts), known)
        worse = next((message for key, message in _refusals(found).items() if key not in before), "")
        if worse or found.problem is None:
            return worse or "the file cannot be read"
        each.append((degrees, found.problem.job))
        return found.problem.job

    job, refused = following(job, leaders(job, root, amounts), job_with)
    return with_sizes(job, problem.job, each), refused


def _refusals(reading: Reading) -> dict[tuple[str, str], str]:
    """What verl refuses of a file, and of every size of one of its pools."""
    refused = (each for each in reading.findings if each.severity is Severity.ERROR or each.code == PLANNED)
    return {(each.code, each.subject): each.message for each in refused}


def _nothing_planned(reading: Reading) -> Finding:
    root = reading.document.root
    block, named = root.get(HINTS), next((key for key in (SPEC, TOPOLOGY) if root.get(key) is not None), "")
    why = "no pool of this program has a size of its own that could be chosen"
    why = f"the pools that `{named}` names are taken as it has them, and none is planned" if named else why
    message = f"the times of the file choose no ranks: {why}"
    help_ = "drop the times, or plan a program with one pool, or with one to train in and one to generate in"
    return warning(PLANNED, HINTS, message, block.span if block else None, help=help_)
