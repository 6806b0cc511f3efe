"""A file with times, read once more: its pools are open, and where it places them itself is kept beside."""

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
from ..following import following, with_hint
from ..skeleton import HINTS
from .pools import FIT
from .programs import SPEC
from .sizes import MOST_READ, PLANNED, Known, changed

Machines = Union[Cluster, AsDeclared, None]
Read = Callable[[Machines, bool, Union[MapNode, None], Union[Known, None]], Reading]
"""Reading on machines, of another tree than the file's; are pools with times open, and what is known of sizes (None: none is judged)."""
Own = Callable[[str], Mapping[str, Amount]]
"""Component -> its own degrees with their settings."""
Amounts = Mapping[str, Mapping[str, Amount]]
_KEYS = re.compile(r"[\w.]+")


def anew(read: Read, root: MapNode, machines: Machines, own: Own) -> Reading:
    """The file as it is planned."""
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
    if job.planning.laying is None and job.planning.workload is None and found.failed:
        return found  # what is planned could not be read, which is told where that stands
    if job.planning.laying is None:
        unplanned = replace(found.problem, job=replace(job, planning=replace(job.planning, workload=None)))
        return replace(found, problem=unplanned, findings=(*found.findings, _nothing_planned(found)))
    # A pool whose size is given lies where those before it leave it room: elsewhere, while these are open.
    ranks = {each.name: each.runs for each in before.problem.components if each.runs is not None and before.problem.cluster == cluster}
    placed = {each.name: ranks[each.name] for each in job.components if each.name in ranks and each.runs != ranks[each.name]}
    assumed = [each for each in before.unchecked if each.rule == FIT and not each.subject and each not in found.unchecked]
    job, refused = _with_followers(found, found.problem, read, root, own, known)
    findings = (*found.findings, *(refused if not found.failed else ()))
    if len(known) >= MOST_READ:
        why = f"{MOST_READ:,} sizes with degrees were read; which of the others verl takes is judged once they are planned"
        assumed.append(Unchecked(PLANNED, "", why))
    servers = {each.name: each.server for each in before.problem.components if each.name in placed and each.server}
    problem = replace(found.problem, job=replace(job, planning=replace(job.planning, own=placed, own_servers=servers)))
    return replace(found, problem=problem, findings=findings, unchecked=(*found.unchecked, *assumed))


def job_on(read: Read, root: MapNode, machines: Cluster, own: Own) -> Job | None:
    """The job as it is planned on other machines; None where it cannot be read there."""
    fresh: Known = {}
    there = read(machines, True, None, fresh)
    return _with_followers(there, there.problem, read, root, own, fresh)[0] if there.problem is not None else None


def choices_refused(read: Read, root: MapNode, machines: Machines, own: Own) -> tuple[Finding, ...]:
    """An error where verl refuses every choice of degrees that hints leave open, on any size."""
    if not isinstance(machines, Cluster):
        there = read(machines, False, None, None).problem
        machines = there.cluster if there is not None else machines
    found = read(machines, True, None, None)
    if found.problem is None or found.failed or not found.problem.job.choices:
        return ()
    amounts = {name: own(name) for name in found.problem.job.choices}

    def job_with(degrees: Chosen) -> Job | str:
        reading = read(machines, True, with_degrees(root, degrees, amounts), None)
        error = next((each.message for each in reading.findings if each.severity is Severity.ERROR), "")
        return error or (reading.problem.job if reading.problem is not None else "the file cannot be read")

    return all_refused(found.problem.job, job_with)


def _with_followers(
    reading: Reading, problem: Problem, read: Read, root: MapNode, own: Own, known: Known
) -> tuple[Job, tuple[Finding, ...]]:
    """With what follows through interpolations from the choices of degrees that hints leave open; an error where verl refuses all of them."""
    from ...hints.amount import KEY
    from ...hints.block import COMPONENTS, NAME

    before, jobs = _refusals(reading), list[Job]()
    planned = problem.job
    choices = {name: each for name, each in planned.choices.items() if find(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}") is not None}
    amounts = {name: own(name) for name in choices}

    def job_with(degrees: Chosen) -> Job | str:
        found = read(problem.cluster, True, with_degrees(root, degrees, amounts), known)
        worse = next((message for key, message in _refusals(found).items() if key not in before), "")
        if worse or found.problem is None:
            return worse or "the file cannot be read"
        jobs.append(found.problem.job)
        return found.problem.job

    job, refused = following(
        replace(planned, choices=choices, planning=replace(planned.planning, followed=())), _leaders(choices, root, amounts), job_with
    )
    # What follows from sizes, of the file as it is read and of it with each choice.
    every = (planned, *jobs)
    on_sizes: dict[str, tuple[Parallel, ...]] = {}
    for name, degrees in (pair for each in every for pair in each.choices.items() if pair[0] not in choices):
        on_sizes[name] = tuple(dict.fromkeys((*on_sizes.get(name, ()), *degrees)))
    left, by_size = (
        max(each.planning.sizes_not_read for each in every),
        job.planning.by_size.union(*(each.planning.by_size for each in every)),
    )
    return replace(job, choices={**job.choices, **on_sizes}, planning=replace(job.planning, sizes_not_read=left, by_size=by_size)), refused


def _leaders(choices: Sequence[str] | Mapping[str, object], root: MapNode, amounts: Amounts) -> list[str]:
    """Components with open degrees whose keys, or sections of them, are what an interpolation may take its value from."""
    texts = (text for leaf in leaves(root) for _, found, text in (leaf.text.partition("${"),) if found)
    taken = {key.rpartition(".")[2] for text in texts for key in _KEYS.findall(text)}
    return [name for name in choices if any(not taken.isdisjoint(its.name.split(".")) for its in amounts.get(name, {}).values())]


def with_degrees(root: MapNode, degrees: Mapping[str, Parallel], amounts: Amounts) -> MapNode:
    """The tree with these degrees, where they are written into keys of verl."""
    for name, parallel in degrees.items():
        root = with_hint(root, name, parallel)
        for degree, number in changed(amounts[name], parallel).items():
            root = with_value(root, amounts[name][degree].name, number)
    return root


def _refusals(reading: Reading) -> dict[tuple[str, str], str]:
    """What verl refuses of a file, and of every size of one of its pools."""
    refused = (each for each in reading.findings if each.severity is Severity.ERROR or each.code == PLANNED)
    return {(each.code, each.subject): each.message for each in refused}


def _nothing_planned(reading: Reading) -> Finding:
    root = reading.document.root
    block = root.get(HINTS)
    why = "no pool of this program has a size of its own that could be chosen"
    if root.get(SPEC) is not None:
        why = f"the pools that `{SPEC}` names are taken as it has them, and none is planned"
    help_ = "drop the times, or plan a program with one pool, or with one to train in and one to generate in"
    return warning(PLANNED, HINTS, f"the times of the file choose no ranks: {why}", block.span if block else None, help=help_)
