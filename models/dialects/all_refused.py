"""Degrees that hints leave open, of which a framework takes none: told by `verify`, which plans nothing, and by what plans, in the same words."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Callable, Iterable, Union
from typing import Mapping as MappingType

from ..component import Parallel
from ..findings.finding import Finding, error
from ..job import Job

Chosen = MappingType[str, Parallel]
JobWith = Callable[[Chosen], Union[Job, str]]
"""The job of the file with these degrees of some components; why, where its framework refuses it."""
MOST_TOLD = 4
"""Choices of which it is told why they are refused."""
MOST_TRIED = 16
"""Choices of all components together that are read where nothing is planned; where there are more, planning tells of them."""


def all_refused(job: Job, job_with: JobWith) -> tuple[Finding, ...]:
    """An error where each choice is refused, whatever the others are; the first that is not ends it."""
    if prod(map(len, job.choices.values())) > MOST_TRIED:
        return ()
    every = (dict(zip(job.choices, chosen)) for chosen in product(*job.choices.values()))
    return none_left(job, ((degrees, job_with(degrees)) for degrees in every if degrees))


def none_left(job: Job, tried: Iterable[tuple[Chosen, Union[Job, str]]]) -> tuple[Finding, ...]:
    """The same of choices that were read."""
    why = dict[str, str]()
    name = ""
    for degrees, its in tried:
        if not isinstance(its, str):
            return ()
        name = name or next(iter(degrees))
        why[" and ".join(f"{each} of `{of}`" for of, each in degrees.items())] = its
    if not why:
        return ()
    told = "; ".join(f"with {chosen}, {its}" for chosen, its in list(why.items())[:MOST_TOLD])
    more = f"; and so on, {len(why)} in all" if len(why) > MOST_TOLD else ""
    message = f"every choice of degrees that the hints leave open is refused: {told}{more}"
    span = next((each.span("parallel") for each in job.components if each.name == name), None)
    return (error("PW121", name, message, span, help="offer degrees that go with the rest of the file"),)
