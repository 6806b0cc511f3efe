"""A native file, read: the cluster in one word or in full, and hints or ranks for every component."""

from __future__ import annotations

from dataclasses import replace

from ...component import Component
from ...findings.finding import Finding, UnusableInput, error, warning
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...hints.add import add_hints
from ...hints.plan import read_plan
from ...hints.relations import read_links, read_preference, read_relations
from ...hints.times import with_usual_phases
from ...job import Job
from ...level import DEFAULT_LEVEL
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared, meant, read_shorthand
from ...part import among
from ...planning.spec import PlanningSpec
from ...problem import Problem
from ...reading import Reading
from ...text.document import Document
from ...text.form import fill
from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.source import Source
from ...text.tree import ListNode, MapNode, Scalar, Value
from ..dialect import Machines
from .allowed import read_allowed
from .listed import listed
from .placement import placed
from .recognise import KEYS, NAME
from .sections import read_work

OF_THE_CLUSTER = ("nodes", "node_groups")
"""Keys of a cluster file, which stand below `cluster` in a native one."""


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """The problem that a native file states; with the work that `level` judges. Raises UnusableInput where nothing is left."""
    root, source, findings = document.root, document.source, list(document.findings)
    for entry in root:
        if entry.key.text not in KEYS:
            close = nearest(entry.key.text, KEYS)
            edit = Edit(entry.key.span, close) if close else None
            advice = f"write `{close}`" if close else "its keys are " + ", ".join(f"`{key}`" for key in KEYS)
            advice = f"write it below `cluster`, as `cluster: {{{entry.key.text}: ...}}`" if entry.key.text in OF_THE_CLUSTER else advice
            message = f"`{entry.key.text}` is no key of a native file"
            findings.append(error("PW104", "", message, entry.key.span, label="not known", help=advice, edit=edit))
    interpolator = Interpolator.of(document)
    resolved = {key: interpolator.tree(value, (key,)) for key in KEYS if (value := root.get(key)) is not None}
    cluster = _cluster(resolved.get("cluster"), machines, source, findings)
    problem = None if cluster is None else _problem(resolved, cluster, source, level, findings)
    return Reading(document, NAME, problem, (*interpolator.findings, *findings), (*document.unchecked, *interpolator.unchecked))


def _problem(values: dict[str, Value], cluster: Cluster, source: Source, level: str, findings: list[Finding]) -> Problem:
    written = values.get("components")
    if not isinstance(written, MapNode):
        span = source.whole() if written is None else written.span
        findings.append(
            error("PW105", "", "`components` must be a map of components", span, help="write `components: {actor: {accelerators: 8}}`")
        )
        return Problem(cluster, Job(()))
    every = [entry.key.text for entry in written]
    further = tuple(read_relations(values.get("relations"), every, findings))
    links = tuple(read_links(values.get("links"), every, findings))
    work = tuple(read_work(values.get("work"), every, level, findings))
    components, relations, choices, faulty = add_hints(written, cluster, (), findings, further)
    kept = []
    for component in components:
        found: Component | None = component
        hints = written.get(component.name)
        placement = hints.get("placement") if isinstance(hints, MapNode) else None
        if isinstance(placement, Scalar) and not placement.is_null:
            found = placed(component, choices.get(component.name, (component.parallel,)), placement, source, cluster, findings)
        elif isinstance(placement, ListNode):
            found = listed(component, placement, cluster, findings)
        if found is not None:
            kept.append(found)
    # Ranks with a stride were dealt out for certain degrees, so that these are not open any more.
    names = {component.name for component in kept if component.runs is None or component.stride == 1}
    open_ = {name: its for name, its in choices.items() if name in names}
    there = {component.name for component in kept}
    relations = among(Problem(cluster, Job(tuple(components), tuple(relations))), there).job.relations
    shares = tuple(share for share in work if share.component in there)
    links = tuple(link for link in links if {link.source, link.target} <= there)
    preference = read_preference(values.get("objective"), findings)
    allowed = read_allowed(values.get("allow"), findings)
    known, assumed = with_usual_phases(kept, values.get("plan"))
    workload = read_plan(values.get("plan"), known, findings, faulty=faulty | (set(every) - there), cluster=cluster)
    workload = workload and replace(workload, assumed=(*workload.assumed, *assumed))
    return Problem(
        cluster, Job(known, relations, allowed, open_, shares, links=links, preference=preference, planning=PlanningSpec(workload=workload))
    )


def _cluster(written: Value | None, machines: Machines, source: Source, findings: list[Finding]) -> Cluster | None:
    """The machines that were given, else those of the file; None (with findings) if there are none."""
    own = None
    if written is not None:
        try:
            own = _written(written)
        except UnusableInput as problem:
            findings += problem.findings
    if isinstance(machines, AsDeclared):
        if own is None:
            message = "the file declares no nodes that accelerators could be counted on"
            findings.append(error("PW101", "", message, source.whole(), help="name the whole cluster: `--cluster 2x8xH100`"))
            return None
        return own
    if machines is None:
        if written is None:
            message = "nobody says what the cluster is"
            findings.append(error("PW101", "", message, source.whole(), help="add `cluster: 2x8xH100`, or name it with `--cluster`"))
        return own
    if own is None:
        return machines
    if [len(node.accelerators) for node in own.nodes] != [len(node.accelerators) for node in machines.nodes] and written is not None:
        message = f"the file describes {_size(own)}; `--cluster` with {_size(machines)} is used instead"
        findings.append(warning("PW114", "", message, written.span, label="not used", help="make the two agree"))
    if any(rank >= len(machines.nodes) for group in own.declared for rank in group.node_ranks):
        message = f"node groups of the file name nodes beyond the {len(machines.nodes)} of `--cluster`"
        findings.append(error("PW114", "", message, written.span if written else None, help="name a cluster with all these nodes"))
        return None
    return replace(machines, declared=machines.declared or own.declared)


def _size(cluster: Cluster) -> str:
    return f"{with_noun(len(cluster.nodes), 'node')} and {with_noun(cluster.total(), 'accelerator')}"


def _written(value: Value) -> Cluster:
    """The cluster as the file writes it. Raises UnusableInput."""
    if isinstance(value, Scalar):
        try:
            found = read_shorthand(value.text)
        except ValueError as problem:
            advice = f"write `{better}`" if (better := meant(value.text)) else "write it like `cluster: 2x8xH100`"
            raise UnusableInput([error("PW011", "", f"{problem}", value.span, help=advice)]) from None
        if isinstance(found, AsDeclared):
            message = f"`{value.text}` does not say how many nodes there are"
            raise UnusableInput(
                [error("PW011", "", message, value.span, help=f"write `cluster: 2{value.text}`", edit=Edit(value.span, f"2{value.text}"))]
            )
        return found
    from ...machines.cluster_file import ClusterForm

    form = fill(ClusterForm, value, "", "the cluster", "PW011")
    try:
        return form.build()
    except ValueError as problem:
        raise UnusableInput([error("PW011", "", f"the cluster cannot be: {problem}", value.span, help="mend it")]) from None
