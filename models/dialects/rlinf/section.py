"""Section `cluster`: kinds of values, known keys, `num_nodes`, `profiling`, hardware; unknown keys.

Source: RLinf, rlinf/scheduler/cluster/config.py, ClusterConfig (unknown keys are not checked),
NodeHardwareConfig and hardware/robots/*.py, and its profiling backends in hardware/accelerators.

Types of hardware of all releases are data, facts/hardware.json: `fields` besides the required
`node_rank`; `addresses`, fields that must be IP addresses; `strict`, allowed values of a field;
`counted_by`, fields with environment variables on the node: RLinf makes a configuration per value
of them if the file configures none for the node (auto_config.py, RobotAutoConfig).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Collection, Mapping

from ...configuration.notes import Notes, is_unknown
from ...configuration.parts import PartReader, is_absent
from ...configuration.settings import Settings
from ...findings.span import Edit
from ...machines.node import Hardware
from ...machines.shorthand import MAX_NODES
from ...ranks import Ranks
from ...record import dataclass
from ...text.document import SettingMark
from ...text.interpolation import Interpolator
from ...text.nearest import SLIP, closest, nearest
from ...text.tree import Entry, MapNode, Scalar, Value, kind_of, plain
from ..unread import counting_keys, report_unread
from .known import FOLDER, facts, names, releases_before, releases_of, report

_REQUIRED = ("num_nodes", "component_placement")
_POLICIES = ("auto_scheduler", "use_pre_process_policy", "use_wait_before_last_iter_policy")
_KEYS = (*_REQUIRED, "node_groups", "profiling", *_POLICIES, "net_emulation", "tracer")


def section_of(notes: Notes, interpolator: Interpolator, root: MapNode) -> MapNode | None:
    """Return the map `cluster`, with corrected required keys; None and a finding without a map."""
    section = root.get("cluster")
    if isinstance(section, Scalar):
        section = interpolator.tree(section, ("cluster",))
    if section is None:
        notes.missing("the file", "cluster", notes.document.source.whole(), "add `cluster:` with `num_nodes` and `component_placement`")
    elif not isinstance(section, MapNode) and not is_unknown(section):
        notes.report_type("cluster", "cluster", section, "a map", "write `num_nodes:` and `component_placement:` below it")
    if not isinstance(section, MapNode):
        return None
    for entry in section:
        close = None if entry.key.text in _KEYS else nearest(entry.key.text, [key for key in _REQUIRED if section.get(key) is None])
        if close and not notes.partial:
            report(notes, "cluster key misspelt", "cluster", entry.key.span, notes.rename(entry, close), key=entry.key.text, close=close)
        if close:
            new_entry = Entry(replace(entry.key, text=close), entry.value)
            section = replace(section, entries=tuple(new_entry if old is entry else old for old in section.entries))
    return section


def _warn(notes: Notes, entry: Entry, path: str, help: str, edit: Edit | None) -> None:
    fate, changes = "RLinf ignores it silently", [f"{item.key}." for item in notes.document.settings if item.kind is SettingMark.CHANGE]
    if notes.partial and any(key.startswith(f"{path}.") for key in changes):
        fate = "Hydra refuses it unless `defaults` have it"
        notes.unsure("PW104", path, f"Hydra refuses `{path}` unless `defaults` that could not be read have it", True, FOLDER)
    report(notes, "key unknown", path, entry.key.span, edit, help=help, fate=fate)


_APART = ("placewright", "profile_data", "hydra", "defaults")
"""Sections whose keys are judged elsewhere."""
_DEPTH, _MOST_MISSING = 3, 4


def check_keys(notes: Notes, settings: Settings, root: MapNode, missing: Mapping[str, str], whole: bool) -> None:
    """Note keys that no release knows: a warning if similar, unchecked if they count machines.

    `missing` keys, which RLinf reads without a default, are an error if misspelt, or of a `whole` job.
    """
    read_paths, release_keys, misspelt = settings.asked, frozenset(names("key")), set[str]()
    corrected_spans = [finding.span for finding in notes.findings if finding.code == "PW101"]

    def check(owner: MapNode, before: str) -> None:
        siblings = [path.removeprefix(before) for path in read_paths if path.startswith(before) and "." not in path.removeprefix(before)]
        siblings = list(_KEYS) if before == "cluster." else siblings
        for entry in owner:
            path = before + entry.key.text
            is_known, is_deepest = path in read_paths or path in release_keys, path.count(".") == _DEPTH - 1
            if path in (*_APART, *(f"cluster.{key}" for key in _KEYS)):
                continue
            if is_known and isinstance(entry.value, MapNode) and not is_deepest:
                check(entry.value, f"{path}.")
            elif entry.key.span in corrected_spans:
                continue
            elif not is_known and (close := closest(entry.key.text, siblings, min(SLIP, len(entry.key.text) * 3 // 20))):
                help, edit = notes.to_rename(owner, entry, close)
                if before + close in missing:
                    misspelt.add(before + close)
                    report(notes, "key missed", path, entry.key.span, edit, close=before + close, help=help)
                else:
                    _warn(notes, entry, path, help, edit)
            elif path not in read_paths and not (is_known and isinstance(entry.value, Scalar)):
                report_unread(notes, "PW104", counting_keys(entry, path), "`cluster.component_placement`")

    check(root, "")
    if whole:
        _report_missing(notes, settings, {key: source for key, source in missing.items() if key not in misspelt})


def _report_missing(notes: Notes, settings: Settings, missing: Mapping[str, str]) -> None:
    """Note the missing keys in one error. A file that lacks many is a part of one."""
    sections = {key: key.rpartition(".")[0] for key in missing}
    keys = list(dict.fromkeys(key if settings.at(section) is not None else section for key, section in sections.items()))
    text = ", ".join(f"`{key}`" for key in keys[:_MOST_MISSING])
    if len(missing) > _MOST_MISSING:
        why = f"RLinf reads {text} and {len(missing) - len(keys[:_MOST_MISSING])} more keys, which are not here"
        notes.unsure("PW101", "", why, True, "Add the rest of the configuration, or name the folder of its `defaults`")
    elif keys:
        sources = tuple(dict.fromkeys(f"RLinf, {source}" for source in missing.values()))
        subject, at = keys[0].partition(".")[0], notes.document.root.span.part(0, 1)
        report(notes, "keys missing", subject, at, keys=text, them="it" if len(keys) == 1 else "them", further=sources)


def read_num_nodes(notes: Notes, section: MapNode, value: Value | None) -> int | None:
    """Return the number of nodes, corrected if misspelt; None (noted) if unknown."""
    if value is None:
        notes.missing("cluster", "num_nodes", section.span, "add `num_nodes: 1`")
        return None
    if is_unknown(value):
        return None
    number = value.value if isinstance(value, Scalar) else None
    if not isinstance(value, Scalar) or not isinstance(number, int) or isinstance(number, bool):
        text = value.text.removesuffix(".0") if isinstance(value, Scalar) else ""
        correction = int(text) if text.isascii() and text.isdecimal() and len(text) < 8 and 1 <= int(text) <= MAX_NODES else None
        edit = notes.replace(value, str(correction)) if correction is not None else None
        help = f"write `{correction}`, without quotes" if edit else "write a whole number such as `2`"
        notes.report_type("cluster", "num_nodes", value, "a whole number", help, edit)
        return correction
    if number < 1:
        report(notes, "few nodes", "cluster", value, notes.replace(value, "1"), count=number)
        return 1
    if number > MAX_NODES:
        report(notes, "many nodes", "cluster", value, count=number, most=MAX_NODES)
        return None
    notes.text(value, "cluster", quoted=False)
    return number


_PROFILING = ("backend", "enabled", "worker_groups", "steps", "output_dir", "options", "flags", "args", "env")
"""Keys of `profiling`, those of both backends."""


def check_profiling(notes: Notes, value: Value | None) -> None:
    """Note a section that is ignored, is not a map, or has unknown keys."""
    if value is None or is_absent(value):
        return
    reader = PartReader(notes, "PW117", "profiling")
    if older := releases_before("cluster_key", "profiling"):
        report(notes, "profiling ignored", reader.subject, value, releases=older, release=older.until)
        if notes.choice is not None and notes.choice.has(older):
            return
    section = reader.mapping(value, "`profiling`", "write `backend: nsight` below it", _PROFILING)
    if section is not None and (backend := section.get("backend")) is not None:
        reader.word(backend, names("profiler"), "`{}` is not a profiling backend", "not known")
    elif section is not None:
        notes.missing(reader.subject, "backend", section.span, f"add `backend:` with {' or '.join(names('profiler'))}")


CODE = "PW116"


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
    reader = PartReader(notes, CODE, group)
    section = reader.mapping(value, f"`hardware` of group `{group}`", "write `type:` and `configs:`", ("type", "configs"), "`hardware`")
    if section is None:
        return None
    for key in ("type", "configs"):
        if section.get(key) is None:
            reader.missing(section, key, f"`hardware` of group `{group}` has no `{key}`")
    type_, configs = section.get("type"), section.get("configs")
    kind = reader.word(type_, facts("hardware"), "`{}` is not a hardware type that RLinf can configure", "not a type") if type_ else None
    if type_ is None or kind is None:
        return None
    if older := releases_before("hardware", kind):
        report(notes, "hardware before", group, type_, releases=older, release=older.until, type=kind)
    is_empty = isinstance(configs, MapNode) and not configs.entries
    items = () if is_empty else None if configs is None else reader.items(configs, f"`configs` of group `{group}`")
    if configs is None or items is None:
        return GroupHardware(kind, (), False)
    devices: list[tuple[int, Hardware]] = []
    earlier_texts: set[str] = set()
    for item in items:
        device, text = _device(reader, kind, item, nodes), json.dumps(plain(item), sort_keys=True, default=str)
        if text in earlier_texts:
            report(notes, "hardware listed twice", group, item, type=kind)
        earlier_texts.add(text)
        devices += [device] if device else []
    complete = len(devices) == len(items)
    return GroupHardware(kind, tuple(devices), complete, complete and _is_open(reader, kind, configs, nodes, {rank for rank, _ in devices}))


def _is_open(reader: PartReader, kind: str, configs: Value, nodes: Ranks, device_ranks: Collection[int]) -> bool:
    """Return True (noted) if environment variables of nodes may add devices."""
    names = facts("hardware")[kind].get("counted_by", ())
    bare = next((rank for rank in nodes if rank not in device_ranks), None) if names else None
    if bare is not None:
        variables = " and ".join(f"`{name.upper()}`" for name in names)
        why = f"node {bare} has no {kind} in the file; if {variables} is set there, RLinf makes one for each of its values"
        reader.notes.unsure(CODE, reader.subject, why)
    elif not device_ranks:
        report(reader.notes, "hardware empty", reader.subject, configs, type=kind)
    return bare is not None


def _device(reader: PartReader, kind: str, item: Value, nodes: Ranks) -> tuple[int, Hardware] | None:
    """Return (node rank, device); None (noted) if its node is unknown."""
    group, table = reader.subject, facts("hardware")[kind]
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


def _check_release(reader: PartReader, kind: str, device: MapNode) -> None:
    """Note fields unknown in a release, and missing fields required by a release."""
    notes, group, type_releases = reader.notes, reader.subject, releases_before("hardware", kind)
    for entry in device:
        older = releases_before("hardware_field", f"{kind}.{entry.key.text}")
        if older and older != type_releases:
            values: dict[str, Any] = {"type": kind, "key": entry.key.text, "release": older.until}
            report(notes, "field before", group, entry.key.span, notes.remove(device, entry), releases=older, **values)
    for name in facts("hardware")[kind]["fields"]:
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
