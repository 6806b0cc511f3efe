"""An RLinf file as it is planned: the ranks of components with times are left open, and what follows from degrees that are open is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....findings.finding import Finding, Severity
from ....job import Job
from ....problem import Problem
from ....reading import Reading
from ....text.document import Document
from ...all_refused import Chosen, all_refused
from ...following import following
from .following import leaders, with_degrees

Read = Callable[[Document], Reading]
"""Reads a file with these ranks left open."""


def anew(read: Read, document: Document, written: Problem | None) -> Reading:
    """The file as it is planned; the own ranks of what is open are as RLinf would have them of what is `written`."""
    found = read(document)
    if found.problem is None or written is None:
        return found
    placed = {each.name: each.runs for each in written.components if each.runs}
    own = {name: placed.get(name, runs) for name, runs in found.problem.job.own.items()}
    job, refused = _with_followers(replace(found.problem.job, own=own), read, document)
    findings = (*found.findings, *(refused if not found.failed else ()))
    return replace(found, problem=replace(found.problem, job=job), findings=findings)


def choices_refused(read: Read, document: Document) -> tuple[Finding, ...]:
    """An error where RLinf refuses every choice of degrees that hints leave open."""
    found = read(document)
    if found.problem is None or found.failed or not found.problem.job.choices:
        return ()
    return all_refused(found.problem.job, lambda degrees: _job_with(read, document, degrees))


def _with_followers(job: Job, read: Read, document: Document) -> tuple[Job, tuple[Finding, ...]]:
    """With what follows from the choices of degrees that hints leave open; an error where RLinf refuses all of them."""
    if not job.choices:
        return job, ()
    if refused := choices_refused(read, document):
        return job, refused
    return following(job, leaders(job, document.root), lambda degrees: _job_with(read, document, degrees))


def _job_with(read: Read, document: Document, degrees: Chosen) -> Job | str:
    """The job of the file with these degrees; why, where RLinf refuses it."""
    reading = read(replace(document, root=with_degrees(document.root, degrees)))
    if reading.problem is not None and not reading.failed:
        return reading.problem.job
    return next((each.message for each in reading.findings if each.severity is Severity.ERROR), "the file cannot be read")
