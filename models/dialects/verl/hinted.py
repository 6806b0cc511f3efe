"""Components that hints leave to solve: verl's keys say how large a pool is, so their pool is open until they are written.

A pool is open where the block `placewright:` names one of its components and the file itself does not write both keys of its size.
"""

from __future__ import annotations

from dataclasses import replace

from ...component import UNBOUNDED, Component, Relation
from ...findings.finding import error
from ...machines.cluster import Cluster
from ...pools.pool import Pool
from ...said import Said
from ...text.tree import Mapping, Scalar, Value
from .configuration import Configuration

HINTS = "placewright"


def is_open(settings: Configuration, pool: Pool) -> bool:
    """Is the size of a pool left to hints?"""
    if not pool.nodes_key or not pool.accelerators_key or pool.nodes_key.startswith("--"):
        return False
    hinted = _names(settings.tree(HINTS))
    return bool(hinted & set(pool.components)) and not all(_written(settings, key) for key in (pool.nodes_key, pool.accelerators_key))


def _names(block: Value | None) -> set[str]:
    inner = block.get("components") if isinstance(block, Mapping) else None
    return {entry.key.text for entry in inner} if isinstance(inner, Mapping) else set()


def _written(settings: Configuration, key: str) -> bool:
    value = settings.at(key)
    files = (settings.notes.document.source.name, "--set")
    return isinstance(value, Scalar) and not value.is_null and value.span.file in files


def opened(component: Component) -> Component:
    """The component with its amount and its place left open."""
    spans = {name: span for name, span in component.spans.items() if name not in ("placement", "amount")}
    return replace(component, runs=None, least=1, most=UNBOUNDED, spans=spans)


def with_hints(settings: Configuration, cluster: Cluster, components: tuple[Component, ...], relations: tuple[Relation, ...]) -> Said:
    """The components with what hints say of them, and all relations; their degrees are those of verl's own keys."""
    block = settings.tree(HINTS)
    if block is None:
        return Said(components, relations)
    from ...hints import add_block

    findings = settings.notes.findings
    known = {component.name: component for component in components}
    said = add_block(block, cluster, components, findings, relations)
    kept = []
    for component in said.components:
        before = known.get(component.name)
        if before is None:
            message = f"`{component.name}` is no component of this job"
            findings.append(error("PW121", component.name, message, component.span("name"), help=f"name one of {', '.join(known)}"))
        else:
            kept.append(_with_own_degrees(settings, before, component, block))
    names = {component.name for component in kept}
    its = tuple(each for each in said.relations if set(each.components) <= names)
    links = tuple(link for link in said.links if {link.source, link.target} <= names)
    return Said(tuple(kept), its, links=links, preference=said.preference, workload=said.workload)


def _with_own_degrees(settings: Configuration, before: Component, component: Component, block: Value) -> Component:
    inner = block.get("components") if isinstance(block, Mapping) else None
    hints = inner.get(component.name) if isinstance(inner, Mapping) else None
    said = hints.get("parallel") if isinstance(hints, Mapping) else None
    if said is not None and component.parallel != before.parallel:
        message = f"the hints of `{component.name}` say {component.parallel}, verl's own keys {before.parallel}"
        help_ = "leave `parallel` out of the hints; verl takes it from its own keys"
        settings.notes.error("PW121", component.name, message, said, "differs", help_)
    return replace(component, parallel=before.parallel, role=before.role, cpus=before.cpus)
