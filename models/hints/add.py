"""Hints turned into components, relations and open choices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Collection, Mapping, NamedTuple

from ..component import UNBOUNDED, Component, Parallel, Relation
from ..findings.finding import Finding, UnusableInput, error
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from ..parallel import UNDIVIDED
from ..roles import ROLES
from ..text.form import fill
from ..text.tree import MapNode, Value, find, kind_of, leaves
from ..text.unresolved import UNRESOLVED
from .amount import amount
from .consistent import consistent
from .estimate import unlikely
from .forms import ComponentForm
from .listed import impossible_counts
from .times import by_model, duplicate_time, example, is_ambiguous, missing_counts, misspelt_models, misspelt_phases, timed
from .where import locality_fields, relations_of

MAX_CHOICES = 64
Relations = tuple[Relation, ...]
Choices = Mapping[str, tuple[Parallel, ...]]
_FIELDS = {
    "accelerators": "amount", "processes": "amount", "accelerator": "accelerator_model", "accelerators_per_process": "per_process",
    "pin": "pins", "exclude": "excluded", "phase": "phases", "seconds": "timed",
}  # fmt: skip


class Hinted(NamedTuple):
    """Result of reading hints; `faulty` names components with unusable hints."""

    components: tuple[Component, ...]
    relations: Relations
    choices: Choices
    faulty: frozenset[str]


def add_hints(
    inner: MapNode, cluster: Cluster, components: tuple[Component, ...], findings: list[Finding], further: Relations = (),
    undivided: Collection[str] = (),
) -> Hinted:  # fmt: skip
    """Merge hints into the known components, and add new components.

    Parameters
    ----------
    inner : name -> hints.
    components : components with ranks given elsewhere; hints about them are checked, not searched.
    findings : gets every fault of the block.
    further : relations from elsewhere in the file.
    undivided : components whose framework divides nothing by their degrees, so no multiple is
        required.
    """
    known = {component.name: component for component in components}
    by_name, relations, choices = dict(known), list(further), dict[str, tuple[Parallel, ...]]()
    faulty = {entry.key.text for entry in inner}
    for entry in inner:
        name = entry.key.text
        if open_values := [value for value in leaves(entry.value) if value.tag == UNRESOLVED]:
            message = f"the hints of `{name}` need a value that is not known here: `{open_values[0].text}`"
            findings.append(error("PW120", name, message, open_values[0].span, help="write the value"))
            continue
        if not isinstance(entry.value, MapNode):
            message = f"the hints of `{name}` are {kind_of(entry.value)}, not a map"
            advice = "write hints such as `{accelerators: 8}`, or `{placement: 0-7}`"
            findings.append(error("PW105", name, message, entry.value.span, label=kind_of(entry.value), help=advice))
            continue
        try:
            form = fill(ComponentForm, entry.value, name, f"the hints of `{name}`")
            form = by_model(form, cluster)
            component = _component(form, name, entry.value, cluster, known.get(name))
        except UnusableInput as problem:
            findings += problem.findings
            continue
        findings += misspelt_models(form, name, entry.value.get("seconds"), cluster)
        spans = {**component.spans, "name": component.spans.get("name", entry.key.span)}
        by_name[name] = replace(component, spans=spans)
        faulty.remove(name)
        relations += relations_of(form, name, entry.value)
        groups = component.node_groups
        degrees = (UNDIVIDED,) if name in undivided else form.parallel.choices()
        findings += impossible_counts(component, degrees, entry.value, _room(cluster, groups), cluster.kind(groups))
        if len(form.parallel.choices()) > 1:
            choices[name] = form.parallel.choices()
    count = 1
    for name, alternatives in choices.items():
        if by_name[name].timed is None:  # with times, the planner chooses degrees
            count *= len(alternatives)
    if count > MAX_CHOICES:
        message = f"{count} combinations of parallel degrees are open, more than the {MAX_CHOICES} that are tried"
        findings.append(error("PW121", next(iter(choices)), message, inner.span, help="leave fewer degrees open"))
    findings += misspelt_phases(inner, faulty, cluster)
    unjudged = faulty.union(*(relation.components for relation in relations if not faulty.isdisjoint(relation.components)))
    missing = faulty - by_name.keys()
    relations = [relation for relation in relations if missing.isdisjoint(relation.components)]
    checked = tuple(consistent(tuple(by_name.values()), relations, choices, cluster, findings, further, unjudged, undivided))
    return Hinted(checked, tuple(relations), choices, frozenset(faulty))


def _component(form: ComponentForm, name: str, value: Value, cluster: Cluster, known: Component | None) -> Component:
    """Return a component built from hints.

    Raises UnusableInput for impossible hints.
    """
    spans = {}
    for entry in value if isinstance(value, MapNode) else ():
        spans[entry.key.text] = spans[_FIELDS.get(entry.key.text, entry.key.text)] = entry.value.span
    groups = known.node_groups if known and "node_group" not in spans else form.node_group
    for label in groups:
        if label not in cluster.groups:
            exist = ", ".join(f"`{group}`" for group in cluster.groups)
            message = f"`{name}` names node group `{label}`, which does not exist"
            raise UnusableInput(
                [error("PW107", name, message, spans.get("node_group"), label="not declared", help=f"write one of {exist}")]
            )
    if len(set(groups)) < len(groups):
        message = f"`{name}` names node group `{groups[0]}` twice"
        raise UnusableInput([error("PW121", name, message, spans.get("node_group"), help="name each group once")])
    if fault := _group_fault(form, name, groups, cluster):
        raise UnusableInput([error("PW121", name, fault, spans.get("node_group"), help="name groups that go together")])
    for requested in (form.accelerators, form.processes):
        if requested and requested[-1][1] >= UNBOUNDED:
            message = f"`{name}` asks for {requested[-1][1]:,}, more than {UNBOUNDED - 1:,}, the most that is read"
            raise UnusableInput([error("PW121", name, message, spans.get("amount"), label="too many", help="ask for less")])
    per_process, least, most, counts = amount(form, name, cluster.kind(groups) == NODE, spans.get("amount", value.span))
    available = min(most, _room(cluster, groups))
    if form.seconds and is_ambiguous(form, least, available):
        noun = "accelerators" if cluster.kind(groups) == ACCELERATOR else "processes"
        first = counts[0] if counts else (least, available)
        written = find(value, "seconds") or value
        raise UnusableInput(missing_counts(name, written, form.phase, cluster, noun, example(*first, form.parallel.choices()[0].replica)))
    if (times := timed(form, least)) and (clash := duplicate_time(times)):
        message = f"`{name}` has two times for {clash}"
        raise UnusableInput([error("PW121", name, message, spans["timed"], label="which?", help="write one of them, such as their mean")])
    if known and "amount" not in spans:
        least, most, counts = known.least, known.most, known.counts
        per_process = per_process if form.accelerators_per_process else known.per_process
    known = known or Component(name, role=name if name in ROLES else "")
    changes = {field: read(form) for field, read in _READ.items() if field in spans}
    changes |= locality_fields(form, name, value, cluster)
    changes |= {"timed": times} if "timed" in spans else {}
    if form.seconds and not form.phase:  # the times name the phases
        changes["phases"] = tuple(dict.fromkeys(row.phase for row in form.seconds if row.phase))
    if place := find(value, "estimate.shards"):
        spans["shards"] = place.span
    changes["counts"] = counts
    component = replace(
        known, node_groups=groups, least=least, most=most, per_process=per_process, spans={**known.spans, **spans}, **changes
    )
    if impossible := unlikely(component, form.parallel.choices()):
        place = find(value, f"estimate.{impossible[1]}")
        raise UnusableInput([error("PW121", name, impossible[0], place.span if place else spans["estimate"], help=impossible[2])])
    return component


_READ: Mapping[str, Callable[[ComponentForm], Any]] = {
    "role": lambda form: form.role or "",
    "parallel": lambda form: form.parallel.choices()[0],
    "memory": lambda form: form.memory,
    "offloaded": lambda form: form.offloaded,
    "host_memory": lambda form: form.host_memory,
    "traffic": lambda form: form.traffic,
    "cpus": lambda form: form.cpus or 0,
    "phases": lambda form: form.phase,
    "accelerator_model": lambda form: form.accelerator or "",
    "estimate": lambda form: form.estimate.estimate() if form.estimate else None,
    "contiguous": lambda form: form.contiguous,
    "any_order": lambda form: form.any_order,
    "stride": lambda form: form.stride,
}
"""Field of a Component -> value in hints; unwritten fields keep their value."""


def _room(cluster: Cluster, groups: tuple[str, ...]) -> int:
    """Return the resources of node groups; unbounded if unknown, or for processes on nodes."""
    kind = cluster.kind(groups)
    if kind == NODE or not cluster.counted:
        return UNBOUNDED
    return sum(cluster.nodes[rank].count(kind) for rank in {rank for label in groups for rank in cluster.groups[label].node_ranks})


def _group_fault(form: ComponentForm, name: str, groups: tuple[str, ...], cluster: Cluster) -> str:
    """Return why the groups cannot be searched together for a component; else ""."""
    kinds = dict.fromkeys(cluster.groups[label].kind for label in groups)
    if len(kinds) > 1:
        return f"`{name}` may be on groups that number {' and '.join(f'{kind}s' for kind in kinds)}"
    nodes = [rank for label in groups for rank in cluster.groups[label].node_ranks]
    if form.contiguous and len(set(nodes)) < len(nodes):
        return f"`{name}` is contiguous over groups that share nodes, so these are numbered twice"
    return ""
