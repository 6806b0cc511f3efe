"""The block `placewright:` of a framework's own file, which the framework ignores: hints, and what holds between components."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from ..component import Component, Relation
from ..findings.finding import Finding, error, warning
from ..findings.span import Edit
from ..machines.cluster import Cluster
from ..model_cards.of_block import MODEL
from ..roles import role_of
from ..said import Said
from ..text.nearest import nearest
from ..text.tree import MapNode, Value
from .add import add_hints
from .plan import read_plan
from .preference import read_preference
from .relations import read_links, read_relations
from .times.usual_phases import with_usual_phases

NAME = "placewright"
COMPONENTS, RELATIONS, LINKS, OBJECTIVE, PLAN = "components", "relations", "links", "objective", "plan"
IGNORED = "PW124"
KEYS = (COMPONENTS, RELATIONS, LINKS, OBJECTIVE, PLAN, MODEL)


def add_block(
    block: Value, cluster: Cluster, components: tuple[Component, ...], findings: list[Finding], further: tuple[Relation, ...] = (),
    undivided: Collection[str] = (),
) -> Said:  # fmt: skip
    """As `add_hints`, from the whole block, whose keys are `KEYS`; `components` may be left out where another key is there.

    `undivided`: those of which the framework divides nothing by their degrees.
    """
    keys = list(block) if isinstance(block, MapNode) else []
    for entry in keys:
        if entry.key.text not in KEYS:
            close = nearest(entry.key.text, KEYS)
            edit = Edit(entry.key.span, close) if close else None
            advice = f"write `{close}`" if close else "its keys are " + ", ".join(f"`{key}`" for key in KEYS)
            message = f"`{entry.key.text}` is no key of the block `placewright`"
            findings.append(error("PW104", "", message, entry.key.span, label="not known", help=advice, edit=edit))
    inner = block.get(COMPONENTS) if isinstance(block, MapNode) else None
    if not isinstance(block, MapNode) or not keys or (inner is not None and not isinstance(inner, MapNode)):
        span = inner.span if inner is not None else block.span
        message = "the block `placewright` holds a map `components` of hints"
        findings.append(error("PW105", "", message, span, help="write `components: {actor: {accelerators: 8}}` in it"))
        return Said(components, further)
    hinted = inner if isinstance(inner, MapNode) else MapNode((), block.span)
    names = list(dict.fromkeys([*(component.name for component in components), *(entry.key.text for entry in hinted)]))
    further += tuple(read_relations(block.get(RELATIONS), names, findings, f"{NAME}.{RELATIONS}"))
    links = tuple(read_links(block.get(LINKS), names, findings, f"{NAME}.{LINKS}"))
    known, relations, choices, faulty = add_hints(hinted, cluster, components, findings, further, undivided)
    for name, its in ((entry.key.text, entry.value) for entry in hinted):
        if name not in faulty and isinstance(its, MapNode) and (ranks := its.get("placement")) is not None:
            message = f"the ranks of `{name}` belong into the framework's own section, not into its hints"
            findings.append(error("PW121", name, message, ranks.span, help="move them there"))
    known = tuple(_with_own_role(each, components, findings) for each in known)
    there = {component.name for component in known}
    links = tuple(link for link in links if {link.source, link.target} <= there)
    preference = read_preference(block.get(OBJECTIVE), findings, f"{NAME}.{OBJECTIVE}")
    known, assumed = with_usual_phases(known, block.get(PLAN))
    workload = read_plan(block.get(PLAN), known, findings, f"{NAME}.{PLAN}", faulty, cluster)
    workload = workload and replace(workload, assumed=(*workload.assumed, *assumed))
    return Said(known, relations, choices, links, preference, workload)


def _with_own_role(component: Component, components: tuple[Component, ...], findings: list[Finding]) -> Component:
    """A component of the framework keeps the role that this runs it in; a warning where its hints say another one."""
    before = next((each for each in components if each.name == component.name), None)
    role = role_of(before) if before is not None else ""
    if before is None or not role or role_of(component) == role:
        return component
    message = f"`role` of `{component.name}` is `{component.role}`, but the file's own framework runs it as `{role}`: the hint is ignored"
    findings.append(warning(IGNORED, component.name, message, component.spans.get("role"), help="drop `role`"))
    return replace(component, role=before.role)
