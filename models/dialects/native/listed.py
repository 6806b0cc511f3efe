"""Explicit placement of a component node by node, in a native file.

Example: `placement: [{ranks: 0-3, node: 0, accelerators: 0-3}]`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ...component import Component
from ...findings.finding import Finding, error
from ...findings.span import Edit
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR, NODE
from ...placements.placement_list import ListedPlacement, ListFault, read_list
from ...text.edit import in_flow_map
from ...text.tree import ListNode, MapNode, Value, find, plain
from .agreed import with_placement_amounts


def place_by_list(component: Component, written: ListNode, cluster: Cluster, findings: list[Finding]) -> Component | None:
    """Return the component with its runs; None and findings if the list is invalid.

    `written` has the right form (`PlacedForm`).
    """
    faults: list[ListFault] = []
    entries = list(_entries(component, written, cluster, faults))
    runs = read_list(entries, cluster, faults) if not faults else ()
    for fault in faults:
        item = written.items[fault.entry]
        value = find(item, fault.key) if fault.key else None
        edit = Edit(value.span, in_flow_map(fault.better)) if value and fault.better else None
        advice = f"write `{edit.text}`" if edit else fault.help or "write entries such as `{ranks: 0-3, node: 0, accelerators: 0-3}`"
        findings.append(
            error(
                fault.code,
                component.name,
                f"`{component.name}`: {fault.message}",
                (value or item).span,
                label=fault.label,
                help=advice,
                edit=edit,
            )
        )
    if faults:
        return None
    sizes_by_rank: dict[int, int] = {}
    for run in runs:
        sizes_by_rank[run.ranks.start] = sizes_by_rank.get(run.ranks.start, 0) + run.each
    sizes = {max(1, size) for size in sizes_by_rank.values()}
    component = with_placement_amounts(component, runs, cluster.kind(component.node_groups), sizes, findings)
    return replace(component, runs=runs, spans={**component.spans, "placement": written.span})


def _entries(component: Component, written: ListNode, cluster: Cluster, faults: list[ListFault]) -> Iterator[ListedPlacement]:
    """Yield the entries, each with node group and kind of resource."""
    for position, item in enumerate(written.items):
        data = {entry.key.text: entry.value for entry in item} if isinstance(item, MapNode) else {}
        label = _text(data["node_group"]) if "node_group" in data else component.node_groups[0]
        if label not in component.node_groups:
            exist = ", ".join(f"`{group}`" for group in component.node_groups)
            faults.append(
                ListFault(
                    "PW107",
                    f"`{label}` is none of its node groups",
                    position,
                    "node_group",
                    "not one of its groups",
                    f"name one of {exist}",
                )
            )
            continue
        if {"accelerators", "hardware"} <= data.keys():
            faults.append(ListFault("PW302", "an entry holds accelerators or hardware, not both", position, "hardware", "both are named"))
            continue
        key = next((key for key in ("accelerators", "hardware") if key in data), "")
        kind = {"": NODE, "accelerators": ACCELERATOR}.get(key, cluster.groups[label].kind)
        if key == "hardware" and kind in (ACCELERATOR, NODE):
            message = f"`{label}` numbers {kind.lower()}s, so an entry in it names no hardware"
            faults.append(ListFault("PW302", message, position, "hardware", "no hardware"))
            continue
        yield ListedPlacement(_text(data["ranks"]), _text(data["node"]), label, kind, _texts(data[key]) if key else None)


def _text(value: Value) -> str:
    return str(plain(value))


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(map(_text, value.items)) if isinstance(value, ListNode) else (_text(value),)
