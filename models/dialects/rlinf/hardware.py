"""Hardware of a node group: robots, with a configuration per robot.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeHardwareConfig) and
rlinf/scheduler/hardware/robots/*.py; types and fields are data, facts/hardware.json.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any, Collection, Mapping

from ...configuration.notes import Notes, is_unknown
from ...findings.finding import Severity
from ...machines.node import Hardware
from ...ranks import Ranks
from ...record import dataclass
from ...text.tree import MapNode, Scalar, Value, kind_of, plain
from .known import FACTS, releases_before, releases_of, report
from .section import ClusterSection, is_absent

CODE = "PW116"


@cache
def hardware_types() -> Mapping[str, Mapping[str, Any]]:
    """Return the types of hardware that RLinf can configure, by name, of all releases.

    - `fields`: keys of a configuration besides the required `node_rank`.
    - `addresses`: fields that must be IP addresses.
    - `strict`: allowed values of a field, refused when RLinf reads the file.
    - `counted_by`: fields with environment variables on the node: RLinf makes a configuration per
      value of them if the file configures none for the node (auto_config.py, RobotAutoConfig).
    """
    types: dict[str, dict[str, Any]] = json.loads((FACTS / "hardware.json").read_text(encoding="utf-8"))
    return types


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


def read_hardware(notes: Notes, value: Value, group: str, nodes: Ranks) -> GroupHardware | None:
    """Return the hardware of a group; None (noted) if its type is unknown."""
    reader = ClusterSection(notes, CODE, group)
    section = reader.mapping(value, f"`hardware` of group `{group}`", "write `type:` and `configs:`", ("type", "configs"), "`hardware`")
    if section is None:
        return None
    for key in ("type", "configs"):
        if section.get(key) is None:
            reader.missing(section, key, f"`hardware` of group `{group}` has no `{key}`")
    type_, configs = section.get("type"), section.get("configs")
    kind = reader.word(type_, hardware_types(), "`{}` is no hardware type that RLinf can configure", "not a type") if type_ else None
    if type_ is None or kind is None:
        return None
    if older := releases_before("hardware", kind):
        report(notes, "hardware before", group, type_, releases=older, release=older.until, type=kind)
    is_empty = isinstance(configs, MapNode) and not configs.entries
    items = () if is_empty else None if configs is None else reader.items(configs, f"`configs` of group `{group}`")
    if configs is None or items is None:
        return GroupHardware(kind, (), False)
    devices: list[tuple[int, Hardware]] = []
    seen: set[str] = set()
    for item in items:
        device, text = _device(reader, kind, item, nodes), json.dumps(plain(item), sort_keys=True, default=str)
        if text in seen:
            report(notes, "hardware listed twice", group, item, type=kind)
        seen.add(text)
        devices += [device] if device else []
    complete = len(devices) == len(items)
    return GroupHardware(kind, tuple(devices), complete, complete and _is_open(reader, kind, configs, nodes, {rank for rank, _ in devices}))


def _is_open(reader: ClusterSection, kind: str, configs: Value, nodes: Ranks, device_ranks: Collection[int]) -> bool:
    """Return True (noted) if environment variables of nodes may add devices."""
    names = hardware_types()[kind].get("counted_by", ())
    bare = next((rank for rank in nodes if rank not in device_ranks), None) if names else None
    if bare is not None:
        variables = " and ".join(f"`{name.upper()}`" for name in names)
        why = f"node {bare} has no {kind} in the file; if {variables} is set there, RLinf makes one for each of its values"
        reader.notes.unsure(CODE, reader.subject, why)
    elif not device_ranks:
        report(reader.notes, "hardware empty", reader.subject, configs, type=kind)
    return bare is not None


def _device(reader: ClusterSection, kind: str, item: Value, nodes: Ranks) -> tuple[int, Hardware] | None:
    """Return (node rank, device); None (noted) if its node is unknown."""
    group, table = reader.subject, hardware_types()[kind]
    noun, keys = f"an item of `configs` of group `{group}`", ("node_rank", *table["fields"])
    device = reader.mapping(item, noun, "write `- node_rank: ...`", keys, f"a {kind} configuration")
    if device is None:
        return None
    for key, value in ((entry.key.text, entry.value) for entry in device if not is_unknown(entry.value)):
        if words := table.get("strict", {}).get(key):
            choices = " or ".join(f"`{name}`" for name in words)
            reader.word(value, words, f"`{key}` of a {kind} must be {choices}, but it is `{{}}`", "not one of them")
        if key in table.get("addresses", ()) and not is_absent(value) and not _is_address(value):
            text = value.text if isinstance(value, Scalar) else kind_of(value)
            report(reader.notes, "address", group, value, key=key, value=text)
    _check_release(reader, kind, device)
    rank = device.get("node_rank")
    if rank is None:
        reader.missing(device, "node_rank", f"a {kind} of group `{group}` has no `node_rank`", str(nodes.first) if len(nodes) == 1 else "")
    if rank is None or is_unknown(rank):
        return None
    number = rank.value if isinstance(rank, Scalar) else None
    if not isinstance(number, int):
        reader.report_kind("`node_rank`", "a whole number", rank, "write a node rank such as `0`, without quotes")
        return None
    if not any(number in ranks for ranks in nodes.ranges):
        node_list = ", ".join(map(str, islice(nodes, 8))) or "none"
        report(reader.notes, "hardware outside group", group, rank, node=number, type=kind, nodes=node_list)
        return None
    return int(number), Hardware(kind, tuple((entry.key.text, _format(entry.value)) for entry in device if entry.key.text != "node_rank"))


def _check_release(reader: ClusterSection, kind: str, device: MapNode) -> None:
    """Note fields unknown in a release, and missing fields required by a release."""
    notes, group, type_releases = reader.notes, reader.subject, releases_before("hardware", kind)
    for entry in device:
        older = releases_before("hardware_field", f"{kind}.{entry.key.text}")
        if older and older != type_releases:
            message = f"a {kind} configuration has no key `{entry.key.text}` before RLinf {older.until}"
            help, edit = f"remove it, or run RLinf {older.until}", notes.remove(device, entry)
            notes.judge(older, Severity.ERROR, "PW104", group, message, entry.key.span, "not a key yet", help, edit)
    for name in hardware_types()[kind]["fields"]:
        for releases in releases_of("hardware_required", f"{kind}.{name}"):
            if device.get(name) is None and notes.choice is not None and notes.choice.has(releases):
                message = f"a {kind} of group `{group}` has no `{name}`, which RLinf before {releases.until} needs"
                reader.missing(device, name, message)


def _is_address(value: Value) -> bool:
    from ipaddress import ip_address

    # Python accepts a whole number as an address, and so does RLinf.
    with suppress(ValueError):
        return bool(ip_address(value.value if isinstance(value, Scalar) and isinstance(value.value, int) else _format(value)))
    return False


def _format(value: Value) -> str:
    return ("" if value.is_null else value.text) if isinstance(value, Scalar) else str(plain(value))
