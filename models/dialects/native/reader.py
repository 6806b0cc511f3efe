"""Reader of a native file: the cluster, and hints or explicit ranks per component."""

from __future__ import annotations

from ...component import Component
from ...findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...hints.add import add_hints
from ...hints.plan import read_plan, with_estimated_times
from ...hints.relations import read_links, read_preference, read_relations
from ...hints.times import with_usual_phases
from ...job import Job
from ...level import DEFAULT_LEVEL
from ...machines.cluster import Cluster
from ...machines.node import Node, Nodes
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE_LABEL, NodeGroup
from ...machines.shorthand import DeclaredNodes, correct_shorthand, read_shorthand
from ...planning.spec import PlanningSpec
from ...problem import Problem
from ...reading import Reading
from ...record import replace
from ...sharing import restrict
from ...text.document import Document
from ...text.form import fill
from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.source import Source
from ...text.tree import ListNode, MapNode, Scalar, Value
from ..dialect import Machines
from . import KEYS, NAME
from .placement import place_by_list, place_by_text
from .sections import read_allowed, read_work

UNKNOWN = Cluster(Nodes(()), counted=False)
"""Cluster of a file that names none."""
OF_THE_CLUSTER = ("nodes", "node_groups")
"""Keys of a cluster file; a native file has them below `cluster`."""


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """Return the problem of a native file, with the work that `level` judges.

    Raises UnusableInput if nothing usable remains.
    """
    root, source, findings = document.root, document.source, list(document.findings)
    for entry in root:
        if entry.key.text not in KEYS:
            close = nearest(entry.key.text, KEYS)
            edit = Edit(entry.key.span, close) if close else None
            advice = f"write `{close}`" if close else "its keys are " + ", ".join(f"`{key}`" for key in KEYS)
            advice = f"write it below `cluster`, as `cluster: {{{entry.key.text}: ...}}`" if entry.key.text in OF_THE_CLUSTER else advice
            message = f"unknown key `{entry.key.text}` in a native file"
            findings.append(error("PW104", "", message, entry.key.span, label="not known", help=advice, edit=edit))
    interpolator = Interpolator.of(document)
    values = {key: interpolator.tree(value, (key,)) for key in KEYS if (value := root.get(key)) is not None}
    cluster = _cluster(values.get("cluster"), machines, source, findings)
    if cluster is UNKNOWN:
        cluster = cluster.with_groups(NodeGroup(label, (), ACCELERATOR) for label in sorted(_named_groups(values.get("components"))))
    problem = None if cluster is None else _problem(values, cluster, source, level, findings)
    unchecked_items = [*document.unchecked, *interpolator.unchecked]
    if cluster is not None and not cluster.counted:
        why = "the number of nodes is not given" if isinstance(machines, DeclaredNodes) else "the cluster is not given"
        unchecked_items.append(Unchecked("PW102", "", why, True, "Pass `--cluster 2x8xH100`, or write `cluster: 2x8xH100`"))
    return Reading(document, NAME, problem, (*interpolator.findings, *findings), tuple(unchecked_items))


def _named_groups(components: Value | None) -> set[str]:
    """Return the node groups that components name, for a cluster that is not known."""
    hints = [entry.value for entry in components] if isinstance(components, MapNode) else []
    group_values = [group for hint in hints if isinstance(hint, MapNode) and (group := hint.get("node_group")) is not None]
    items = [item for group in group_values for item in (group.items if isinstance(group, ListNode) else (group,))]
    return {item.text for item in items if isinstance(item, Scalar)} - {CLUSTER_LABEL, NODE_LABEL}


def _problem(values: dict[str, Value], cluster: Cluster, source: Source, level: str, findings: list[Finding]) -> Problem:
    section = values.get("components")
    if not isinstance(section, MapNode):
        span = source.whole() if section is None else section.span
        help_ = "write `components: {actor: {accelerators: 8}}`"
        findings.append(error("PW105", "", "`components` must be a map of components", span, help=help_))
        return Problem(cluster, Job(()))
    names_in_file = [entry.key.text for entry in section]
    file_relations = tuple(read_relations(values.get("relations"), names_in_file, findings))
    links = tuple(read_links(values.get("links"), names_in_file, findings))
    work = tuple(read_work(values.get("work"), names_in_file, level, findings))
    components, relations, choices, faulty = add_hints(section, cluster, (), findings, file_relations)
    placed_components = []
    for component in components:
        placed_component: Component | None = component
        hints = section.get(component.name)
        placement = hints.get("placement") if isinstance(hints, MapNode) else None
        if not cluster.counted and isinstance(placement, (Scalar, ListNode)):
            placed_component = replace(component, spans={**component.spans, "placement": placement.span})
        elif isinstance(placement, Scalar) and not placement.is_null:
            placed_component = place_by_text(
                component, choices.get(component.name, (component.parallel,)), placement, source, cluster, findings
            )
        elif isinstance(placement, ListNode):
            placed_component = place_by_list(component, placement, cluster, findings)
        if placed_component is not None:
            placed_components.append(placed_component)
    # Ranks with a stride were dealt out for fixed degrees, so the degrees are no longer open.
    names_with_choice = {component.name for component in placed_components if component.runs is None or component.stride == 1}
    open_ = {name: degrees for name, degrees in choices.items() if name in names_with_choice}
    placed_names = {component.name for component in placed_components}
    relations = relations and restrict(Problem(cluster, Job(components, relations)), placed_names).job.relations
    shares = tuple(share for share in work if share.component in placed_names)
    links = tuple(link for link in links if {link.source, link.target} <= placed_names)
    preference = read_preference(values.get("objective"), findings)
    allow = read_allowed(values.get("allow"), findings)
    with_times = with_estimated_times(placed_components, open_, cluster, values.get("plan"), findings)
    members, assumptions = with_usual_phases(with_times, values.get("plan"))
    workload = read_plan(values.get("plan"), members, findings, faulty=faulty | (set(names_in_file) - placed_names), cluster=cluster)
    workload = workload and replace(workload, assumed=(*workload.assumed, *assumptions))
    return Problem(
        cluster, Job(members, relations, allow, open_, shares, links=links, preference=preference, planning=PlanningSpec(workload=workload))
    )


def _cluster(value: Value | None, machines: Machines, source: Source, findings: list[Finding]) -> Cluster | None:
    """Return the cluster of the caller, else of the file, else UNKNOWN; None if unusable."""
    cluster = None
    if value is not None:
        try:
            cluster = _read_cluster(value)
        except UnusableInput as problem:
            findings += problem.findings
    if isinstance(machines, DeclaredNodes):
        machines = None
    if machines is None:
        return UNKNOWN if value is None else cluster
    if cluster is None:
        return machines
    if [_devices_of(node) for node in cluster.nodes] != [_devices_of(node) for node in machines.nodes] and value is not None:
        message = f"the file describes {_size(cluster)}, but `--cluster` with {_size(machines)} is used"
        findings.append(warning("PW114", "", message, value.span, label="not used", help="make the two agree"))
    if any(rank >= len(machines.nodes) for group in cluster.declared for rank in group.node_ranks):
        message = f"node groups of the file name nodes beyond the {len(machines.nodes)} of `--cluster`"
        findings.append(error("PW114", "", message, value.span if value else None, help="name a cluster with all these nodes"))
        return None
    return replace(machines, declared=machines.declared or cluster.declared)


def _devices_of(node: Node) -> tuple[int, list[str]]:
    """Return the number of accelerators and the types of other hardware."""
    return len(node.accelerators), sorted(device.type for device in node.hardware)


def _size(cluster: Cluster) -> str:
    types = sorted({device.type for node in cluster.nodes for device in node.hardware})
    hardware = f" ({', '.join(types)})" if types else ""
    return f"{with_noun(len(cluster.nodes), 'node')} and {with_noun(cluster.total(), 'accelerator')}{hardware}"


def _read_cluster(value: Value) -> Cluster:
    """Return the cluster of the file.

    Raises UnusableInput.
    """
    if isinstance(value, Scalar):
        try:
            cluster = read_shorthand(value.text)
        except ValueError as problem:
            advice = f"write `{better}`" if (better := correct_shorthand(value.text)) else "write it like `cluster: 2x8xH100`"
            raise UnusableInput([error("PW011", "", f"{problem}", value.span, help=advice)]) from None
        if isinstance(cluster, DeclaredNodes):
            message, whole = f"`{value.text}` does not say how many nodes there are", f"2{value.text}"
            raise UnusableInput([error("PW011", "", message, value.span, help=f"write `cluster: {whole}`", edit=Edit(value.span, whole))])
        return cluster
    from ...machines.cluster_file import ClusterForm

    form = fill(ClusterForm, value, "", "the cluster", "PW011")
    try:
        return form.build()
    except ValueError as problem:
        raise UnusableInput([error("PW011", "", f"the cluster cannot be: {problem}", value.span, help="fix it")]) from None
