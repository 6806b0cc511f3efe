"""Hardware of a node group: robots, with a configuration per robot.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeHardwareConfig) and
rlinf/scheduler/hardware/robots/*.py; types and fields are data, facts/hardware.json.
"""

from __future__ import annotations

import json
from dataclasses import field
from functools import cache
from itertools import islice
from typing import Mapping

from ...configuration.notes import Notes, is_unknown
from ...findings.finding import Severity
from ...machines.node import Hardware
from ...ranks import Ranks
from ...record import dataclass
from ...text.tree import ListNode, MapNode, Scalar, Value, kind_of, plain
from .known import FACTS, before, releases_of
from .section import ClusterSection, is_absent

CODE = "PW116"


@dataclass(frozen=True)
class HardwareType:
    """Type of hardware that RLinf can configure.

    Attributes
    ----------
    fields : keys of a configuration besides the required `node_rank`.
    addresses : fields that must be IP addresses.
    strict, known : allowed values of a field: RLinf refuses another value of `strict` when it reads
        the file, of `known` at the earliest on the node.
    controllers : fields that name a node.
    counted_by : fields with environment variables on the node: RLinf makes a configuration per
        value of them if the file configures none for the node (auto_config.py, RobotAutoConfig).
    """

    fields: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    strict: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()
    counted_by: tuple[str, ...] = ()


@cache
def hardware_types() -> Mapping[str, HardwareType]:
    """Return the hardware types of all releases, by name."""
    return {
        name: HardwareType(**attributes) for name, attributes in json.loads((FACTS / "hardware.json").read_text(encoding="utf-8")).items()
    }


@dataclass(frozen=True)
class GroupHardware:
    """Hardware of a group: its type, and (node rank, device) in written order.

    `complete` is False if a device could not be read, so that the number of devices is unknown;
    `open` is True if RLinf may find more devices, on nodes without a configuration in the file.
    """

    type: str
    devices: tuple[tuple[int, Hardware], ...]
    complete: bool = True
    open: bool = False


def read_hardware(notes: Notes, value: Value, group: str, nodes: Ranks, size: int | None) -> GroupHardware | None:
    """Return the hardware of a group; None (noted) if its type is unknown."""
    part = ClusterSection(notes, CODE, group)
    section = part.mapping(value, f"`hardware` of group `{group}`", "write `type:` and `configs:`")
    if section is None:
        return None
    section = notes.unknown_keys(section, group, ("type", "configs"), True, "`hardware`")
    for key in ("type", "configs"):
        if section.get(key) is None:
            part.missing(section, key, f"`hardware` of group `{group}` has no `{key}`")
    named, configs = section.get("type"), section.get("configs")
    kind = part.word(named, hardware_types(), "`{}` is no hardware type that RLinf can configure", "not a type") if named else None
    if named is None or kind is None:
        return None
    if older := before("hardware", kind):
        message = f"RLinf before {older.until} cannot configure a {kind}"
        notes.judge(older, Severity.ERROR, CODE, group, message, named, "not a type yet", f"run RLinf {older.until}")
    if configs is None:
        return GroupHardware(kind, (), False)
    devices = _Devices(part, kind, hardware_types()[kind], nodes, size)
    if isinstance(configs, MapNode) and not configs.entries:
        return devices.read(ListNode((), configs.span))
    return part.items(configs, f"`configs` of group `{group}`", devices.read, GroupHardware(kind, (), False))


@dataclass(frozen=True)
class _Devices:
    """Reader of the hardware configurations of a type on the nodes of a group."""

    part: ClusterSection
    kind: str
    table: HardwareType
    nodes: Ranks
    size: int | None

    def read(self, configs: ListNode) -> GroupHardware:
        """Return all devices, each checked alone and against the earlier ones."""
        devices: list[tuple[int, Hardware]] = []
        written: set[str] = set()
        for item in configs.items:
            device, text = self._device(item), json.dumps(plain(item), sort_keys=True, default=str)
            if text in written:
                message, edit = f"the same {self.kind} is listed twice in group `{self.part.subject}`", self.part.without(configs, item)
                self.part.error(message, item, "again here", "remove one of the two", edit)
            written.add(text)
            devices += [device] if device else []
        complete = len(devices) == len(configs.items)
        return GroupHardware(self.kind, tuple(devices), complete, complete and self._is_open(configs, devices))

    def _is_open(self, configs: Value, devices: list[tuple[int, Hardware]]) -> bool:
        """Return True (noted) if environment variables of nodes may add devices."""
        kind, table, group, notes = self.kind, self.table, self.part.subject, self.part.notes
        configured = {rank for rank, _ in devices}
        bare = next((rank for rank in self.nodes if rank not in configured), None) if table.counted_by else None
        if bare is not None:
            listed = " and ".join(f"`{name.upper()}`" for name in table.counted_by)
            why = f"node {bare} has no {kind} in the file; if {listed} is set there, RLinf makes one for each of its values"
            notes.unsure(CODE, group, why)
        elif not devices:
            message = f"group `{group}` has no {kind}: every placement on it fails (RLinf: IndexError)"
            notes.warn(CODE, group, message, configs, "empty", f"list each {kind} with its `node_rank`")
        without = sum(any(not dict(device.config).get(name) for name in table.addresses) for _, device in devices)
        if without:
            names = " and ".join(f"`{name.upper()}`" for name in table.addresses)
            why = f"{without} {kind}{'s' * (without > 1)} without an address: RLinf takes it from {names} of the node"
            notes.unsure(CODE, group, why)
        return bare is not None

    def _device(self, item: Value) -> tuple[int, Hardware] | None:
        group, kind, part = self.part.subject, self.kind, self.part
        device = part.mapping(item, f"an item of `configs` of group `{group}`", "write `- node_rank: ...`")
        if device is None:
            return None
        device = part.notes.unknown_keys(device, group, ("node_rank", *self.table.fields), True, f"a {kind} configuration")
        for entry in device:
            if not is_unknown(entry.value):
                self._check_field(entry.key.text, entry.value)
        self._check_release(device)
        rank = device.get("node_rank")
        if rank is None:
            only = str(self.nodes.first) if len(self.nodes) == 1 else ""
            part.missing(device, "node_rank", f"a {kind} of group `{group}` has no `node_rank`", only)
        number = None if rank is None or is_unknown(rank) else self._node(rank)
        if number is None:
            return None
        return number, Hardware(kind, tuple((entry.key.text, _shown(entry.value)) for entry in device if entry.key.text != "node_rank"))

    def _node(self, rank: Value) -> int | None:
        """Return the node of a device, possibly corrected; None if unreadable."""
        part, nodes = self.part, self.nodes
        number = rank.value if isinstance(rank, Scalar) else None
        if isinstance(number, bool):
            message, text = f"RLinf takes `node_rank: {number}` for {int(number)}", str(int(number))
            part.notes.warn("PW118", part.subject, message, rank, f"this is {text}", f"write `{text}`", part.notes.instead(rank, text))
        elif not isinstance(number, int):
            text = rank.text if isinstance(rank, Scalar) and rank.text.isascii() and rank.text.isdecimal() else ""
            edit = part.notes.instead(rank, text) if text else None
            help = f"write `{text}` without quotes" if edit else "write a node rank such as `0`"
            part.wrong("`node_rank`", "a whole number", rank, help, edit)
            if edit is None:
                return None
            number = int(text)
        if any(number in ranks for ranks in nodes.ranges):
            return int(number)
        known, only = ", ".join(map(str, islice(nodes, 8))) or "none", str(nodes.first) if len(nodes) == 1 else ""
        message = f"node {number} of this {self.kind} is not in group `{part.subject}`, which has the nodes {known}"
        help = f"name one of {known}, or add node {number} to `node_ranks`"
        part.error(message, rank, "outside the group", help, part.notes.instead(rank, only) if only else None)
        return nodes.first if only else None

    def _check_field(self, key: str, value: Value) -> None:
        """Note a value that RLinf refuses at once or later."""
        table, part = self.table, self.part
        for words, refused in ((table.strict, True), (table.known, False)):
            if key in words and (refused or not is_absent(value)):
                message = f"`{key}` of a {self.kind} must be {' or '.join(f'`{name}`' for name in words[key])}, but it is `{{}}`"
                part.word(value, words[key], message, "not one of them", refused)
        if is_absent(value):
            return  # RLinf fills it from a variable of the node, or leaves it empty
        if key in table.addresses and not _is_address(value):
            message = f"`{key}` must be an IP address, but it is `{value.text if isinstance(value, Scalar) else kind_of(value)}`"
            part.error(message, value, "not an address", "write an address such as `10.0.0.2`")
        number, size = value.value if isinstance(value, Scalar) else None, self.size
        if key in table.controllers and size is not None and isinstance(number, int) and not 0 <= number < size:
            message = f"`{key}` is {number}, but the nodes are 0-{size - 1}"
            edit, when = part.notes.instead(value, "0") if size == 1 else None, "RLinf notices this only when it starts the controller"
            part.notes.warn(CODE, part.subject, message, value, "no such node", f"name a node from 0 to {size - 1}", edit, when)

    def _check_release(self, device: MapNode) -> None:
        """Note fields unknown in a release, and missing fields required by a release."""
        notes, kind, group, typed = self.part.notes, self.kind, self.part.subject, before("hardware", self.kind)
        for entry in device:
            older = before("hardware_field", f"{kind}.{entry.key.text}")
            if older and older != typed:
                message = f"a {kind} configuration has no key `{entry.key.text}` before RLinf {older.until}"
                help, edit = f"remove it, or run RLinf {older.until}", notes.removed(device, entry)
                notes.judge(older, Severity.ERROR, "PW104", group, message, entry.key.span, "not a key yet", help, edit)
        for name in self.table.fields:
            for needed in releases_of("hardware_required", f"{kind}.{name}"):
                if device.get(name) is None and notes.choice is not None and notes.choice.has(needed):
                    message = f"a {kind} of group `{group}` has no `{name}`, which RLinf before {needed.until} needs"
                    self.part.missing(device, name, message)


def _is_address(value: Value) -> bool:
    from ipaddress import ip_address

    try:
        # Python accepts a whole number as an address, and so does RLinf.
        ip_address(value.value if isinstance(value, Scalar) and isinstance(value.value, int) else _shown(value))
    except ValueError:
        return False
    return True


def _shown(value: Value) -> str:
    return ("" if value.is_null else value.text) if isinstance(value, Scalar) else str(plain(value))
