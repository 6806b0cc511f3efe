"""Findings for open degrees that the framework refuses without exception.

`verify`, which plans nothing, and the planner report them in the same words.
"""

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
"""Function from chosen degrees to the job, or to the framework's reason for a refusal."""
MAX_REASONS = 4
"""Maximum number of refused choices with their reasons in a finding."""
MAX_CHOICES_READ = 16
"""Maximum number of joint choices that are read without planning.

Beyond it, only the planner reports refusals.
"""


def all_refused(job: Job, job_with: JobWith) -> tuple[Finding, ...]:
    """Return an error if the framework refuses every joint choice of degrees.

    The first accepted choice ends the reading; more than `MAX_CHOICES_READ` choices are not read.
    """
    if prod(map(len, job.choices.values())) > MAX_CHOICES_READ:
        return ()
    joint_choices = (dict(zip(job.choices, chosen)) for chosen in product(*job.choices.values()))
    return refusal_of_all(job, ((degrees, job_with(degrees)) for degrees in joint_choices if degrees))


def refusal_of_all(job: Job, tried: Iterable[tuple[Chosen, Union[Job, str]]]) -> tuple[Finding, ...]:
    """Return an error if every choice of `tried` is a refusal."""
    why = dict[str, str]()
    name = ""
    for degrees, outcome in tried:
        if not isinstance(outcome, str):
            return ()
        name = name or next(iter(degrees))
        why[" and ".join(f"{parallel} of `{component}`" for component, parallel in degrees.items())] = outcome
    if not why:
        return ()
    reasons = [f"with {chosen}, {outcome}" for chosen, outcome in list(why.items())[:MAX_REASONS]]
    more = [f"{len(why)} choices are refused in all"] if len(why) > MAX_REASONS else []
    message = "every choice of degrees that the hints leave open is refused"
    span = next((component.span("parallel") for component in job.components if component.name == name), None)
    help_ = "offer degrees that go with the rest of the file"
    return (error("PW121", name, message, span, help=help_, notes=(*reasons, *more)),)
