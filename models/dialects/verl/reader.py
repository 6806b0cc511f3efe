"""A verl configuration as a Problem: the pools of its program, on nodes, with what runs on them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Mapping as MappingType

from ...configuration.notes import Notes
from ...configuration.settings import Amount
from ...findings.finding import Severity
from ...hints.said import may_leave_degrees, timed_names
from ...job import Job
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared
from ...problem import Problem
from ...reading import Reading
from ...said import Said
from ...text.document import Document
from ...text.interpolation import Interpolator
from ...text.tree import Mapping
from ..dialect import DEFAULT_LEVEL, TRAINING
from ..following import interpolates
from .capabilities import CAPABILITIES, ENVIRONMENT
from .components.parallel import is_served
from .configuration import Configuration
from .defaults.choice import table_for
from .entries import Entry, Kind, entry_of
from .hinted import HINTS, is_open, opened, with_hints
from .job.built import components_of, relations_of, whole_replicas
from .job.derived import derived
from .job.setup import Setup
from .misspelt import judge_keys
from .planning.anew import anew, choices_refused
from .planning.degrees import amounts_of, leader_of
from .planning.following import with_numbers
from .planning.opening import plan_pools
from .planning.programs import is_planned
from .planning.referring import following_keys
from .planning.refused import Known, Numbers, Refused
from .pools import Declared, pools_of
from .pools.placed import placed
from .recognise import NAME
from .tried import keep_what_works
from .work import judge

FRAMEWORK = "verl"


def read(document: Document, machines: Cluster | AsDeclared | None, level: str = DEFAULT_LEVEL) -> Reading:
    """The problem that the file states, and everything that is wrong with it. See `Dialect.read`."""
    found = read_with(document, machines, level=level)
    hints = document.root.get(HINTS)
    if not timed_names(hints):
        return found

    def again(machines: Cluster | AsDeclared | None, open_: bool, root: Mapping | None, known: Known | None) -> Reading:
        return read_with(document if root is None else replace(document, root=root), machines, open_, level, known)

    def own(name: str) -> MappingType[str, Amount]:
        entry, settings, declared = declared_in(Notes(document, FRAMEWORK), Interpolator.of(document, ENVIRONMENT), None, True)
        return amounts_of(settings, entry, declared, name)

    return replace(
        found,
        anew=lambda: anew(again, document.root, machines, own),
        choices_refused=(lambda: choices_refused(again, document.root, machines, own)) if may_leave_degrees(hints) else None,
    )


def read_with(
    document: Document, machines: Cluster | AsDeclared | None, open_: bool = False, level: str = DEFAULT_LEVEL, known: Known | None = None
) -> Reading:
    """As `read`; `open_`: the pools of components with times have no size, whatever the file says.

    `known` is what was found of what verl refuses on these machines, of this file with any degrees; it is added to. Without it no size is judged.
    """
    notes = Notes(document, FRAMEWORK)
    interpolator = Interpolator.of(document, ENVIRONMENT)
    notes.followed = interpolator.followed
    setup, cluster = _setup(notes, interpolator, machines, level, open_=open_, known=known)
    once = {(finding.code, finding.message, finding.span): finding for finding in reversed(notes.findings)}
    notes.findings = list(reversed(once.values()))  # what two roles take from one key is said of the first
    notes.settle()
    overlap = bool(setup.parts)  # what runs on a part of its pool may share with what runs on all of it
    capabilities = replace(CAPABILITIES, shares_accelerators=overlap) if overlap else CAPABILITIES
    job = Job(
        setup.components, tuple(setup.relations), capabilities, shares=tuple(setup.shares), pools=setup.pools, models=setup.models,
        links=setup.links, preference=setup.preference, workload=setup.workload, choices=setup.choices, laying=setup.laying, accepted=setup.accepted,
        tied=setup.tied, followed=setup.followed, sizes_not_read=setup.sizes_not_read, by_size=setup.by_size,
    )  # fmt: skip
    findings = (*document.findings, *interpolator.findings, *notes.findings)
    unchecked = (*document.unchecked, *interpolator.unchecked, *notes.unchecked)
    return Reading(document, NAME, Problem(cluster, job), findings, unchecked, tuple(setup.derivations))


def _setup(
    notes: Notes, interpolator: Interpolator, machines: Cluster | AsDeclared | None, level: str, instead: MappingType[str, int] | None = None,
    open_: bool = False, known: Known | None = None, hints: bool = True,
) -> tuple[Setup, Cluster]:  # fmt: skip
    """The job and its cluster; with the numbers `instead` of those that are written, nothing else is tried any more.

    Without `hints` it is what verl has, of which only what is refused is asked.
    """
    document = notes.document
    refers = interpolates(document.root)
    is_tied = instead is None and refers
    entry, settings, declared = declared_in(notes, interpolator, instead, open_)
    sized = replace(declared, pools=tuple(pool for pool in declared.pools if not is_open(settings, pool)))
    components = components_of(settings, entry, declared, sized.pools)

    def changed(changes: MappingType[str, int]) -> tuple[Notes, Interpolator]:
        its = replace(document, root=with_numbers(document.root, changes)) if is_tied else document
        return Notes(its, FRAMEWORK), Interpolator.of(its, ENVIRONMENT)

    def again(changes: MappingType[str, int]) -> Setup:
        return _setup(*changed(changes), machines, level, changes, open_)[0]

    def bare(changes: MappingType[str, int]) -> Setup:
        return _setup(*changed(changes), machines, TRAINING, changes, open_, hints=False)[0]

    def degrees(changes: MappingType[str, int]) -> Numbers:
        entry, settings, declared = declared_in(*changed(changes), changes, open_)
        names = [name for pool in declared.pools for name in pool.components]
        return tuple((its.name, its.value) for name in names for its in amounts_of(settings, entry, declared, name).values())

    def suits(changes: MappingType[str, int]) -> bool:
        if instead is not None:
            return False
        tried, before = again(changes), {finding.message for finding in notes.findings}
        worse = any(finding.severity is Severity.ERROR and finding.message not in before for finding in tried.notes.findings)
        return not worse and whole_replicas(tried)

    cluster, runs = placed(settings, entry, sized, machines, suits)
    there = tuple(
        replace(component, runs=runs[component.name]) if component.name in runs else opened(component) for component in components
    )
    if isinstance(machines, Cluster) and cluster is not machines:  # what was said of its room holds for its CPUs too
        there = tuple(replace(component, cpus=0) for component in there)
    own, relations = partial(amounts_of, settings, entry, declared), tuple(relations_of(declared))
    said = with_hints(settings, cluster, there, relations, own, refers) if hints else Said(there, relations)
    setup = Setup(
        notes, settings, entry, sized.pools, said.components, list(said.relations), parts=declared.ranges, links=said.links,
        preference=said.preference, workload=said.workload, choices=said.choices,
    )  # fmt: skip
    if not hints:
        judge(setup, level, models=False)
        return setup, cluster
    setup.derivations += derived(setup)
    if entry.kind is not Kind.NOTHING:
        judge(setup, level)
        judge_keys(notes, settings)
    if instead is None:
        keep_what_works(setup, again)
    if settings.anew and instead is None and known is not None:
        sizes = [key for pool in declared.pools if pool not in sized.pools for key in (pool.nodes_key, pool.accelerators_key)]
        served = {"rollout", *(["reward_model"] if is_served(settings, entry) else [])}
        dealt = frozenset(its.name for each in components if each.name not in served for its in own(each.name).values())
        before = frozenset((each.code, each.subject) for each in notes.findings)
        refused = Refused(known, bare, degrees, following_keys(document.root, sizes) if is_tied else frozenset(), dealt, before)
        plan_pools(setup, cluster, declared.pools, own, partial(leader_of, settings, entry, declared), refused)
    return setup, cluster


def declared_in(
    notes: Notes, interpolator: Interpolator, instead: MappingType[str, int] | None = None, open_: bool = False
) -> tuple[Entry, Configuration, Declared]:
    """The program, its settings and its pools, those too whose size is left to hints."""
    entry = entry_of(notes, notes.document.root, notes.document.program)
    settings = Configuration(notes, interpolator, table_for(notes.document, entry), instead, open_ and is_planned(entry))
    return entry, settings, pools_of(settings, entry)
