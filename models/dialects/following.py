"""What follows from degrees that are chosen: those of components that have no others, by their framework's rules or through interpolations.

Each choice is read as it would be written, so that no rule of the framework stands here a second time.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Iterator, Mapping, Sequence, Union

from ..component import Component, Parallel
from ..findings.finding import Finding
from ..job import Job
from ..parallel import DEGREES
from ..planning.spec import FIELDS, Changed, Followed
from ..planning.way import Shape, Way
from ..planning.workload import Workload
from ..text.tree import MapNode, Value, find, leaves, number, with_value
from ..times import shortest
from .all_refused import Chosen, JobWith, none_left

MOST_READ = 256
"""Choices of several components together that are read; of more, those of the shortest times. Where nothing follows and one is refused by
itself, of more none is read: what is refused is told when it is written."""
MOST_SHOWN = 8
_TELLING = ("least", "parallel", "timed")
"""Fields of a component that tell of one that follows: how it is packed may follow without that, and is told with each choice anyway."""


def interpolates(root: Value) -> bool:
    """Does any value come through an interpolation, so that it may follow from another one?"""
    return any("${" in leaf.text for leaf in leaves(root))


def with_hint(root: MapNode, name: str, parallel: Parallel) -> MapNode:
    """The tree in which the hints of a component, if they say degrees, say these."""
    from ..hints.amount import KEY
    from ..hints.block import COMPONENTS, NAME

    hints = find(root, f"{NAME}.{COMPONENTS}.{name}")
    mine = hints.get(KEY) if isinstance(hints, MapNode) else None
    if mine is None:
        return root
    its = MapNode((), mine.span)
    for degree in DEGREES:
        its = with_value(its, degree, number(getattr(parallel, degree), mine.span))
    return with_value(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}", its)


def following(job: Job, leaders: Sequence[str], job_with: JobWith) -> tuple[Job, tuple[Finding, ...]]:
    """The job with what follows from each choice of degrees of `leaders`, without those that are refused; an error where all of them are."""
    alone = {name: {each: job_with({name: each}) for each in job.choices[name]} for name in leaders}
    tied, leading = dict[str, str](), list[str]()
    for leader, choices in alone.items():
        followers = [name for its in choices.values() if isinstance(its, Job) for name in _followers(job, its)]
        leading += [leader] if followers or leader in job.planning.tied.values() else []
        tied = {**dict.fromkeys(followers, leader), **tied}  # one can follow several: each choice of all of them is read
    refused = any(isinstance(its, str) for choices in alone.values() for its in choices.values())
    if refused and prod(map(len, job.choices.values())) <= MOST_READ:
        leading = list(job.choices)  # what is refused by itself may go together with another choice of another component
    found, tried = list[Followed](), list[tuple[Chosen, Union[Job, str]]]()
    offered = _soon_read(job, leading)
    for chosen in product(*offered.values()) if leading and (tied or refused) else ():
        degrees = dict(zip(leading, chosen))
        its = job_with(degrees) if len(leading) > 1 else alone[leading[0]][chosen[0]]
        tried.append((degrees, its))
        if isinstance(its, Job):
            found.append(Followed(degrees, _changes(job, its), its.planning.ways, its.planning.accepted or job.planning.accepted))
    left = prod(len(job.choices[name]) for name in offered) - prod(map(len, offered.values()))
    if found:
        return replace(
            job,
            planning=replace(
                job.planning, tied={**job.planning.tied, **tied}, followed=tuple(found), not_read=left, workload=_told(job, offered)
            ),
        ), ()
    if tried and left:  # which of the others is refused nobody knows, nor what follows from it
        return replace(job, planning=replace(job.planning, not_read=left, workload=_told(job, offered))), ()
    return job, none_left(job, tried)


def _soon_read(job: Job, names: Sequence[str]) -> dict[str, Sequence[Parallel]]:
    """The choices of some components, all of them together at most `MOST_READ`: of the longest lists those of the longest times are left out.

    The degrees of the file itself stay.
    """
    own = {each.name: each for each in job.components}
    found = {name: list(job.choices[name]) for name in names}
    while prod(map(len, found.values())) > MOST_READ:
        name = max(found, key=lambda each: len(found[each]))
        its, timed = own[name].parallel, own[name].timed
        left = [each for each in found[name] if each != its]
        found[name].remove(max(left, key=lambda each: shortest(timed, each) if timed else 0))
    return {name: tuple(its) for name, its in found.items()}


def _told(job: Job, offered: Mapping[str, Sequence[Parallel]]) -> Workload | None:
    """The workload, with what was not read."""
    every, read = prod(len(job.choices[name]) for name in offered), prod(map(len, offered.values()))
    if job.planning.workload is None or read == every:
        return job.planning.workload
    kept = "; ".join(f"`{name}` {_some(its)}" for name, its in offered.items() if len(its) < len(job.choices[name]))
    said = f"degrees: {read} of {every:,} choices of all components together are planned, of the shortest times: {kept}"
    return replace(job.planning.workload, assumed=(*job.planning.workload.assumed, said))


def _some(degrees: Sequence[Parallel]) -> str:
    """The first few, which tell what was left, and how many more there are."""
    more = len(degrees) - MOST_SHOWN
    return " or ".join(map(str, degrees[:MOST_SHOWN])) + (f" or {more} more" if more > 0 else "")


def _followers(job: Job, its: Job) -> Iterator[str]:
    """The components that are planned, have no choice of their own, and are otherwise, or on other counts, in another job than in the first."""
    changes = _changes(job, its)
    for each in job.components:
        judged = each.name in job.planning.accepted and each.name in its.planning.accepted
        if each.runs is None and (each.timed or judged) and each.name not in {*job.choices, *job.planning.tied}:
            before, after = (_in_ways(ways, each.name) for ways in (job.planning.ways, its.planning.ways))
            named = changes[each.name].named if each.name in changes else {}
            otherwise = (len(before) == len(after) and before != after) or (
                judged and job.planning.accepted[each.name] != its.planning.accepted[each.name]
            )
            if any(field in named for field in _TELLING) or otherwise:
                yield each.name


def _in_ways(ways: Sequence[Way], name: str) -> list[tuple[Shape | None, int]]:
    """What a component is in each way; on how many accelerators at least, where others do its work in some, so that it does not say so itself."""
    idle = any(name in way.without for way in ways)
    return [(way.shapes.get(name), way.least.get(name, 0) if idle else 0) for way in ways]


def _changes(job: Job, its: Job) -> dict[str, Changed]:
    now = {each.name: each for each in its.components}
    every = ((each.name, _of_one(each, now[each.name])) for each in job.components if each.name in now)
    return {name: changed for name, changed in every if changed.named}


def _of_one(before: Component, after: Component) -> Changed:
    return Changed(**{name: its for name in FIELDS if (its := getattr(after, name)) != getattr(before, name)})
