"""Roles whose place is left to hints: those that ROLL starts, with workers of the size that their strategy needs."""

from __future__ import annotations

from dataclasses import replace

from ....component import UNBOUNDED, Component
from ....configuration.notes import Notes
from ....counts import times
from ....findings.span import Edit
from ....hints.without import without
from ....text.nearest import nearest
from ....text.tree import Mapping, Value
from .role import Role


def only_roles(notes: Notes, block: Value, roles: tuple[Role, ...]) -> Value | None:
    """The block without hints about what ROLL does not start, a finding for each of these; None where nothing else is in it."""
    inner = block.get("components") if isinstance(block, Mapping) else None
    if not isinstance(inner, Mapping):
        return block
    started = [role.key for role in roles if role.created]
    strange = [entry for entry in inner if entry.key.text not in started]
    for entry in strange:
        name = entry.key.text
        close = nearest(name, [each for each in started if inner.get(each) is None])
        why = next((f": {role.reason}" for role in roles if role.key == name), "")
        message = f"the hints are about `{name}`, which ROLL does not start{why}"
        edit = Edit(entry.key.span, close) if close else None
        help = f"write `{close}`" if close else f"roles are {', '.join(f'`{each}`' for each in started)}"
        notes.error("PW121", name, message, entry.key.span, "not started", help, edit)
    return without(block, strange)


def with_workers(component: Component, each: int) -> Component:
    """The component with workers of as many devices as its strategy needs, where the hints say nothing else."""
    spans = component.spans.keys()
    if "accelerators_per_process" in spans or {"accelerators", "processes"} <= spans or each <= 1:
        return component
    if "processes" in spans:  # then the hints count workers
        most = component.most if component.most >= UNBOUNDED else component.most * each
        counts = times(component.counts, each)
        return replace(component, per_process=each, least=component.least * each, most=most, counts=counts)
    return replace(component, per_process=each)
