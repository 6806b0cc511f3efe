"""The `hardware` of a node group: robots and the like, one configuration each.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeHardwareConfig) and rlinf/scheduler/hardware/robots.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from heapq import nsmallest

from ...cluster import Hardware
from ...span import Edit
from ...text.nearest import nearest
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of, plain
from .hardware_types import HARDWARE_TYPES, HardwareType
from .notes import Notes, is_unknown


@dataclass(frozen=True)
class GroupHardware:
    """The hardware of a group: its type, and (node rank, device) in the written order.

    `complete` is False where a device could not be read, so that their number is not known.
    """

    type: str
    devices: tuple[tuple[int, Hardware], ...]
    complete: bool = True


def read_hardware(notes: Notes, value: Value, group: str, nodes: frozenset[int], size: int | None) -> GroupHardware | None:
    """The hardware, or None if its type cannot be told (the reason is noted)."""
    if is_unknown(value):
        return None
    if not isinstance(value, Mapping):
        notes.error("PW116", group, f"`hardware` of group `{group}` must be a map", value, kind_of(value), "write `type:` and `configs:`")
        return None
    notes.unknown_keys(value, group, ("type", "configs"), True, "`hardware`")
    for key in ("type", "configs"):
        if value.get(key) is None:
            notes.error("PW101", group, f"`hardware` of group `{group}` has no `{key}`", value.span, "here", f"add `{key}:`")
    name = value.get("type")
    kind = _type(notes, name, group) if name is not None else None
    if kind is None:
        return None
    configs = value.get("configs")
    if configs is None or is_unknown(configs):
        return GroupHardware(kind, (), False)
    if not isinstance(configs, Sequence):
        message = f"`configs` of group `{group}` must be a list, but it is {kind_of(configs)}"
        notes.error("PW116", group, message, configs, kind_of(configs), "start each item with `- `: is a `-` missing?")
        return GroupHardware(kind, (), False)
    if not configs.items:
        message = f"group `{group}` has no {kind}: every placement on it fails (RLinf: IndexError)"
        notes.warn("PW116", group, message, configs, "empty", f"list each {kind} with its `node_rank`")
    devices = []
    seen: set[str] = set()
    for item in configs.items:
        device = _device(notes, item, group, kind, nodes, size)
        written = json.dumps(plain(item), sort_keys=True, default=str)
        if written in seen:
            notes.error("PW116", group, f"the same {kind} is listed twice in group `{group}`", item, "again here", "remove one of the two")
        seen.add(written)
        if device is not None:
            devices.append(device)
    return GroupHardware(kind, tuple(devices), len(devices) == len(configs.items))


def _type(notes: Notes, value: Value, group: str) -> str | None:
    if is_unknown(value):
        return None
    if isinstance(value, Scalar) and value.text in HARDWARE_TYPES:
        return value.text
    name = value.text if isinstance(value, Scalar) else kind_of(value)
    close = nearest(name, HARDWARE_TYPES)
    help = f"write `{close}`" if close else f"types are {', '.join(HARDWARE_TYPES)}"
    edit = Edit(value.span, close) if close and isinstance(value, Scalar) and value.origin is None else None
    notes.error("PW116", group, f"`{name}` is no hardware type that RLinf can configure", value, "not a type", help, edit)
    return None


def _device(notes: Notes, item: Value, group: str, kind: str, nodes: frozenset[int], size: int | None) -> tuple[int, Hardware] | None:
    if is_unknown(item):
        return None
    if not isinstance(item, Mapping):
        message = f"an item of `configs` of group `{group}` must be a map, but it is {kind_of(item)}"
        notes.error("PW116", group, message, item, kind_of(item), "write `- node_rank: ...`")
        return None
    table = HARDWARE_TYPES[kind]
    notes.unknown_keys(item, group, ("node_rank", *table.fields), True, f"a {kind} configuration")
    _values(notes, item, group, kind, table, size)
    rank = item.get("node_rank")
    if rank is None:
        notes.error("PW101", group, f"a {kind} of group `{group}` has no `node_rank`", item.span, "here", "add `node_rank:`")
        return None
    if is_unknown(rank):
        return None
    number = rank.value if isinstance(rank, Scalar) else None
    if not isinstance(number, int) or isinstance(number, bool):
        quoted = isinstance(rank, Scalar) and rank.text.isdecimal() and rank.origin is None
        edit = Edit(rank.span, rank.text) if isinstance(rank, Scalar) and quoted else None
        help = f"write `{edit.text}` without quotes" if edit else "write a node rank such as `0`"
        notes.error("PW116", group, f"`node_rank` must be a whole number, but it is {kind_of(rank)}", rank, kind_of(rank), help, edit)
        return None
    if number not in nodes:
        known = ", ".join(map(str, nsmallest(8, nodes))) or "none"
        message = f"node {number} of this {kind} is not in group `{group}`, which has the nodes {known}"
        notes.error("PW116", group, message, rank, "outside the group", f"name one of {known}, or add node {number} to `node_ranks`")
        return None
    config = tuple((entry.key.text, _shown(entry.value)) for entry in item if entry.key.text != "node_rank")
    return number, Hardware(kind, config)


def _shown(value: Value) -> str:
    return value.text if isinstance(value, Scalar) else str(plain(value))


def _values(notes: Notes, item: Mapping, group: str, kind: str, table: HardwareType, size: int | None) -> None:
    for entry in item:
        key, value = entry.key.text, entry.value
        if is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
            continue
        if key in table.addresses:
            _address(notes, key, value, group)
        text = value.text if isinstance(value, Scalar) else kind_of(value)
        if key in table.strict and text not in table.strict[key]:
            allowed = " or ".join(f"`{name}`" for name in table.strict[key])
            notes.error("PW116", group, f"`{key}` must be {allowed}, but it is `{text}`", value, "not one of them", f"write {allowed}")
        if key in table.known and text not in table.known[key]:
            allowed = ", ".join(f"`{name}`" for name in table.known[key])
            notes.warn(
                "PW116",
                group,
                f"`{key}` is `{text}`; for a {kind} RLinf knows {allowed}",
                value,
                "not one of them",
                f"write one of {allowed}",
            )
        number = value.value if isinstance(value, Scalar) else None
        if key in table.controllers and size is not None and isinstance(number, int) and not 0 <= number < size:
            message = f"`{key}` is {number}, but the nodes are 0-{size - 1}; RLinf notices only when it starts the controller"
            notes.warn("PW116", group, message, value, "no such node", f"name a node from 0 to {size - 1}")


def _address(notes: Notes, key: str, value: Value, group: str) -> None:
    from ipaddress import ip_address

    text = value.text if isinstance(value, Scalar) else kind_of(value)
    try:
        ip_address(text)
    except ValueError:
        notes.error(
            "PW116",
            group,
            f"`{key}` must be an IP address, but it is `{text}`",
            value,
            "not an address",
            "write an address such as `10.0.0.2`",
        )
