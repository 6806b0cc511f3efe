"""What follows from degrees that are chosen: those of components that have no others, by their framework's rules or through interpolations.

Each choice is read as it would be written, so that no rule of the framework stands here a second time.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Callable, Iterator, Mapping, Sequence

from ..component import Component, Parallel
from ..job import Job
from ..planning.followed import FIELDS, Changed, Followed
from ..text.tree import Value, leaves

Chosen = Mapping[str, Parallel]
JobWith = Callable[[Chosen], "Job | None"]
"""The job of the file with these degrees of some components; None where its framework refuses it."""
_TELLING = ("least", "parallel", "timed")
"""Fields of a component that tell of one that follows: how it is packed may follow without that, and is told with each choice anyway."""


def interpolates(root: Value) -> bool:
    """Does any value come through an interpolation, so that it may follow from another one?"""
    return any("${" in leaf.text for leaf in leaves(root))


def following(job: Job, leaders: Sequence[str], job_with: JobWith) -> Job:
    """The job with what follows from each choice of degrees of `leaders`; as it is where nothing does, or every choice is refused."""
    alone = {name: {each: job_with({name: each}) for each in job.choices[name]} for name in leaders}
    tied, leading = dict[str, str](), list[str]()
    for leader, choices in alone.items():
        followers = [name for its in choices.values() if its for name in _followers(job, its)]
        leading += [leader] if followers else []
        tied = {**dict.fromkeys(followers, leader), **tied}  # one can follow several: each choice of all of them is read
    found = list[Followed]()
    for chosen in product(*(job.choices[name] for name in leading)) if leading else ():
        degrees = dict(zip(leading, chosen))
        its = job_with(degrees) if len(leading) > 1 else alone[leading[0]][chosen[0]]
        if its is not None:
            found.append(Followed(degrees, _changes(job, its), its.ways, job.shapes))
    return replace(job, tied={**job.tied, **tied}, followed=tuple(found)) if found else job


def _followers(job: Job, its: Job) -> Iterator[str]:
    """The components that are planned, have no choice of their own, and are otherwise in another job than in the first."""
    changes = _changes(job, its)
    for each in job.components:
        if each.runs is None and each.timed and each.name not in job.choices:
            before, after = ([way.shapes.get(each.name) for way in ways] for ways in (job.ways, its.ways))
            named = changes[each.name].named if each.name in changes else {}
            if any(field in named for field in _TELLING) or (len(before) == len(after) and before != after):
                yield each.name


def _changes(job: Job, its: Job) -> dict[str, Changed]:
    now = {each.name: each for each in its.components}
    every = ((each.name, _of_one(each, now[each.name])) for each in job.components if each.name in now)
    return {name: changed for name, changed in every if changed.named}


def _of_one(before: Component, after: Component) -> Changed:
    return Changed(**{name: its for name in FIELDS if (its := getattr(after, name)) != getattr(before, name)})
