"""Hardware of a node group: robots, one configuration each.

Source: RLinf, rlinf/scheduler/hardware/robots/*.py (commit a3816b59).

Source: RLinf, rlinf/scheduler/hardware/robots/*.py.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeHardwareConfig) and rlinf/scheduler/hardware/robots.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from typing import Mapping as MappingType

from ...configuration.notes import Notes, is_unknown
from ...findings.finding import Severity
from ...machines.cluster import Hardware
from ...ranks import Ranks
from ...text.nearest import nearest
from ...text.reshape import as_list, without_item
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of, plain
from .known import before, releases_of

_CAMERAS = ("realsense", "zed", "lumos")
_GRIPPERS = ("franka", "robotiq")


@dataclass(frozen=True)
class HardwareType:
    """`fields` besides the required `node_rank`; `addresses` must be IP addresses; `strict` and `known` list the values
    of a field: RLinf refuses another one of `strict` when it reads the file, of `known` at the earliest on the node.
    `counted_by`: where the file configures none for a node, RLinf makes one for every value that the node's environment
    variables of these fields hold (auto_config.py, RobotAutoConfig).
    """

    fields: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    strict: MappingType[str, tuple[str, ...]] = field(default_factory=dict)
    known: MappingType[str, tuple[str, ...]] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()
    counted_by: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that count them."""
        return tuple(name.upper() for name in self.counted_by)


def _both(name: str) -> tuple[str, str]:
    return f"left_{name}", f"right_{name}"


HARDWARE_TYPES: MappingType[str, HardwareType] = {
    "Franka": HardwareType(
        (
            "robot_ip", "camera_serials", "camera_type", "gripper_type", "gripper_connection", "controller_node_rank",
            "disable_validate",
        ),
        addresses=("robot_ip",),
        known={"camera_type": _CAMERAS, "gripper_type": _GRIPPERS},
        controllers=("controller_node_rank",),
        counted_by=("robot_ip",),
    ),
    "DualFranka": HardwareType(
        (
            *_both("robot_ip"), "base_camera_serials", *_both("camera_serials"), "camera_type", "base_camera_type",
            *_both("camera_type"), *_both("gripper_type"), *_both("gripper_connection"), *_both("controller_node_rank"),
        ),
        addresses=_both("robot_ip"),
        known={
            **dict.fromkeys(("camera_type", "base_camera_type", *_both("camera_type")), _CAMERAS),
            **dict.fromkeys(_both("gripper_type"), _GRIPPERS),
        },
        controllers=_both("controller_node_rank"),
        counted_by=_both("robot_ip"),
    ),
    "Turtle2": HardwareType(()),
    "GimArm": HardwareType(
        (
            "can_interface", "arm_variant", "camera_serials", "camera_type", "enable_gripper", "gripper_type",
            "controller_node_rank", "disable_validate",
        ),
        strict={"arm_variant": ("gim_arm", "gim_arm_xl")},
        known={"camera_type": ("realsense", "zed"), "gripper_type": ("parallel", "single_side")},
        controllers=("controller_node_rank",),
        counted_by=("can_interface",),
    ),
    "DOSW1": HardwareType(
        ("robot_url", "left_arm_port", "right_arm_port", "left_lead_port", "right_lead_port", "camera_serials"),
        counted_by=("robot_url",),
    ),
}  # fmt: skip


def check_fields(notes: Notes, item: Mapping, group: str, kind: str, size: int | None) -> None:
    """Note every value that RLinf refuses, or will stumble over later. `size`: how many nodes there are."""
    table = HARDWARE_TYPES[kind]
    for entry in item:
        key, value = entry.key.text, entry.value
        if is_unknown(value):
            continue
        empty = isinstance(value, Scalar) and value.is_null
        if key in table.strict:
            _one_of(notes, key, value, group, kind, table.strict[key], True)
        if empty:
            continue  # RLinf fills it from a variable of the node, or leaves it
        if key in table.addresses:
            _address(notes, key, value, group)
        if key in table.known:
            _one_of(notes, key, value, group, kind, table.known[key], False)
        number = value.value if isinstance(value, Scalar) else None
        if key in table.controllers and size is not None and isinstance(number, int) and not 0 <= number < size:
            message = f"`{key}` is {number}, but the nodes are 0-{size - 1}; RLinf notices only when it starts the controller"
            edit = notes.instead(value, "0") if size == 1 else None
            notes.warn("PW116", group, message, value, "no such node", f"name a node from 0 to {size - 1}", edit)


def _one_of(notes: Notes, key: str, value: Value, group: str, kind: str, names: tuple[str, ...], refused: bool) -> None:
    text = ("" if value.is_null else value.text) if isinstance(value, Scalar) else kind_of(value)
    if text in names:
        return
    listed = " or ".join(f"`{name}`" for name in names)
    close = nearest(text, names)
    help = f"write `{close}`" if close else f"write {listed}"
    edit = notes.instead(value, close) if close else None
    if refused:
        shown = f"`{text}`" if text else "nothing"
        notes.error("PW116", group, f"`{key}` must be {listed}, but it is {shown}", value, "not one of them", help, edit)
    else:
        notes.warn("PW116", group, f"`{key}` is `{text}`; for a {kind} RLinf knows {listed}", value, "not one of them", help, edit)


def _address(notes: Notes, key: str, value: Value, group: str) -> None:
    from ipaddress import ip_address

    number = value.value if isinstance(value, Scalar) else None
    text = value.text if isinstance(value, Scalar) else kind_of(value)
    try:
        ip_address(number if isinstance(number, int) else text)  # Python takes a whole number for an address, and so does RLinf
    except ValueError:
        message = f"`{key}` must be an IP address, but it is `{text}`"
        notes.error("PW116", group, message, value, "not an address", "write an address such as `10.0.0.2`")


@dataclass(frozen=True)
class GroupHardware:
    """The hardware of a group: its type, and (node rank, device) in the written order.

    `complete` is False where a device could not be read, so that their number is not known; `open` is True where RLinf may
    find more of them, on nodes that the file configures none for.
    """

    type: str
    devices: tuple[tuple[int, Hardware], ...]
    complete: bool = True
    open: bool = False


def read_hardware(notes: Notes, value: Value, group: str, nodes: Ranks, size: int | None) -> GroupHardware | None:
    """The hardware, or None if its type cannot be told (the reason is noted)."""
    if is_unknown(value):
        return None
    if not isinstance(value, Mapping):
        notes.error("PW116", group, f"`hardware` of group `{group}` must be a map", value, kind_of(value), "write `type:` and `configs:`")
        return None
    value = notes.unknown_keys(value, group, ("type", "configs"), True, "`hardware`")
    for key in ("type", "configs"):
        if value.get(key) is None:
            notes.error("PW101", group, f"`hardware` of group `{group}` has no `{key}`", value.span, "here", f"add `{key}:`")
    name = value.get("type")
    kind = _type(notes, name, group) if name is not None else None
    if kind is None:
        return None
    configs = value.get("configs")
    return _configured(notes, configs, group, kind, nodes, size) if configs is not None else GroupHardware(kind, (), False)


def _configured(notes: Notes, configs: Value, group: str, kind: str, nodes: Ranks, size: int | None) -> GroupHardware:
    if is_unknown(configs):
        return GroupHardware(kind, (), False)
    if (isinstance(configs, Mapping) and configs.entries) or isinstance(configs, Scalar):
        message = f"`configs` of group `{group}` must be a list, but it is {kind_of(configs)}"
        edit = as_list(notes.document.text_of(configs.span.file), configs, each=False) if isinstance(configs, Mapping) else None
        notes.error("PW116", group, message, configs, kind_of(configs), "start each item with `- `: is a `-` missing?", edit)
        if edit is None:
            return GroupHardware(kind, (), False)
        first = len(notes.findings)
        meant = _configured(notes, Sequence((configs,), configs.span), group, kind, nodes, size)
        notes.in_new_form(first)
        return meant
    items = configs.items if isinstance(configs, Sequence) else ()
    devices = _devices(notes, configs, group, kind, nodes, size)
    complete = len(devices) == len(items)
    return GroupHardware(kind, tuple(devices), complete, complete and _open(notes, configs, group, kind, nodes, devices))


def _devices(notes: Notes, configs: Value, group: str, kind: str, nodes: Ranks, size: int | None) -> list[tuple[int, Hardware]]:
    devices = []
    items = configs.items if isinstance(configs, Sequence) else ()
    every = [_written(item) for item in items]
    seen: set[str] = set()
    for item, written in zip(items, every):
        device = _device(notes, item, group, kind, nodes, size, every)
        if written in seen and isinstance(configs, Sequence):
            edit = without_item(notes.document.text_of(configs.span.file), configs, item)
            message = f"the same {kind} is listed twice in group `{group}`"
            notes.error("PW116", group, message, item, "again here", "remove one of the two", edit)
        seen.add(written)
        if device is not None:
            devices.append(device)
    return devices


def _written(item: Value, **more: int) -> str:
    """What is the same for two of the same configuration; `more`: with these fields."""
    found = plain(item)
    return json.dumps({**found, **more} if isinstance(found, dict) else found, sort_keys=True, default=str)


def _open(notes: Notes, configs: Value, group: str, kind: str, nodes: Ranks, devices: list[tuple[int, Hardware]]) -> bool:
    """May RLinf find more than the file configures, through the variables of nodes that have none? Then that is said."""
    table = HARDWARE_TYPES[kind]
    configured = {rank for rank, _ in devices}
    bare = next((rank for rank in nodes if rank not in configured), None)
    listed = " and ".join(f"`{name}`" for name in table.variables)
    if bare is not None and table.counted_by:
        why = f"node {bare} has no {kind} in the file; if {listed} is set there, RLinf makes one for each of its values"
        notes.unsure("PW116", group, why)
    elif not devices:
        message = f"group `{group}` has no {kind}: every placement on it fails (RLinf: IndexError)"
        notes.warn("PW116", group, message, configs, "empty", f"list each {kind} with its `node_rank`")
    without = [device for _, device in devices if any(not dict(device.config).get(name) for name in table.addresses)]
    if without:
        names = " and ".join(f"`{name.upper()}`" for name in table.addresses)
        why = f"{len(without)} {kind}{'s' * (len(without) > 1)} without an address: RLinf takes it from {names} of the node"
        notes.unsure("PW116", group, why)
    return bare is not None and bool(table.counted_by)


def _type(notes: Notes, value: Value, group: str) -> str | None:
    if is_unknown(value):
        return None
    if isinstance(value, Scalar) and value.text in HARDWARE_TYPES:
        if older := before("hardware", value.text):
            message = f"RLinf before {older.until} cannot configure a {value.text}"
            notes.judge(older, Severity.ERROR, "PW116", group, message, value, "not a type yet", f"run RLinf {older.until}")
        return value.text
    name = value.text if isinstance(value, Scalar) else kind_of(value)
    close = nearest(name, HARDWARE_TYPES)
    help = f"write `{close}`" if close else f"types are {', '.join(HARDWARE_TYPES)}"
    edit = notes.instead(value, close) if close else None
    notes.error("PW116", group, f"`{name}` is no hardware type that RLinf can configure", value, "not a type", help, edit)
    return close


def _device(
    notes: Notes, item: Value, group: str, kind: str, nodes: Ranks, size: int | None, every: list[str]
) -> tuple[int, Hardware] | None:
    if is_unknown(item):
        return None
    if not isinstance(item, Mapping):
        message = f"an item of `configs` of group `{group}` must be a map, but it is {kind_of(item)}"
        notes.error("PW116", group, message, item, kind_of(item), "write `- node_rank: ...`")
        return None
    table = HARDWARE_TYPES[kind]
    item = notes.unknown_keys(item, group, ("node_rank", *table.fields), True, f"a {kind} configuration")
    check_fields(notes, item, group, kind, size)
    _check_release(notes, item, group, kind)
    only = str(nodes.first) if len(nodes) == 1 else ""
    rank = item.get("node_rank")
    if rank is None:
        first = only and _written(item, node_rank=nodes.first) not in every
        edit = notes.added(item, "node_rank", only) if first else None
        help = f"add `node_rank: {only if first else '...'}`"
        notes.error("PW101", group, f"a {kind} of group `{group}` has no `node_rank`", item.span, "here", help, edit)
        return None
    if is_unknown(rank):
        return None
    number = rank.value if isinstance(rank, Scalar) else None
    if isinstance(number, bool):
        message = f"RLinf takes `node_rank: {rank.text if isinstance(rank, Scalar) else ''}` for {int(number)}"
        notes.warn("PW118", group, message, rank, f"this is {int(number)}", f"write `{int(number)}`", notes.instead(rank, str(int(number))))
        number = int(number)
    if not isinstance(number, int):
        quoted = isinstance(rank, Scalar) and rank.text.isascii() and rank.text.isdecimal()
        edit = notes.instead(rank, rank.text) if isinstance(rank, Scalar) and quoted else None
        help = f"write `{edit.text}` without quotes" if edit else "write a node rank such as `0`"
        notes.error("PW116", group, f"`node_rank` must be a whole number, but it is {kind_of(rank)}", rank, kind_of(rank), help, edit)
        if edit is None:
            return None
        number = int(edit.text)
    if not any(number in ranks for ranks in nodes.ranges):
        known = ", ".join(map(str, islice(nodes, 8))) or "none"
        message = f"node {number} of this {kind} is not in group `{group}`, which has the nodes {known}"
        help = f"name one of {known}, or add node {number} to `node_ranks`"
        notes.error("PW116", group, message, rank, "outside the group", help, notes.instead(rank, only) if only else None)
        if not only:
            return None
        number = nodes.first
    config = tuple((entry.key.text, _shown(entry.value)) for entry in item if entry.key.text != "node_rank")
    return number, Hardware(kind, config)


def _check_release(notes: Notes, item: Mapping, group: str, kind: str) -> None:
    """Note fields that a release does not know yet, and those without which it cannot do."""
    typed = before("hardware", kind)
    for entry in item:
        older = before("hardware_field", f"{kind}.{entry.key.text}")
        if older and older != typed:
            message = f"a {kind} configuration has no key `{entry.key.text}` before RLinf {older.until}"
            help = f"remove it, or run RLinf {older.until}"
            notes.judge(older, Severity.ERROR, "PW104", group, message, entry.key.span, "not a key yet", help, notes.removed(item, entry))
    for name in HARDWARE_TYPES[kind].fields:
        for needed in releases_of("hardware_required", f"{kind}.{name}"):
            if item.get(name) is None:
                message = f"a {kind} of group `{group}` has no `{name}`, which RLinf before {needed.until} needs"
                notes.judge(needed, Severity.ERROR, "PW101", group, message, item.span, "here", f"add `{name}:`")


def _shown(value: Value) -> str:
    if isinstance(value, Scalar):
        return "" if value.is_null else value.text
    return str(plain(value))
