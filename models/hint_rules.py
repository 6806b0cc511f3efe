"""Hints that contradict each other, found before anything is searched."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Mapping, Sequence

from .cluster import Cluster
from .component import COLOCATED, UNBOUNDED, Component, Parallel, Relation
from .finding import Finding, error
from .node_group import NODE
from .span import Edit
from .text.nearest import nearest


def consistent(
    components: Sequence[Component],
    relations: list[Relation],
    choices: Mapping[str, tuple[Parallel, ...]],
    cluster: Cluster,
    findings: list[Finding],
) -> Iterator[Component]:
    """The components; `findings` gets what is wrong with them, and relations to components that do not exist are removed."""
    by_name = {component.name: component for component in components}
    for relation in list(relations):
        faults = list(_relation(relation, by_name, cluster))
        findings += faults
        if faults:
            relations.remove(relation)
    related = {name for relation in relations if relation.kind == COLOCATED for name in relation.components}
    for component in components:
        findings += _component(component, choices.get(component.name, (component.parallel,)), component.name in related, cluster)
        yield component


def _relation(relation: Relation, by_name: Mapping[str, Component], cluster: Cluster) -> Iterator[Finding]:
    name, other = relation.components
    key = "colocate_with" if relation.kind == COLOCATED else "disjoint_from"
    if other not in by_name:
        close = nearest(other, by_name)
        edit = Edit(relation.span, close) if close and relation.span else None
        advice = f"write `{close}`" if close else "name one of " + ", ".join(f"`{each}`" for each in by_name if each != name)
        message = f"`{name}` names `{other}` in `{key}`, which is no component"
        yield error("PW121", name, message, relation.span, label="not a component", help=advice, edit=edit)
    elif other == name:
        yield error("PW121", name, f"`{name}` names itself in `{key}`", relation.span, help="name another component")
    else:
        kinds = [cluster.kind(by_name[each].node_groups) for each in relation.components]
        if NODE in kinds or kinds[0] != kinds[1]:
            message = f"`{name}` is placed on {kinds[0]}s and `{other}` on {kinds[1]}s: they cannot be compared by accelerator"
            yield error("PW121", name, message, relation.span, help=f"drop `{key}`, or name a node group with accelerators")
        ranged = [by_name[each] for each in relation.components if by_name[each].contiguous]
        if relation.kind == COLOCATED and len({component.node_groups for component in ranged}) > 1:
            message = f"`{name}` and `{other}` are both contiguous, in the numberings of different node groups"
            yield error("PW121", name, message, relation.span, help="give both the same `node_group`")


def _component(component: Component, choices: tuple[Parallel, ...], colocated: bool, cluster: Cluster) -> Iterator[Finding]:
    name = component.name
    if component.stride > 1 and not component.contiguous:
        message = f"`{name}` has stride {component.stride} but is not contiguous"
        yield error("PW121", name, message, component.span("stride"), help="add `contiguous: true`, or drop `stride`")
    if cluster.kind(component.node_groups) == NODE:
        return
    if component.runs is None and not colocated and not {"amount", "placement", "colocate_with"} & component.spans.keys():
        message = f"nobody says how large `{name}` is"
        yield error("PW101", name, message, component.span("name"), label="no amount", help="add `accelerators:` or `processes:`")
    for parallel in choices:
        each = component.per_process
        if parallel.tp % each and each % parallel.tp:
            message = f"processes of {each} accelerators and tp groups of {parallel.tp} do not nest in `{name}`"
            yield error("PW121", name, message, component.span("parallel"), help="make one a multiple of the other")
            return
    least, most = component.least, component.most
    steps = [_step(component, parallel) for parallel in choices]
    if most < UNBOUNDED and all(-(-least // step) * step > most for step in steps):
        step = steps[0]
        asked = str(least) if least == most else f"{least}-{most}"
        lower, upper = least // step * step, -(-least // step) * step
        fit = f"{lower} or {upper}" if lower else str(upper)
        message = (
            f"`{name}` asks for {asked} accelerators, which hold no multiple of {step} ({choices[0]}, {component.per_process} a process)"
        )
        yield error(
            "PW208", name, message, component.span("amount"), label=f"no multiple of {step}", help=f"ask for {fit}", amount=least % step
        )


def _step(component: Component, parallel: Parallel) -> int:
    return replace(component, parallel=parallel).step
