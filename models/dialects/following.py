"""What follows from degrees that are chosen: those of components that have no others, by their framework's rules or through interpolations.

Each choice is read as it would be written, so that no rule of the framework stands here a second time.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Callable, Iterator, Sequence, Union
from typing import Mapping as MappingType

from ..component import Component, Parallel
from ..findings.finding import Finding, error
from ..job import Job
from ..parallel import DEGREES
from ..planning.followed import FIELDS, Changed, Followed
from ..text.changed import number, with_value
from ..text.tree import Mapping, Value, find, leaves

Chosen = MappingType[str, Parallel]
JobWith = Callable[[Chosen], Union[Job, str]]
"""The job of the file with these degrees of some components; why, where its framework refuses it."""
MOST_READ = 256
"""Choices of several components together that are read where one is refused by itself; of more, what is refused is told when it is written."""
MOST_TOLD = 4
"""Choices of which it is told why they are refused."""
_TELLING = ("least", "parallel", "timed")
"""Fields of a component that tell of one that follows: how it is packed may follow without that, and is told with each choice anyway."""


def interpolates(root: Value) -> bool:
    """Does any value come through an interpolation, so that it may follow from another one?"""
    return any("${" in leaf.text for leaf in leaves(root))


def with_hint(root: Mapping, name: str, parallel: Parallel) -> Mapping:
    """The tree in which the hints of a component, if they say degrees, say these."""
    from ..hints.block import COMPONENTS, NAME
    from ..hints.degrees import KEY

    hints = find(root, f"{NAME}.{COMPONENTS}.{name}")
    mine = hints.get(KEY) if isinstance(hints, Mapping) else None
    if mine is None:
        return root
    its = Mapping((), mine.span)
    for degree in DEGREES:
        its = with_value(its, degree, number(getattr(parallel, degree), mine.span))
    return with_value(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}", its)


def following(job: Job, leaders: Sequence[str], job_with: JobWith) -> tuple[Job, tuple[Finding, ...]]:
    """The job with what follows from each choice of degrees of `leaders`, without those that are refused; an error where all of them are."""
    alone = {name: {each: job_with({name: each}) for each in job.choices[name]} for name in leaders}
    tied, leading = dict[str, str](), list[str]()
    for leader, choices in alone.items():
        followers = [name for its in choices.values() if isinstance(its, Job) for name in _followers(job, its)]
        leading += [leader] if followers or leader in job.tied.values() else []
        tied = {**dict.fromkeys(followers, leader), **tied}  # one can follow several: each choice of all of them is read
    refused = any(isinstance(its, str) for choices in alone.values() for its in choices.values())
    if refused and prod(map(len, job.choices.values())) <= MOST_READ:
        leading = list(job.choices)  # what is refused by itself may go together with another choice of another component
    found, why = list[Followed](), dict[str, str]()
    for chosen in product(*(job.choices[name] for name in leading)) if tied or refused else ():
        degrees = dict(zip(leading, chosen))
        its = job_with(degrees) if len(leading) > 1 else alone[leading[0]][chosen[0]]
        if isinstance(its, Job):
            found.append(Followed(degrees, _changes(job, its), its.ways, job.shapes, its.accepted or job.accepted))
        else:
            why[" and ".join(f"{each} of `{name}`" for name, each in degrees.items())] = its
    if found:
        return replace(job, tied={**job.tied, **tied}, followed=tuple(found)), ()
    return job, (_none_left(job, leading[0], why),) if why else ()


def _none_left(job: Job, name: str, why: MappingType[str, str]) -> Finding:
    told = "; ".join(f"with {chosen}, {its}" for chosen, its in list(why.items())[:MOST_TOLD])
    more = f"; and so on, {len(why)} in all" if len(why) > MOST_TOLD else ""
    message = f"every choice of degrees that the hints leave open is refused: {told}{more}"
    span = next((each.span("parallel") for each in job.components if each.name == name), None)
    return error("PW121", name, message, span, help="offer degrees that go with the rest of the file")


def _followers(job: Job, its: Job) -> Iterator[str]:
    """The components that are planned, have no choice of their own, and are otherwise, or on other counts, in another job than in the first."""
    changes = _changes(job, its)
    for each in job.components:
        judged = each.name in job.accepted and each.name in its.accepted
        if each.runs is None and (each.timed or judged) and each.name not in {*job.choices, *job.tied}:
            before, after = ([way.shapes.get(each.name) for way in ways] for ways in (job.ways, its.ways))
            named = changes[each.name].named if each.name in changes else {}
            otherwise = (len(before) == len(after) and before != after) or (judged and job.accepted[each.name] != its.accepted[each.name])
            if any(field in named for field in _TELLING) or otherwise:
                yield each.name


def _changes(job: Job, its: Job) -> dict[str, Changed]:
    now = {each.name: each for each in its.components}
    every = ((each.name, _of_one(each, now[each.name])) for each in job.components if each.name in now)
    return {name: changed for name, changed in every if changed.named}


def _of_one(before: Component, after: Component) -> Changed:
    return Changed(**{name: its for name in FIELDS if (its := getattr(after, name)) != getattr(before, name)})
