"""Node groups of a file, each checked by itself and against the others.

Sources in RLinf:

- rlinf/scheduler/cluster/config.py, NodeGroupConfig and ClusterConfig.
- rlinf/scheduler/cluster/config.py (reserved labels) and node.py (NodeProbe: no label twice).
- rlinf/scheduler/cluster/config.py (ClusterConfig) for the hardware, its documentation for the rest.
"""

from __future__ import annotations

from dataclasses import field
from typing import Iterable, NamedTuple

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

    def read(groups: Sequence) -> bool:
        seen: set[str] = set()
        members = 0
        for item in groups.items:
            _group(notes, item, size, found, seen)
            members += len(found.groups[-1].ranks) if found.groups else 0
            if members > MAX_MEMBERS:
                notes.error("PW002", "node_groups", f"the node groups have more than {MAX_MEMBERS:,} nodes in all", item, "too many")
                found.nameless = True
                break
        check_over_groups(notes, groups, found.groups)
        return True

    part = Structure(notes, "PW105", "node_groups")
    known = part.items(value, "`node_groups`", "start each group with `- label: ...`: is a `-` missing?", read, False)
    found.nameless |= not known
    return found


def _group(notes: Notes, value: Value, size: int | None, found: DeclaredGroups, seen: set[str]) -> None:
    part = Structure(notes, "PW105", "node_groups")
    item = part.mapping(value, "`each item of node_groups`", "write `- label: ...` and `node_ranks: ...`")
    if item is None:
        found.nameless = True
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


def read_label(notes: Notes, group: Mapping, seen: set[str]) -> str | None:
    """The label, also one that cannot be used; None where there is none. It is added to `seen`."""
    value = group.get("label")
    if value is None:
        notes.missing("node_groups", "label", group.span, "add `label: NAME`", shared=False)
        return None
    if is_unknown(value):
        return None
    if not isinstance(value, Scalar):
        label = str(plain(value))
        message = f"`label` should be a name, but it is {kind_of(value)}: RLinf takes it for the label `{label[:60]}`"
        notes.warn("PW113", "node_groups", message, value, kind_of(value), "write one word, such as `a800`")
        seen.add(label)
        return label
    text = notes.text(value, value.text)
    label = text.text
    if label in RESERVED_LABELS:
        other = _free(f"my_{label}", seen)
        message = f"the label `{label}` is reserved: it names a group that always exists"
        notes.error(
            "PW113", label, message, value, "reserved", f"choose another label, such as `{other}`", text.replaced(other, group.flow)
        )
    elif label in seen:
        other = _free(f"{_without_comma(label)}_2", seen)
        message = f"two node groups have the label `{label}`; RLinf notices only when the cluster starts"
        help = f"choose another label, such as `{other}`"
        notes.error("PW113", label, message, value, "again here", help, text.replaced(other, group.flow))
    elif "," in label:
        other = _free(_without_comma(label), seen)
        message = f"the label `{label}` has a comma: no component can refer to it"
        help = f"choose a label without a comma, such as `{other}`"
        notes.warn("PW113", label, message, value, "a comma", help, text.replaced(other, group.flow))
    seen.add(label)
    return label


def _without_comma(label: str) -> str:
    return "_".join(piece.strip() for piece in label.split(",") if piece.strip()) or "group"


def _free(label: str, seen: set[str]) -> str:
    """The label, with more underscores if it is taken."""
    while label in seen or label in RESERVED_LABELS:
        label += "_"
    return label


class _Said(NamedTuple):
    """What a group says of some of its nodes."""

    nodes: range
    what: str
    label: str


def check_over_groups(notes: Notes, value: Sequence, groups: list[DeclaredGroup]) -> None:
    """Note every node of which two groups say different things. The cost grows with groups and ranges, not with nodes."""
    _hardware(notes, value, groups)
    interpreters: list[_Said] = []
    variables: dict[str, list[_Said]] = {}
    for group in groups:
        for config in group.env_configs:
            for nodes in (
                (config.node_ranks,) if isinstance(config.node_ranks, range) else merge([range(r, r + 1) for r in config.node_ranks])
            ):
                if config.python_interpreter_path is not None:
                    interpreters.append(_Said(nodes, config.python_interpreter_path, group.label))
                for name, what in config.env_vars:
                    variables.setdefault(name, []).append(_Said(nodes, what, group.label))
    if found := _different(interpreters):
        one, other, node = found
        message = (
            f"node {node} has the interpreter `{one.what}` in group `{one.label}` and `{other.what}` in group `{other.label}`; "
            "RLinf's documentation allows one for a node, its code does not check"
        )
        notes.warn(
            "PW115",
            other.label,
            message,
            _item_of_label(value, other.label).span,
            "another interpreter",
            "write the same path in both groups",
        )
    for name, said in variables.items():
        if found := _different(said):
            one, other, node = found
            message = (
                f"`{name}` differs on node {node} between the groups `{one.label}` and `{other.label}`: a worker gets the value of "
                "the group that it is placed on"
            )
            notes.info("PW115", other.label, message, _item_of_label(value, other.label).span)


def _different(said: Iterable[_Said]) -> tuple[_Said, _Said, int] | None:
    """Two groups that say different things of a node, and the node; in one pass over what is said, by node."""
    far: list[_Said] = []  # what reaches furthest, and what reaches furthest of all that says something else
    for each in sorted(said, key=lambda each: (each.nodes.start, each.nodes.stop)):
        for other in far:
            if other.what != each.what and other.label != each.label and each.nodes.start < other.nodes.stop:
                return other, each, each.nodes.start
        far = _furthest([*far, each])
    return None


def _furthest(said: list[_Said]) -> list[_Said]:
    said.sort(key=lambda each: -each.nodes.stop)
    kept = said[:1]
    kept += next(([each] for each in said[1:] if each.what != kept[0].what), [])
    return kept


def _hardware(notes: Notes, value: Sequence, groups: list[DeclaredGroup]) -> None:
    """RLinf refuses the same hardware type on the same node in two groups."""
    owner: dict[tuple[int, str], str] = {}
    told = set()
    for group in groups:
        for rank, device in group.hardware.devices if group.hardware else ():
            first = owner.setdefault((rank, device.type), group.label)
            if first != group.label and (first, group.label) not in told:
                told.add((first, group.label))
                message = f"node {rank} has its {device.type} configured in group `{first}` and in group `{group.label}`"
                item = _item_of_label(value, group.label)
                notes.error("PW116", group.label, message, item.span, kind_of(item), "configure it in one group")


def _item_of_label(value: Sequence, label: str) -> Mapping | Sequence:
    """The item of a label; all of them where it cannot be found."""
    return next((item for item in value.items if isinstance(item, Mapping) and _says(item, label)), value)


def _says(item: Mapping, label: str) -> bool:
    found = item.get("label")
    return isinstance(found, Scalar) and str(found.value) == label
