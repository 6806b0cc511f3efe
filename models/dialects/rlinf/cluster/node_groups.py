"""The `node_groups` of a file, each checked by itself and against the others.

Source: RLinf, rlinf/scheduler/cluster/config.py, NodeGroupConfig and ClusterConfig.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....configuration.notes import Notes, is_unknown
from ....machines.node_group import ACCELERATOR, NODE, EnvConfig
from ....ranks import Ranks, merge, write_ranks
from ....text.reshape import as_list
from ....text.scalar_text import plain_or_quoted
from ....text.tree import Mapping, Scalar, Sequence, Value, find
from .declared_group import DeclaredGroup
from .env_configs import read_env_configs
from .group_labels import read_label
from .hardware import GroupHardware, read_hardware
from .node_ranks import read_node_ranks
from .over_groups import check_over_groups

_KEYS = ("label", "node_ranks", "env_configs", "hardware", "hardware_type", "ignore_hardware")

MAX_MEMBERS = 1 << 18
"""How many nodes all groups of a file may have together; an own limit."""


@dataclass
class DeclaredGroups:
    """The readable groups; `broken` are labels of those whose reason is already noted, `nameless` that one has none."""

    groups: list[DeclaredGroup] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    nameless: bool = False

    @property
    def open(self) -> set[str]:
        """The labels of groups in which RLinf may find more hardware than the file says."""
        return {group.label for group in self.groups if group.hardware and group.hardware.open}


def read_node_groups(notes: Notes, value: Value | None, size: int | None) -> DeclaredGroups:
    """All groups of the file. `size`: how many nodes there are; None if that is not known."""
    found = DeclaredGroups()
    if value is None or (isinstance(value, Scalar) and value.is_null) or (isinstance(value, Mapping) and not value.entries):
        return found
    if is_unknown(value):
        found.nameless = True
        return found
    if not isinstance(value, Sequence):
        edit = as_list(notes.document.text_of(value.span.file), value, each=False) if isinstance(value, Mapping) else None
        help = "start each group with `- label: ...`: is a `-` missing?"
        notes.wrong_type("node_groups", "node_groups", value, "a list", help, edit)
        if edit is not None:
            first = len(notes.findings)
            found = read_node_groups(notes, Sequence((value,), value.span), size)
            notes.in_new_form(first)
        found.nameless |= edit is None
        return found
    seen: set[str] = set()
    members = 0
    for item in value.items:
        _group(notes, item, size, found, seen)
        members += len(found.groups[-1].ranks) if found.groups else 0
        if members > MAX_MEMBERS:
            notes.error("PW002", "node_groups", f"the node groups have more than {MAX_MEMBERS:,} nodes in all", item, "too many")
            found.nameless = True
            break
    check_over_groups(notes, value, found.groups)
    return found


def _group(notes: Notes, item: Value, size: int | None, found: DeclaredGroups, seen: set[str]) -> None:
    if not isinstance(item, Mapping):
        found.nameless = True
        if not is_unknown(item):
            notes.wrong_type("node_groups", "each item of node_groups", item, "a map", "write `- label: ...` and `node_ranks: ...`")
        return
    named = item.get("label")
    item = notes.unknown_keys(item, named.text if isinstance(named, Scalar) else "node_groups", _KEYS, True, "a node group")
    label = read_label(notes, item, seen)
    subject = label or "node_groups"
    ranks_value = item.get("node_ranks")
    ranks: Ranks | None = None
    if ranks_value is None:
        meant = _nodes_of_hardware(item, size)
        help = f"add `node_ranks: {meant}`"
        notes.missing(subject, "node_ranks", item.span, help, shared=False, added=(item, "node_ranks", plain_or_quoted(meant)))
    else:
        ranks = read_node_ranks(notes, ranks_value, subject, size, in_flow=item.flow)
    if label is None:
        found.nameless = True
    elif ranks is None:
        found.broken.add(label)
    known = ranks is not None
    if ranks is None:  # what stands below them is judged as if they were any
        ranks = Ranks((range(size or 0),))
    if not ranks and known and isinstance(ranks_value, Scalar):
        found.empty.add(subject)
        edit = notes.instead(ranks_value, "all") if ranks_value.span.length else None
        message = f"group `{subject}` has no nodes; RLinf drops it silently"
        notes.warn("PW112", subject, message, ranks_value, "names nothing", "write `all`", edit)
    nodes = ranks if size is not None else Ranks(())
    environment = item.get("env_configs")
    configs = read_env_configs(notes, environment, subject, nodes, size) if environment is not None and size is not None else ()
    hardware_value = item.get("hardware")
    hardware = None
    if hardware_value is not None and not (isinstance(hardware_value, Scalar) and hardware_value.is_null):
        hardware = read_hardware(notes, hardware_value, subject, nodes, size) if size is not None else None
        if hardware is None or not hardware.complete:
            found.broken.add(subject)
    declared = _declared(notes, item, subject, nodes, hardware, configs)
    if label is not None and known:
        found.groups.append(declared)


def _nodes_of_hardware(item: Mapping, size: int | None) -> str:
    """The nodes that the hardware of a group names; `all` if it names none."""
    configs = find(item, "hardware.configs")
    named = [find(each, "node_rank") for each in configs.items] if isinstance(configs, Sequence) else []
    ranks = {each.value for each in named if isinstance(each, Scalar) and type(each.value) is int and 0 <= each.value < (size or 0)}
    return write_ranks(merge([range(rank, rank + 1) for rank in ranks if isinstance(rank, int)])) if ranks else "all"


def _declared(
    notes: Notes, item: Mapping, label: str, nodes: Ranks, hardware: GroupHardware | None, configs: tuple[EnvConfig, ...]
) -> DeclaredGroup:
    flag = item.get("ignore_hardware")
    ignores = bool(flag.value) if isinstance(flag, Scalar) and not is_unknown(flag) else False
    configured = item.get("hardware")
    has_hardware = configured is not None and not (isinstance(configured, Scalar) and configured.is_null)
    named = item.get("hardware_type")
    kind = hardware.type if hardware else None
    for key, clashes in (("ignore_hardware", ignores), ("hardware_type", isinstance(named, Scalar) and not named.is_null)):
        entry = item.entry(key)
        if entry is not None and clashes and has_hardware:
            message = f"group `{label}` has both `hardware` and `{key}`; RLinf refuses that"
            help = f"remove `{key}`, or `hardware`"
            notes.error("PW116", label, message, entry.key.span, "with `hardware`", help, notes.removed(item, entry))
    if isinstance(named, Scalar) and not named.is_null and not has_hardware and not is_unknown(named):
        # To RLinf `node` is here a type of hardware like any other, of which there is none.
        kind = named.text if named.text != NODE else f"hardware of type {NODE}"
        if kind != ACCELERATOR:
            message = f"`hardware_type` alone configures no {named.text}: RLinf finds only what the nodes themselves report"
            notes.warn("PW116", label, message, named, "no `hardware`", "describe it under `hardware:`")
    return DeclaredGroup(label, nodes, kind, ignores, hardware, configs)
