"""A verl configuration as a Problem: the pools of its program, on nodes, with what runs on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ...cluster import Cluster
from ...configuration.notes import Notes
from ...finding import Severity
from ...job import Job
from ...problem import Problem
from ...reading import Reading
from ...shorthand import AsDeclared
from ...text.document import Document
from ...text.interpolation import Interpolator
from .capabilities import CAPABILITIES, ENVIRONMENT
from .components.built import components_of, relations_of, whole_replicas
from .components.derived import derived
from .configuration import Configuration
from .defaults.choice import table_for
from .entries import entry_of
from .pools import pools_of
from .pools.placed import placed
from .setup import Setup
from .work import judge

NAME, FRAMEWORK = "verl", "verl"


def read(document: Document, machines: Cluster | AsDeclared | None, level: str = "placement") -> Reading:
    """The problem that the file states, and everything that is wrong with it. See `Dialect.read`."""
    notes = Notes(document, FRAMEWORK)
    interpolator = Interpolator.of(document, ENVIRONMENT)
    notes.followed = interpolator.followed
    setup, cluster = _setup(notes, interpolator, machines, level)
    notes.settle()
    job = Job(setup.components, tuple(setup.relations), CAPABILITIES, shares=tuple(setup.shares))
    findings = (*document.findings, *interpolator.findings, *notes.findings)
    unchecked = (*document.unchecked, *interpolator.unchecked, *notes.unchecked)
    return Reading(document, NAME, Problem(cluster, job), findings, unchecked, tuple(setup.derivations))


def _setup(
    notes: Notes, interpolator: Interpolator, machines: Cluster | AsDeclared | None, level: str, instead: Mapping[str, int] | None = None
) -> tuple[Setup, Cluster]:
    """The job and its cluster; with the numbers `instead` of those that are written, nothing else is tried any more."""
    document = notes.document
    entry = entry_of(notes, document.root, document.program)
    settings = Configuration(notes, interpolator, table_for(document, entry), instead)
    declared = pools_of(settings, entry)
    components = components_of(settings, entry, declared.pools)

    def suits(changes: Mapping[str, int]) -> bool:
        if instead is not None:
            return False
        quiet = Notes(document, FRAMEWORK)
        tried, _ = _setup(quiet, Interpolator.of(document, ENVIRONMENT), machines, level, changes)
        before = {finding.message for finding in notes.findings}
        worse = any(finding.severity is Severity.ERROR and finding.message not in before for finding in quiet.findings)
        return not worse and whole_replicas(tried)

    cluster, runs = placed(settings, entry, declared, machines, suits)
    known = tuple(replace(component, runs=runs.get(component.name)) for component in components)
    setup = Setup(notes, settings, entry, declared.pools, known, relations_of(declared.pools))
    setup.derivations += derived(setup)
    judge(setup, level)
    return setup, cluster
