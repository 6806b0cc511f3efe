"""Consequences of chosen degrees for other components, and refusals of all choices.

Each choice is read as it would be written, so that no rule of the framework is repeated here.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Callable, Iterable, Iterator, Mapping, Sequence, Union

from ..component import Parallel
from ..findings.finding import Finding, error
from ..job import Job
from ..parallel import DEGREES
from ..planning.arrangement import FrameworkArrangement, ProcessShape
from ..planning.spec import FIELDS, DegreeChoice, FieldChanges
from ..planning.workload import Workload
from ..text.tree import ListNode, MapNode, Scalar, Value, find, leaves, number, with_value
from ..times import shortest

ChosenDegrees = Mapping[str, Parallel]
JobWith = Callable[[ChosenDegrees], Union[Job, str]]
"""Function from chosen degrees to the job, or to the framework's reason for a refusal."""
MAX_REASONS = 4
"""Maximum number of refused choices with their reasons in a finding."""
MAX_CHOICES_READ = 16
"""Maximum number of joint choices that are read without planning.

Beyond it, only the planner reports refusals.
"""
MAX_JOINT_CHOICES = 256
"""Maximum number of joint choices of degrees that are read.

Of more choices, those with the shortest times are read. If no component follows and a single choice
is refused, more choices are not read: the refusal is reported when the answer is written.
"""
MOST_SHOWN = 8
_TELLTALE_FIELDS = ("least", "parallel", "timed")
"""Fields whose change shows that a component follows.

Packing may change in a follower too, but also without one; it is recorded per choice anyway.
"""


def interpolates(root: Value) -> bool:
    """Return True if any value is an interpolation and may depend on another value."""
    return any("${" in leaf.text for leaf in leaves(root))


def scalars_by_path(value: Value, path: str = "") -> Iterator[tuple[str, Scalar]]:
    """Yield the scalars in a value with their dotted paths; items of lists by position."""
    if isinstance(value, Scalar):
        yield path, value
        return
    entries: Iterable[tuple[object, Value]] = (
        enumerate(value.items) if isinstance(value, ListNode) else ((entry.key.text, entry.value) for entry in value)
    )
    for name, item in entries:
        yield from scalars_by_path(item, f"{path}.{name}".lstrip("."))


def with_hint(root: MapNode, name: str, parallel: Parallel) -> MapNode:
    """Return the tree with new degrees in a component's hints; unchanged without degrees there."""
    from ..hints.amount import KEY
    from ..hints.block import COMPONENTS, NAME

    hints = find(root, f"{NAME}.{COMPONENTS}.{name}")
    degrees = hints.get(KEY) if isinstance(hints, MapNode) else None
    if degrees is None:
        return root
    block = MapNode((), degrees.span)
    for degree in DEGREES:
        block = with_value(block, degree, number(getattr(parallel, degree), degrees.span))
    return with_value(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}", block)


def with_dependent_degrees(
    job: Job, leaders: Sequence[str], job_with: JobWith, is_joint: bool = False
) -> tuple[Job, tuple[Finding, ...]]:  # fmt: skip
    """Return the job with the consequences of each choice of degrees of `leaders`.

    `is_joint`: choices of several components count together, so all joint choices are read. Refused
    choices are dropped; if all are refused, the job is unchanged and an error is returned.
    """
    outcomes = {name: {parallel: job_with({name: parallel}) for parallel in job.choices[name]} for name in leaders}
    leader_of, leading = dict[str, str](), list[str]()
    for leader, choices in outcomes.items():
        followers = [name for outcome in choices.values() if isinstance(outcome, Job) for name in _followers(job, outcome)]
        leading += [leader] if followers or leader in job.planning.tied.values() else []
        # A component may follow several leaders: all joint choices are read.
        leader_of = {**dict.fromkeys(followers, leader), **leader_of}
    has_refusals = any(isinstance(outcome, str) for choices in outcomes.values() for outcome in choices.values())
    if is_joint or (has_refusals and prod(map(len, job.choices.values())) <= MAX_JOINT_CHOICES):
        # A choice refused alone may be accepted with another choice elsewhere.
        leading = list(job.choices)
    consequences, attempts = list[DegreeChoice](), list[tuple[ChosenDegrees, Union[Job, str]]]()
    offers = _choices_to_read(job, leading)
    for combination in product(*offers.values()) if leading and (leader_of or has_refusals or is_joint) else ():
        degrees = dict(zip(leading, combination))
        outcome = job_with(degrees) if len(leading) > 1 or not outcomes else outcomes[leading[0]][combination[0]]
        attempts.append((degrees, outcome))
        if isinstance(outcome, Job):
            accepted_counts = outcome.planning.accepted or job.planning.accepted
            consequences.append(DegreeChoice(degrees, _changes(job, outcome), outcome.planning.ways, accepted_counts))
    unread = prod(len(job.choices[name]) for name in offers) - prod(map(len, offers.values()))
    if not consequences and not (attempts and unread):
        return job, refusal_of_all(job, attempts)
    # The unread choices are unknown: refused or not, and with what consequences.
    planning = replace(job.planning, unread_choices=unread, workload=_with_note(job, offers))
    if consequences:
        planning = replace(planning, tied={**planning.tied, **leader_of}, followed=tuple(consequences))
    return replace(job, planning=planning), ()


def report_all_refused(job: Job, job_with: JobWith) -> tuple[Finding, ...]:
    """Return an error if the framework refuses every joint choice of degrees.

    The first accepted choice ends the reading; more than `MAX_CHOICES_READ` choices are not read.
    """
    if prod(map(len, job.choices.values())) > MAX_CHOICES_READ:
        return ()
    joint_choices = (dict(zip(job.choices, combination)) for combination in product(*job.choices.values()))
    return refusal_of_all(job, ((degrees, job_with(degrees)) for degrees in joint_choices if degrees))


def refusal_of_all(job: Job, attempts: Iterable[tuple[ChosenDegrees, Union[Job, str]]]) -> tuple[Finding, ...]:
    """Return an error if every choice of `attempts` is a refusal."""
    why = dict[str, str]()
    name = ""
    for degrees, outcome in attempts:
        if not isinstance(outcome, str):
            return ()
        name = name or next(iter(degrees))
        why[" and ".join(f"{parallel} of `{component}`" for component, parallel in degrees.items())] = outcome
    if not why:
        return ()
    reasons = [f"with {choice}, {outcome}" for choice, outcome in list(why.items())[:MAX_REASONS]]
    more = [f"{len(why)} choices are refused in all"] if len(why) > MAX_REASONS else []
    message = "every choice of degrees that the hints leave open is refused"
    span = next((component.span("parallel") for component in job.components if component.name == name), None)
    help_ = "offer degrees that go with the rest of the file"
    return (error("PW121", name, message, span, help=help_, notes=(*reasons, *more)),)


def _choices_to_read(job: Job, names: Sequence[str]) -> dict[str, Sequence[Parallel]]:
    """Return the choices to read per component, at most `MAX_JOINT_CHOICES` in product.

    Choices with the longest times are dropped first, from the longest list. The degrees of the file
    itself stay.
    """
    by_name = {component.name: component for component in job.components}
    choices = {name: list(job.choices[name]) for name in names}
    while prod(map(len, choices.values())) > MAX_JOINT_CHOICES:
        name = max(choices, key=lambda component: len(choices[component]))
        current, component_times = by_name[name].parallel, by_name[name].timed
        alternatives = [parallel for parallel in choices[name] if parallel != current]
        choices[name].remove(max(alternatives, key=lambda parallel: shortest(component_times, parallel) if component_times else 0))
    return {name: tuple(parallels) for name, parallels in choices.items()}


def _with_note(job: Job, offers: Mapping[str, Sequence[Parallel]]) -> Workload | None:
    """Return the workload, with a note on choices that were not read."""
    total, read = prod(len(job.choices[name]) for name in offers), prod(map(len, offers.values()))
    if job.planning.workload is None or read == total:
        return job.planning.workload
    summary = "; ".join(
        f"`{name}` {_format_some(parallels)}" for name, parallels in offers.items() if len(parallels) < len(job.choices[name])
    )
    note = f"degrees: {read} of {total:,} choices of all components together are planned, of the shortest times: {summary}"
    return replace(job.planning.workload, assumed=(*job.planning.workload.assumed, note))


def _format_some(degrees: Sequence[Parallel]) -> str:
    """Return the first `MOST_SHOWN` degrees as text, and the number of the rest."""
    more = len(degrees) - MOST_SHOWN
    return " or ".join(map(str, degrees[:MOST_SHOWN])) + (f" or {more} more" if more > 0 else "")


def _followers(job: Job, changed_job: Job) -> Iterator[str]:
    """Yield the planned components without a choice that differ between two jobs.

    A difference is in a field of `_TELLTALE_FIELDS`, in the arrangements, or in the accepted
    counts.
    """
    changes = _changes(job, changed_job)
    for component in job.components:
        is_judged = component.name in job.planning.accepted and component.name in changed_job.planning.accepted
        if component.runs is None and (component.timed or is_judged) and component.name not in {*job.choices, *job.planning.tied}:
            before, after = (_shape_by_arrangement(options, component.name) for options in (job.planning.ways, changed_job.planning.ways))
            new_fields = changes[component.name].named if component.name in changes else {}
            differs = (len(before) == len(after) and before != after) or (
                is_judged and job.planning.accepted[component.name] != changed_job.planning.accepted[component.name]
            )
            if any(field in new_fields for field in _TELLTALE_FIELDS) or differs:
                yield component.name


def _shape_by_arrangement(arrangements: Sequence[FrameworkArrangement], name: str) -> list[tuple[ProcessShape | None, int]]:
    """Return the shape and the minimum accelerators of a component per arrangement.

    The minimum is 0 unless some arrangement runs without the component: then its own `least` does
    not tell.
    """
    idle = any(name in arrangement.without for arrangement in arrangements)
    return [(arrangement.shapes.get(name), arrangement.least.get(name, 0) if idle else 0) for arrangement in arrangements]


def _changes(job: Job, changed_job: Job) -> dict[str, FieldChanges]:
    new_components = {component.name: component for component in changed_job.components}
    changes = dict[str, FieldChanges]()
    for before in job.components:
        if after := new_components.get(before.name):
            new_values = {name: value for name in FIELDS if (value := getattr(after, name)) != getattr(before, name)}
            changes[before.name] = FieldChanges(**new_values)
    return {name: change for name, change in changes.items() if change.named}
