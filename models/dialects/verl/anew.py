"""Planned file: pools are open, and their written places become the baseline."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Callable, Mapping, Sequence, Union

from ...configuration.settings import Amount
from ...findings.finding import Finding, Severity, Unchecked, warning
from ...job import Job
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared
from ...parallel import Parallel
from ...problem import Problem
from ...reading import Reading
from ...text.tree import MapNode, find, leaves, with_value
from ..all_refused import Chosen, all_refused
from ..following import with_dependent_degrees, with_hint
from ..skeleton import HINTS
from .pools import FIT
from .programs import SPEC
from .sizes import MOST_READ, PLANNED, Known, changed

Machines = Union[Cluster, AsDeclared, None]
Read = Callable[[Machines, bool, Union[MapNode, None], Union[Known, None]], Reading]
"""Reader of (machines, are pools with times open, another tree, known sizes).

Without a tree the file's own is read; without known sizes none is judged.
"""
Own = Callable[[str], Mapping[str, Amount]]
"""Component -> own degrees with their settings."""
Amounts = Mapping[str, Mapping[str, Amount]]
_KEYS = re.compile(r"[\w.]+")


def anew(read: Read, root: MapNode, machines: Machines, own: Own) -> Reading:
    """Read the file for planning."""
    known: Known = {}
    before = read(machines, False, None, known)
    if before.problem is None:
        return before
    machines = machines if isinstance(machines, Cluster) else before.problem.cluster
    if refused := choices_refused(read, root, machines, own):
        return replace(before, findings=(*before.findings, *refused))
    reading = read(machines, True, None, known)
    if reading.problem is None:
        return reading
    job, cluster = reading.problem.job, reading.problem.cluster
    if job.planning.laying is None and job.planning.workload is None and reading.failed:
        return reading  # the unreadable part has a finding of its own
    if job.planning.laying is None:
        unplanned = replace(reading.problem, job=replace(job, planning=replace(job.planning, workload=None)))
        return replace(reading, problem=unplanned, findings=(*reading.findings, _nothing_planned(reading)))
    # A pool of a given size moves while the pools before it are open.
    ranks = {
        component.name: component.runs
        for component in before.problem.components
        if component.runs is not None and before.problem.cluster == cluster
    }
    placed = {
        component.name: ranks[component.name]
        for component in job.components
        if component.name in ranks and component.runs != ranks[component.name]
    }
    assumed = [note for note in before.unchecked if note.rule == FIT and not note.subject and note not in reading.unchecked]
    job, refused = _with_followers(reading, reading.problem, read, root, own, known)
    findings = (*reading.findings, *(refused if not reading.failed else ()))
    if len(known) >= MOST_READ:
        why = f"{MOST_READ:,} sizes with degrees were read; which of the others verl takes is judged once they are planned"
        assumed.append(Unchecked(PLANNED, "", why))
    servers = {component.name: component.server for component in before.problem.components if component.name in placed and component.server}
    problem = replace(reading.problem, job=replace(job, planning=replace(job.planning, own=placed, own_servers=servers)))
    return replace(reading, problem=problem, findings=findings, unchecked=(*reading.unchecked, *assumed))


def job_on(read: Read, root: MapNode, machines: Cluster, own: Own) -> Job | None:
    """Return the planned job on another cluster; None if it cannot be read there."""
    fresh: Known = {}
    reading = read(machines, True, None, fresh)
    return _with_followers(reading, reading.problem, read, root, own, fresh)[0] if reading.problem is not None else None


def choices_refused(read: Read, root: MapNode, machines: Machines, own: Own) -> tuple[Finding, ...]:
    """Return an error if verl refuses every open choice of degrees, on any size."""
    if not isinstance(machines, Cluster):
        problem = read(machines, False, None, None).problem
        machines = problem.cluster if problem is not None else machines
    opened = read(machines, True, None, None)
    if opened.problem is None or opened.failed or not opened.problem.job.choices:
        return ()
    amounts = {name: own(name) for name in opened.problem.job.choices}

    def job_with(degrees: Chosen) -> Job | str:
        reading = read(machines, True, with_degrees(root, degrees, amounts), None)
        error = next((finding.message for finding in reading.findings if finding.severity is Severity.ERROR), "")
        return error or (reading.problem.job if reading.problem is not None else "the file cannot be read")

    return all_refused(opened.problem.job, job_with)


def _with_followers(
    reading: Reading, problem: Problem, read: Read, root: MapNode, own: Own, known: Known
) -> tuple[Job, tuple[Finding, ...]]:
    """Add degrees that follow from open ones by interpolation; refuse if no choice is accepted."""
    from ...hints.amount import KEY
    from ...hints.block import COMPONENTS, NAME

    before, jobs = _refusals(reading), list[Job]()
    planned = problem.job
    choices = {
        name: parallels for name, parallels in planned.choices.items() if find(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}") is not None
    }
    amounts = {name: own(name) for name in choices}

    def job_with(degrees: Chosen) -> Job | str:
        candidate = read(problem.cluster, True, with_degrees(root, degrees, amounts), known)
        worse = next((message for key, message in _refusals(candidate).items() if key not in before), "")
        if worse or candidate.problem is None:
            return worse or "the file cannot be read"
        jobs.append(candidate.problem.job)
        return candidate.problem.job

    job, refused = with_dependent_degrees(
        replace(planned, choices=choices, planning=replace(planned.planning, followed=())), _leaders(choices, root, amounts), job_with
    )
    # Degrees that follow from sizes: of the file itself, and of the file with each choice.
    every = (planned, *jobs)
    on_sizes: dict[str, tuple[Parallel, ...]] = {}
    for name, degrees in (pair for variant in every for pair in variant.choices.items() if pair[0] not in choices):
        on_sizes[name] = tuple(dict.fromkeys((*on_sizes.get(name, ()), *degrees)))
    left, by_size = (
        max(variant.planning.sizes_not_read for variant in every),
        job.planning.by_size.union(*(variant.planning.by_size for variant in every)),
    )
    return replace(job, choices={**job.choices, **on_sizes}, planning=replace(job.planning, sizes_not_read=left, by_size=by_size)), refused


def _leaders(choices: Sequence[str] | Mapping[str, object], root: MapNode, amounts: Amounts) -> list[str]:
    """Return the components whose open degrees an interpolation may refer to."""
    texts = (text for leaf in leaves(root) for _, marker, text in (leaf.text.partition("${"),) if marker)
    taken = {key.rpartition(".")[2] for text in texts for key in _KEYS.findall(text)}
    return [name for name in choices if any(not taken.isdisjoint(amount.name.split(".")) for amount in amounts.get(name, {}).values())]


def with_degrees(root: MapNode, degrees: Mapping[str, Parallel], amounts: Amounts) -> MapNode:
    """Return the tree with new degrees in verl's own keys."""
    for name, parallel in degrees.items():
        root = with_hint(root, name, parallel)
        for degree, number in changed(amounts[name], parallel).items():
            root = with_value(root, amounts[name][degree].name, number)
    return root


def _refusals(reading: Reading) -> dict[tuple[str, str], str]:
    """Map (code, subject) to verl's refusals of a file or of all pool sizes."""
    refused = (finding for finding in reading.findings if finding.severity is Severity.ERROR or finding.code == PLANNED)
    return {(finding.code, finding.subject): finding.message for finding in refused}


def _nothing_planned(reading: Reading) -> Finding:
    root = reading.document.root
    block = root.get(HINTS)
    why = "no pool of this program has a size of its own that could be chosen"
    if root.get(SPEC) is not None:
        why = f"the pools that `{SPEC}` names are taken as it has them, and none is planned"
    help_ = "drop the times, or plan a program with one pool, or with one to train in and one to generate in"
    return warning(PLANNED, HINTS, f"the times of the file choose no ranks: {why}", block.span if block else None, help=help_)
