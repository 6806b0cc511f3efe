"""A file with times, read once more: its pools are open, and where it places them itself is kept beside."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Callable, Union
from typing import Mapping as MappingType

from ....component import DISJOINT, Relation
from ....configuration.settings import Amount
from ....findings.finding import Finding, Severity, warning
from ....job import Job
from ....machines.cluster import Cluster
from ....machines.shorthand import AsDeclared
from ....parallel import Parallel
from ....planning.usual import as_it_runs, said_of_plan, usual_order
from ....planning.workload import Workload
from ....pools.laying import Laying
from ....pools.pool import Pool
from ....problem import Problem
from ....reading import Reading
from ....text.tree import Mapping
from ...following import Chosen, following
from ..entries.which import SPEC, TOPOLOGY
from ..pools.declared import FIT
from ..setup import Setup
from .accepted import Again, accepted
from .asynchronous import asynchronous
from .degrees import changed
from .following import leaders, with_degrees

HINTS, PLANNED = "placewright", "PW604"
APART = "no two pools of verl have an accelerator in common"
Own = Callable[[str], MappingType[str, Amount]]
"""Component -> the numbers that say its own degrees."""
Leader = Callable[[str], str | None]
"""Component -> the one whose degrees it has; None where these are its own."""
Read = Callable[[Union[Cluster, AsDeclared, None], bool, Union[Mapping, None]], Reading]


def anew(read: Read, root: Mapping, machines: Cluster | AsDeclared | None, own: Own) -> Reading:
    """The file as it is planned. `read` is given the machines, whether pools with times are open, and another tree than its `root`."""
    before = read(machines, False, None)
    if before.problem is None:
        return before
    found = read(before.problem.cluster if machines is None or isinstance(machines, AsDeclared) else machines, True, None)
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
    placed = {each.name: each.runs for each in before.problem.components if fits and each.runs is not None and each.name in open_}
    assumed = [each for each in before.unchecked if each.rule == FIT and not each.subject and each not in found.unchecked]

    def taken_on(other: Cluster) -> Job | None:
        there = read(other, True, None)
        return _with_followers(there, there.problem, read, root, own)[0] if there.problem is not None else None

    job, refused = _with_followers(found, found.problem, read, root, own)
    findings = (*found.findings, *(refused if not found.failed else ()))
    problem = replace(found.problem, job=replace(job, own=placed))
    return replace(found, problem=problem, findings=findings, unchecked=(*found.unchecked, *assumed), taken_on=taken_on)


def _with_followers(reading: Reading, problem: Problem, read: Read, root: Mapping, own: Own) -> tuple[Job, tuple[Finding, ...]]:
    """With what follows through interpolations from the choices of degrees that hints leave open; an error where verl refuses all of them."""
    job, before = problem.job, _refusals(reading)
    amounts = {name: own(name) for name in job.choices}

    def job_with(degrees: Chosen) -> Job | str:
        found = read(problem.cluster, True, with_degrees(root, degrees, amounts))
        worse = next((message for key, message in _refusals(found).items() if key not in before), "")
        return worse or (found.problem.job if found.problem is not None else "the file cannot be read")

    return following(job, leaders(job, root, amounts), job_with)


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


def plan_pools(setup: Setup, cluster: Cluster, pools: tuple[Pool, ...], own: Own, leader: Leader, again: Again) -> None:
    """Adds to a job with open pools how verl lays them out, which counts and degrees it takes, and what its workload is."""
    open_ = [pool for pool in pools if pool not in setup.pools]
    if not open_ or setup.workload is None:
        return
    setup.laying = Laying(tuple(pool if pool in setup.pools else replace(pool, parts=()) for pool in pools), setup.entry.reserves)
    firsts = [(pool, pool.components[0]) for pool in pools if pool.components]
    for (one, name), (other, beside) in combinations(firsts, 2):
        if one in open_ or other in open_:
            setup.relations.append(Relation(DISJOINT, (name, beside), None, APART))
    found: dict[str, frozenset[tuple[int, Parallel]]] = {}
    for pool in open_:
        degrees = {}
        tied = {name: first for name in pool.components if (first := leader(name)) is not None and setup.choices.get(first)}
        for each in (each for each in setup.components if each.name in pool.components):
            whose = tied.get(each.name, each.name)
            choices, amounts = setup.choices.get(whose, ()), own(whose)
            degrees[each.name] = {parallel: _otherwise(amounts, parallel) for parallel in choices} or {each.parallel: {}}
        setup.tied = {**setup.tied, **tied}
        for name, (pairs, always) in accepted(pool, cluster, degrees, again).items():
            found[name] = pairs
            if always and always not in {finding.message for finding in setup.notes.findings}:
                message = f"verl refuses every size of `{pool.name}`, such as the largest: {always}"
                setup.notes.warn(PLANNED, name, message, pool.span("name") or setup.settings.top, "", "mend this first; then plan")
    setup.accepted = found
    setup.workload = _workload(setup, setup.workload)


def _otherwise(amounts: MappingType[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Key -> its number, of those that are not written already: so that what is the same for several components is read once."""
    return {amounts[degree].name: number for degree, number in changed(amounts, parallel).items()}


def _workload(setup: Setup, workload: Workload) -> Workload:
    """The workload of the file; what its block does not say is as verl does it.

    Pools that train and generate at the same time are steady: each works on what the other made before. In one pool all take turns.
    """
    said = said_of_plan(setup.settings.tree(HINTS))
    workload = as_it_runs(workload, said, asynchronous(setup))
    return workload if "workflow" in said else replace(workload, after=tuple(usual_order(setup.components)))
