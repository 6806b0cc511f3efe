"""Node groups of a file, each checked by itself and against the others.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeGroupConfig, ClusterConfig, reserved labels) and node.py (NodeProbe: no label twice).
"""

from __future__ import annotations

from dataclasses import field
from typing import Iterator

from ...configuration.notes import Notes, is_unknown
from ...machines.node_group import ACCELERATOR, NODE, EnvConfig
from ...ranks import Ranks, merge, write_ranks
from ...record import dataclass
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Mapping, Scalar, Sequence, Value, find, kind_of, plain
from .hardware import GroupHardware, read_hardware
from .known import RESERVED_LABELS
from .section import Structure
from .software import read_env_configs, read_node_ranks


@dataclass(frozen=True)
class DeclaredGroup:
    """A group as the file declares it. `kind` is set where it does not depend on what the nodes have."""

    label: str
    ranks: Ranks
    kind: str | None = None
    ignores_hardware: bool = False
    hardware: GroupHardware | None = None
    env_configs: tuple[EnvConfig, ...] = ()


_KEYS = ("label", "node_ranks", "env_configs", "hardware", "hardware_type", "ignore_hardware")

MAX_MEMBERS = 1 << 18
"""Most nodes of all groups of a file together; a limit of placewright."""


@dataclass
class DeclaredGroups:
    """The readable groups.

    `broken` are labels whose reason is already noted, `empty` those without nodes; `nameless`: a group without a label exists.
    """

    groups: list[DeclaredGroup] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    nameless: bool = False

    @property
    def open(self) -> set[str]:
        """Labels of groups in which RLinf may find more hardware than the file says."""
        return {group.label for group in self.groups if group.hardware and group.hardware.open}


def read_node_groups(notes: Notes, value: Value | None, size: int | None) -> DeclaredGroups:
    """All groups of the file. `size`: number of nodes; None if unknown."""
    found = DeclaredGroups()
    if value is None or not _is_said(value) or (isinstance(value, Mapping) and not value.entries):
        return found

    def read(groups: Sequence) -> bool:
        labels: set[str] = set()
        members = 0
        for item in groups.items:
            _read_group(notes, item, size, found, labels)
            members += len(found.groups[-1].ranks) if found.groups else 0
            if members > MAX_MEMBERS:
                notes.error("PW002", "node_groups", f"the node groups have more than {MAX_MEMBERS:,} nodes in all", item, "too many")
                found.nameless = True
                break
        _check_over_groups(notes, groups, found.groups)
        return True

    found.nameless |= not Structure(notes, "PW105", "node_groups").items(value, "`node_groups`", read, False)
    return found


def _read_group(notes: Notes, value: Value, size: int | None, found: DeclaredGroups, labels: set[str]) -> None:
    item = Structure(notes, "PW105", "node_groups").mapping(
        value, "`each item of node_groups`", "write `- label: ...` and `node_ranks: ...`"
    )
    if item is None:
        found.nameless = True
        return
    named = item.get("label")
    item = notes.unknown_keys(item, named.text if isinstance(named, Scalar) else "node_groups", _KEYS, True, "a node group")
    label = _read_label(notes, item, labels)
    subject = label or "node_groups"
    written = item.get("node_ranks")
    if written is None:
        meant = _nodes_of_hardware(item, size)
        help, added = f"add `node_ranks: {meant}`", (item, "node_ranks", plain_or_quoted(meant))
        notes.missing(subject, "node_ranks", item.span, help, shared=False, added=added)
    ranks = read_node_ranks(notes, written, subject, size, in_flow=item.flow) if written is not None else None
    if label is None:
        found.nameless = True
    elif ranks is None:
        found.broken.add(label)
    elif not ranks and written is not None:
        found.empty.add(subject)
        edit = notes.instead(written, "all") if written.span.length else None
        notes.warn("PW112", subject, f"group `{subject}` has no nodes; RLinf drops it silently", written, "no nodes", "write `all`", edit)
    members = Ranks((range(size or 0),)) if ranks is None else ranks  # what stands below them is judged as if they were any
    declared = _declared(notes, item, subject, members if size is not None else Ranks(()), size)
    if _is_said(item.get("hardware")) and (declared.hardware is None or not declared.hardware.complete):
        found.broken.add(subject)
    if label is not None and ranks is not None:
        found.groups.append(declared)


def _is_said(value: Value | None) -> bool:
    """True if something is written here that is not null."""
    return value is not None and not (isinstance(value, Scalar) and value.is_null)


def _nodes_of_hardware(item: Mapping, size: int | None) -> str:
    """Nodes that the hardware of a group names; `all` if it names none."""
    configs = find(item, "hardware.configs")
    named = [find(each, "node_rank") for each in configs.items] if isinstance(configs, Sequence) else []
    ranks = {each.value for each in named if isinstance(each, Scalar) and type(each.value) is int and 0 <= each.value < (size or 0)}
    return write_ranks(merge([range(rank, rank + 1) for rank in ranks if isinstance(rank, int)])) if ranks else "all"


def _declared(notes: Notes, item: Mapping, label: str, nodes: Ranks, size: int | None) -> DeclaredGroup:
    """The group with its hardware and software; none of both where the number of nodes is unknown."""
    flag, named, hardware_value, environment = (item.get(key) for key in ("ignore_hardware", "hardware_type", "hardware", "env_configs"))
    configs = read_env_configs(notes, environment, label, nodes, size) if environment is not None and size is not None else ()
    has_hardware = _is_said(hardware_value)
    hardware = read_hardware(notes, hardware_value, label, nodes, size) if hardware_value and has_hardware and size is not None else None
    ignores = bool(flag.value) if isinstance(flag, Scalar) and not is_unknown(flag) else False
    has_type = isinstance(named, Scalar) and not named.is_null
    for key, is_said in (("ignore_hardware", ignores), ("hardware_type", has_type)):
        entry = item.entry(key)
        if entry is not None and is_said and has_hardware:
            message = f"group `{label}` has both `hardware` and `{key}`; RLinf refuses that"
            help, edit = f"remove `{key}`, or `hardware`", notes.removed(item, entry)
            notes.error("PW116", label, message, entry.key.span, "with `hardware`", help, edit)
    kind = hardware.type if hardware else None
    if isinstance(named, Scalar) and has_type and not has_hardware and not is_unknown(named):
        # To RLinf `node` is here a type of hardware like any other, of which there is none.
        kind = named.text if named.text != NODE else f"hardware of type {NODE}"
        if kind != ACCELERATOR:
            message = f"`hardware_type` alone configures no {named.text}: RLinf finds only what the nodes themselves report"
            notes.warn("PW116", label, message, named, "no `hardware`", "describe it under `hardware:`")
    return DeclaredGroup(label, nodes, kind, ignores, hardware, configs)


def _read_label(notes: Notes, group: Mapping, labels: set[str]) -> str | None:
    """Label, also one that cannot be used; None where there is none. It is added to `labels`."""
    value = group.get("label")
    if value is None:
        notes.missing("node_groups", "label", group.span, "add `label: NAME`", shared=False)
    if value is None or is_unknown(value):
        return None
    if not isinstance(value, Scalar):
        label = str(plain(value))
        message = f"`label` should be a name, but it is {kind_of(value)}: RLinf takes it for the label `{label[:60]}`"
        notes.warn("PW113", "node_groups", message, value, kind_of(value), "write one word, such as `a800`")
        labels.add(label)
        return label
    text = notes.text(value, value.text)
    label, without_comma = text.text, "_".join(piece.strip() for piece in text.text.split(",") if piece.strip())
    report, better = notes.error, ""
    if label in RESERVED_LABELS:
        better, message = f"my_{label}", f"the label `{label}` is reserved: it names a group that always exists"
    elif label in labels:
        better, message = f"{without_comma}_2", f"two node groups have the label `{label}`; RLinf notices only when the cluster starts"
    elif "," in label:
        report, better = notes.warn, without_comma or "group"
        message = f"the label `{label}` has a comma: no component can refer to it"
    while better in labels or better in RESERVED_LABELS:
        better += "_"
    if better:
        report("PW113", label, message, value, "", f"choose another label, such as `{better}`", text.replaced(better, group.flow))
    labels.add(label)
    return label


def _check_over_groups(notes: Notes, value: Sequence, groups: list[DeclaredGroup]) -> None:
    """Note nodes of which two groups configure the same hardware, which RLinf refuses, or different interpreters."""
    first: dict[tuple[int, str], tuple[str, str]] = {}
    told = set()
    for group in groups:
        for rank, what, how in _configured(group):
            before, label = first.setdefault((rank, what), (how, group.label))
            if label == group.label or (before == how and how) or (what, label, group.label) in told:
                continue
            told.add((what, label, group.label))
            item = next((each for each in value.items if isinstance(each, Mapping) and _has_label(each, group.label)), value)
            if how:
                message = f"node {rank} has the interpreter `{before}` in group `{label}` and `{how}` in group `{group.label}`"
                notes.warn("PW115", group.label, message, item.span, "another interpreter", "write the same path in both groups")
            else:
                message = f"node {rank} has its {what} configured in group `{label}` and in group `{group.label}`"
                notes.error("PW116", group.label, message, item.span, kind_of(item), "configure it in one group")


def _configured(group: DeclaredGroup) -> Iterator[tuple[int, str, str]]:
    """(node, what, how) of a group: its hardware, and its interpreters by their path."""
    yield from ((rank, device.type, "") for rank, device in (group.hardware.devices if group.hardware else ()))
    for config in group.env_configs:
        if config.python_interpreter_path:
            yield from ((rank, "interpreter", config.python_interpreter_path) for rank in config.node_ranks)


def _has_label(item: Mapping, label: str) -> bool:
    found = item.get("label")
    return isinstance(found, Scalar) and str(found.value) == label
