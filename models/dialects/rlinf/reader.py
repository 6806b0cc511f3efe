"""An RLinf configuration as a Problem: the whole `cluster` section, every fault at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...derivation import Derivation, Figure
from ...findings.finding import Finding, Severity
from ...hints.said import may_leave_degrees
from ...job import Job
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared
from ...planning.workload import Workload
from ...problem import Problem
from ...reading import Reading
from ...said import Said
from ...text.document import Document
from ...text.interpolation import Interpolator
from ...text.tree import Mapping, Scalar, Value
from ..dialect import DEFAULT_LEVEL, TRAINING
from .capabilities import CAPABILITIES, ENVIRONMENT, NAMES
from .cluster.machines import machines_of
from .cluster.node_groups import DeclaredGroups, read_node_groups
from .cluster.num_nodes import read_num_nodes
from .cluster.profiling import read_profiling
from .cluster.section import section_of
from .components.component_placement import Context, read_components
from .components.least import accelerators_per_node
from .components.written import component_placement, names_in
from .modes import read_mode
from .modes.hybrid import with_own_degrees
from .modes.undivided import trained_whole
from .planning.hints import of_what_runs, with_phases_of_idle
from .planning.measured_on import measured_on_of
from .planning.opened import Opened
from .profiled import KEY, is_profiled
from .recognise import HINTS, NAME
from .work.batches import batches
from .work.environments import environments
from .work.models import models
from .work.shares import Work
from .work.sizes import sizes

FRAMEWORK = "RLinf"


def read(document: Document, machines: Cluster | AsDeclared | None, level: str = DEFAULT_LEVEL) -> Reading:
    """The problem that the file states, and everything that is wrong with it. See `Dialect.read`."""
    found = read_with(document, machines, level, hints=True)
    if not is_profiled(document.root, document.root.get(HINTS)):
        return found
    anew = partial(_read_anew, document, machines, level, found.problem)
    refused = partial(_choices_refused, document, machines, level) if may_leave_degrees(document.root.get(HINTS)) else None
    return replace(found, anew=anew, choices_refused=refused, times_of_ranks=True)


def _read_anew(document: Document, machines: Cluster | AsDeclared | None, level: str, written: Problem | None) -> Reading:
    from .planning.anew import anew

    return anew(partial(read_with, machines=machines, level=level, hints=True, anew=True), document, written)


def _choices_refused(document: Document, machines: Cluster | AsDeclared | None, level: str) -> tuple[Finding, ...]:
    from .planning.anew import choices_refused

    return choices_refused(partial(read_with, machines=machines, level=level, hints=True, anew=True), document)


def read_with(document: Document, machines: Cluster | AsDeclared | None, level: str, hints: bool, anew: bool = False) -> Reading:
    """As `read`; without `hints` only what is explicit is read; `anew`: the ranks of components with times are left open."""
    root = document.root
    notes = Notes(document, FRAMEWORK)
    interpolator = Interpolator.of(document, ENVIRONMENT, NAMES)
    notes.followed = interpolator.followed
    derivations: list[Derivation] = []
    problem = _problem(notes, interpolator, root, machines, level, hints, anew, derivations)
    notes.settle()
    findings = (*document.findings, *interpolator.findings, *notes.findings)
    unchecked = (*document.unchecked, *interpolator.unchecked, *notes.unchecked)
    return Reading(document, NAME, problem, findings, unchecked, tuple(derivations))


def _problem(
    notes: Notes,
    interpolator: Interpolator,
    root: Mapping,
    machines: Cluster | AsDeclared | None,
    level: str,
    hints: bool,
    anew: bool,
    derivations: list[Derivation],
) -> Problem | None:
    section = section_of(notes, interpolator, root)
    if section is None:
        return None
    values: dict[str, Value | None] = {}
    for key in ("num_nodes", "node_groups", "component_placement", "profiling"):
        value = section.get(key)
        values[key] = value if value is None else interpolator.tree(value, ("cluster", key))
    count = read_num_nodes(notes, section, values["num_nodes"])
    groups = read_node_groups(notes, values["node_groups"], count)
    read_profiling(notes, values["profiling"])
    at = values["num_nodes"] or section
    hinted = root.get(HINTS)
    placed = component_placement(notes, section, values["component_placement"], hinted is not None)
    block = interpolator.tree(hinted, (HINTS,)) if hints and hinted is not None else None
    block, measured = measured_on_of(notes, root, block)
    fits = partial(_fits, notes, groups, placed, block)
    cluster = None if count is None else machines_of(notes, count, at, groups.groups, machines, fits)
    per_node = machines.count if isinstance(machines, AsDeclared) and not groups.groups else 0
    context = Context(notes, cluster, groups, per_node, lacks_nodes=isinstance(machines, Cluster))
    components = read_components(context, placed) if placed is not None else ()
    if cluster is None or count is None:
        return None
    if context.asked:
        ones = machines_of(Notes(notes.document, FRAMEWORK), count, at, groups.groups, AsDeclared(1))
        least = accelerators_per_node(ones, Figure("cluster.num_nodes", count, at.span), components, context.asked)
        derivations += [least] if least else []
    settings = Settings(notes, interpolator)
    planned = Opened(components)
    if anew and cluster.counted:
        from .planning.open import opened

        planned = opened(notes, settings, cluster, components, block, measured)
        components = planned.components
    whole = block
    if block is not None and is_profiled(root, block):
        block = of_what_runs(notes, settings, root, block, components, planned)
    if placed is not None and (block is not None or root.get(KEY) is not None):
        from .planning.misspelt import misspelt_times

        task = settings.at("runner.task_type")
        word = task.text if isinstance(task, Scalar) else ""
        block = misspelt_times(notes, root.get(KEY), block, [each.name for each in components], word)
    said = Said(components, planned.relations)
    if block is not None:
        from ...hints.block import add_block

        said = add_block(block, cluster, components, notes.findings, planned.relations, trained_whole(settings, root, hinted))
    owner = (placed or section).span
    profiled = is_profiled(root, hinted if hints else None)
    said = with_own_degrees(settings, said, bool(planned.own)) if profiled else said
    said = replace(said, components=with_phases_of_idle(settings, cluster, whole, block, components, said.components))
    mode = read_mode(
        notes, settings, cluster, names_in(placed), owner, said.components, said.relations, planned.names, said.choices, profiled
    )
    work = _judged(Work(notes, settings, mode), interpolator, level, bool(planned.own))
    derivations += work.derivations
    written = profiled and not anew  # then what has ranks has the degrees of the file, with which RLinf starts it
    has_own = {each.name for each in mode.components if written and (each.runs is not None or "placement" in each.spans)}
    open_ = {name: degrees for name, degrees in said.choices.items() if name not in mode.shaped | has_own}
    capabilities = replace(CAPABILITIES, packs=mode.packs)
    relations = (*mode.relations, *work.relations)
    job = Job(
        mode.components, relations, capabilities, open_, tuple(work.shares), models=work.models, links=said.links, preference=said.preference,
        workload=_workload(settings, mode.task, said, block, planned), ways=mode.ways if planned.own else (), own=planned.own,
        shapes=mode.shapes if planned.own else {},
    )  # fmt: skip
    return Problem(cluster, job)


def _judged(work: Work, interpolator: Interpolator, level: str, is_planned: bool) -> Work:
    """With what the settings of the job demand of sizes, environments and models, and of batches where the level says so."""
    sizes(work)
    environments(work)
    models(work)
    if level == TRAINING:
        batches(work)
    elif is_planned:
        quiet = Notes(work.notes.document, FRAMEWORK)  # what is planned divides at the level `training` too
        further = Work(quiet, Settings(quiet, interpolator), work.mode)
        batches(further)
        work.shares += further.shares
    return work


def _workload(settings: Settings, task: str, said: Said, block: Value | None, planned: Opened) -> Workload | None:
    """By what counts are chosen; None where no component says its time."""
    if not planned.own:
        return said.workload
    from ...hints.plan import read_plan
    from .planning.workload import as_rlinf

    workload = said.workload or read_plan(None, said.components, [])
    return workload and as_rlinf(settings, task, workload, [each for each in said.components if each.timed], block)


def _fits(
    notes: Notes, groups: DeclaredGroups, placed: Mapping | None, block: Value | None, cluster: Cluster, judged: Cluster
) -> bool:  # fmt: skip
    """Has every component that is placed its place in this cluster, and is it mended there as on the nodes that are `judged`?

    So has what the hints of a `block` say of nodes. Not known, so no, where a group could not be read.
    """
    if groups.broken or groups.nameless:
        return False
    mends = []
    for each in (judged, cluster):
        quiet = Notes(notes.document, FRAMEWORK)
        components = read_components(Context(quiet, each, groups), placed) if placed is not None else ()
        mends.append({finding.edit for finding in quiet.findings if finding.severity is Severity.ERROR})
    if block is not None:
        from ...hints.block import add_block

        add_block(block, cluster, components, quiet.findings)
    outside = any(finding.code == "PW102" for finding in quiet.findings)
    return mends[0] == mends[1] and not outside and not any(component.fixes for component in components)
