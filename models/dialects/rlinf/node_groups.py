"""Node groups of a file, and the cluster that RLinf would find.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeGroupConfig, NodeGroupEnvConfig,
ClusterConfig, reserved labels) and node.py (NodeProbe: no label twice).
"""

from __future__ import annotations

from dataclasses import field
from typing import Iterator, Sequence

from ...configuration.notes import Notes, is_unknown
from ...configuration.parts import PartReader, is_absent
from ...findings.finding import Severity
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...machines.cluster import Cluster
from ...machines.node import EqualNodes, Hardware, Node, Nodes, numbered_nodes
from ...machines.node_group import ACCELERATOR, NODE, EnvConfig, NodeGroup
from ...machines.shorthand import DeclaredNodes
from ...placements.correction import correct_text
from ...placements.placement_text import NumberedResources
from ...placements.run_checks import Claims
from ...ranks import CODES_BY_REASON, RankError, Ranks, merge, parse_ranks, without
from ...record import dataclass
from ...text.edit import in_flow_map, plain_or_quoted
from ...text.tree import ListNode, MapNode, Scalar, Value, find, kind_of, plain
from .known import RESERVED_LABELS, report
from .section import GroupHardware, read_hardware


def read_node_ranks(
    notes: Notes, value: Value, subject: str, size: int | None, whole: Ranks | None = None, in_flow: bool = False
) -> Ranks | None:
    """Return the node ranks; None (noted) if unreadable.

    `size`: nodes of the cluster, None if unknown. `whole`: meaning of `all`, by default all nodes.
    `in_flow`: True if the value is in a flow map, where an edit must quote commas.
    """
    if is_unknown(value):
        return None
    if replacement := join_list(notes, value, in_flow):
        report(notes, "node_ranks list", subject, value, replacement[1], text=replacement[0].text)
        value = replacement[0]
    if not isinstance(value, Scalar):
        notes.report_type(subject, "node_ranks", value, "a rank expression such as `0-3`", "write `0-3` or `0,2`")
        return None
    scalar = value
    if scalar.is_null:
        report(notes, "node_ranks empty", subject, scalar, notes.replace(scalar, "all"))
        return whole or (Ranks((range(size),)) if size is not None else None)
    text = notes.ranks(scalar, subject, in_flow, of_processes=False)
    if text.text.strip().lower() == "all":
        if text.text != text.text.strip():
            report(notes, "blanks around all", subject, scalar, text.replace("all", in_flow))
        if whole is not None or size is None:
            return whole
    try:
        return parse_ranks(text.text, size, "node rank")
    except RankError as problem:
        better = correct_text(text.text, NumberedResources(size, "node rank")) if ":" not in text.text else None
        edit = text.replace(better, in_flow) if better is not None else None
        help = f"write `{better}`" if better is not None else "write ranks such as `0-3` or `0,2`"
        place = text.scalar if text.shift is None else text.part(problem.start, problem.end)
        code, message = CODES_BY_REASON[problem.reason], f"`node_ranks` of `{subject}`: {problem}"
        notes.error(code, subject, message, place, problem.label, help, edit)
        return parse_ranks(better, size, "node rank") if better is not None else None


def join_list(notes: Notes, value: Value, in_flow: bool) -> tuple[Scalar, Edit | None] | None:
    """Return a list as one text, with its edit; None for other values."""
    items = value.items if isinstance(value, ListNode) else ()
    texts = [item.text for item in items if isinstance(item, Scalar) and not is_unknown(item)]
    if not texts or len(texts) < len(items):
        return None
    text = ",".join(texts)
    edit = notes.replace(value, in_flow_map(text) if in_flow else plain_or_quoted(text))
    return Scalar(text, "tag:yaml.org,2002:str", value.span, value.span), edit


_SOFTWARE_KEYS = ("node_ranks", "env_vars", "python_interpreter_path")


def _environments(reader: PartReader, value: Value, nodes: Ranks, size: int | None) -> tuple[EnvConfig, ...]:
    """Return the readable `env_configs` of a group, which has each node and variable once."""
    claims, names, configs, group = Claims(), set[str](), list[EnvConfig](), reader.subject
    noun = f"an item of `env_configs` of group `{group}`"
    for value_of_item in reader.items(value, f"`env_configs` of group `{group}`") or ():
        item = reader.mapping(value_of_item, noun, "write `- node_ranks: ...`", _SOFTWARE_KEYS, "an item of `env_configs`")
        if item is None:
            continue
        variables = tuple(_variables(reader, item.get("env_vars"), names))
        setting, path = item.get("node_ranks"), item.get("python_interpreter_path")
        if setting is None:
            reader.missing(item, "node_ranks", f"{noun} has no `node_ranks`", "all")
        ranks = None if setting is None else read_node_ranks(reader.notes, setting, group, size, nodes, item.flow)
        if setting is None or ranks is None:
            continue
        if strays := without(ranks.ranges, nodes.ranges):
            report(reader.notes, "env_configs elsewhere", group, setting, node=strays[0].start, nodes=nodes or "none", nodes_of=nodes)
            continue
        duplicates = tuple(stretch for interval in ranks.ranges for stretch in claims.claim(interval))
        if duplicates:
            report(reader.notes, "env_configs twice", group, setting, node=duplicates[0].start)
        interpreter = path.text if isinstance(path, Scalar) and not is_absent(path) else None
        configs.append(EnvConfig(Ranks(without(ranks.ranges, duplicates)).members, variables, interpreter))
    return tuple(configs)


def _variables(reader: PartReader, value: Value | None, names: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables; RLinf refuses the same one again (in `names`), even for different nodes."""
    if value is None or is_absent(value):
        return
    if not isinstance(value, ListNode):
        help = "write each variable as `- NAME: value`: is a `-` missing?"
        reader.report_kind(f"`env_vars` of group `{reader.subject}`", "a list of one-key maps", value, help)
        return
    for item in value.items:
        if isinstance(item, MapNode) and len(item.entries) == 1:
            name, setting = str(item.entries[0].key.value), item.entries[0].value
            if name in names:
                report(reader.notes, "variable twice", reader.subject, item, name=name)
            names.add(name)
            yield name, str(setting.value) if isinstance(setting, Scalar) else ""
        elif not is_unknown(item):
            kind = f"a map of {with_noun(len(item.entries), 'key')}" if isinstance(item, MapNode) else kind_of(item)
            report(reader.notes, "variable no map", reader.subject, item, kind=kind)


@dataclass(frozen=True)
class DeclaredGroup:
    """Group as declared in the file; `kind` is None if the nodes' hardware decides."""

    label: str
    ranks: Ranks
    kind: str | None = None
    hardware: GroupHardware | None = None
    env_configs: tuple[EnvConfig, ...] = ()


_KEYS = ("label", "node_ranks", "env_configs", "hardware", "hardware_type", "ignore_hardware")

MAX_MEMBERS = 1 << 18
"""Maximum number of nodes of all groups of a file together; a limit of placewright."""


@dataclass
class DeclaredGroups:
    """Readable groups of a file, and labels of unreadable groups.

    `broken` are labels with a noted error, `empty` those without nodes; `nameless`: a group without
    a label exists.
    """

    groups: list[DeclaredGroup] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    nameless: bool = False


def read_node_groups(notes: Notes, value: Value | None, size: int | None) -> DeclaredGroups:
    """Return all groups of the file; `size` is the number of nodes, None if unknown."""
    result = DeclaredGroups()
    if value is None or not _is_said(value) or (isinstance(value, MapNode) and not value.entries):
        return result

    items = PartReader(notes, "PW105", "node_groups").items(value, "`node_groups`")
    result.nameless |= items is None
    labels: set[str] = set()
    members = 0
    for item in items or ():
        _read_group(notes, item, size, result, labels)
        members += len(result.groups[-1].ranks) if result.groups else 0
        if members > MAX_MEMBERS:
            report(notes, "too many members", "node_groups", item, most=MAX_MEMBERS)
            result.nameless = True
            break
    _check_over_groups(notes, items or (), result.groups)
    return result


def _read_group(notes: Notes, value: Value, size: int | None, result: DeclaredGroups, labels: set[str]) -> None:
    label_value = find(value, "label")
    section = PartReader(notes, "PW105", label_value.text if isinstance(label_value, Scalar) else "node_groups")
    item = section.mapping(value, "`each item of node_groups`", "write `- label: ...` and `node_ranks: ...`", _KEYS, "a node group")
    if item is None:
        result.nameless = True
        return
    label = _read_label(notes, item, labels)
    subject = label or "node_groups"
    setting = item.get("node_ranks")
    if setting is None:
        notes.missing(subject, "node_ranks", item.span, "add `node_ranks: all`", shared=False, added=(item, "node_ranks", "all"))
    ranks = read_node_ranks(notes, setting, subject, size, in_flow=item.flow) if setting is not None else None
    if label is None:
        result.nameless = True
    elif ranks is None:
        result.broken.add(label)
    elif not ranks and setting is not None:
        result.empty.add(subject)
        report(notes, "group without nodes", subject, setting, notes.replace(setting, "all") if setting.span.length else None)
    # The rest of the group is checked as if on all nodes.
    members = Ranks((range(size or 0),)) if ranks is None else ranks
    group = _build_group(notes, item, subject, members if size is not None else Ranks(()), size)
    if _is_said(item.get("hardware")) and (group.hardware is None or not group.hardware.complete):
        result.broken.add(subject)
    if label is not None and ranks is not None:
        result.groups.append(group)


def _is_said(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Scalar) and value.is_null)


def _build_group(notes: Notes, item: MapNode, label: str, nodes: Ranks, size: int | None) -> DeclaredGroup:
    """Return the group with hardware and software; without them if the node count is unknown."""
    flag, type_, hardware_value, environment = (item.get(key) for key in ("ignore_hardware", "hardware_type", "hardware", "env_configs"))
    reader = PartReader(notes, "PW115", label)
    configs = () if environment is None or size is None else _environments(reader, environment, nodes, size)
    has_hardware = _is_said(hardware_value)
    hardware = read_hardware(notes, hardware_value, label, nodes) if hardware_value and has_hardware and size is not None else None
    ignores = bool(flag.value) if isinstance(flag, Scalar) and not is_unknown(flag) else False
    has_type = isinstance(type_, Scalar) and not type_.is_null
    for key, is_said in (("ignore_hardware", ignores), ("hardware_type", has_type)):
        entry = item.entry(key)
        if entry is not None and is_said and has_hardware:
            report(notes, "hardware and", label, entry.key.span, notes.remove(item, entry), key=key)
    kind = hardware.type if hardware else None
    if isinstance(type_, Scalar) and has_type and not has_hardware and not is_unknown(type_):
        # RLinf reads `node` here as a hardware type like any other; no such type exists.
        kind = type_.text if type_.text != NODE else f"hardware of type {NODE}"
        if kind != ACCELERATOR:
            report(notes, "hardware_type alone", label, type_, type=type_.text)
    return DeclaredGroup(label, nodes, kind or (NODE if ignores else None), hardware, configs)


def _read_label(notes: Notes, group: MapNode, labels: set[str]) -> str | None:
    """Return the label, usable or not, and add it to `labels`; None if missing."""
    value = group.get("label")
    if value is None:
        notes.missing("node_groups", "label", group.span, "add `label: NAME`", shared=False)
    if value is None or is_unknown(value):
        return None
    if not isinstance(value, Scalar):
        labels.add(str(plain(value)))  # as RLinf does
        return str(plain(value))
    text = notes.text(value, value.text)
    label, without_comma = text.text, "_".join(piece.strip() for piece in text.text.split(",") if piece.strip())
    severity, better, mark = Severity.ERROR, "", "reserved"
    if label in RESERVED_LABELS:
        better, message = f"my_{label}", f"the label `{label}` is reserved: it names a group that always exists"
    elif label in labels:
        better, mark = f"{without_comma}_2", "again here"
        message = f"two node groups have the label `{label}`, which RLinf notices only when the cluster starts"
    elif "," in label:
        severity, better, mark = Severity.WARNING, without_comma or "group", "a comma"
        message = f"the label `{label}` has a comma: no component can refer to it"
    if better:
        edit = text.replace(better, group.flow)
        report(notes, "label unusable", label, value, edit, severity=severity, message=message, mark=mark, better=better)
    labels.add(label)
    return label


def _check_over_groups(notes: Notes, items: Sequence[Value], groups: list[DeclaredGroup]) -> None:
    """Note nodes whose hardware is configured in two groups, which RLinf refuses."""
    first: dict[tuple[int, str], str] = {}
    clashes = set()
    for group in groups:
        for rank, device in group.hardware.devices if group.hardware else ():
            label = first.setdefault((rank, device.type), group.label)
            if label == group.label or (device.type, label, group.label) in clashes:
                continue
            clashes.add((device.type, label, group.label))
            at = next(item for item in items if (name := find(item, "label")) and str(plain(name)) == group.label)
            report(notes, "hardware in two groups", group.label, at, node=rank, type=device.type, first=label, kind=kind_of(at))


def machines_of(notes: Notes, count: int, at: Value, groups: list[DeclaredGroup], machines: Cluster | DeclaredNodes | None) -> Cluster:
    """Return `count` nodes in rank order; accelerators of undescribed nodes are not counted.

    A cluster of the caller with too few nodes is an error (RLinf waits for more forever); the rest
    is then judged on nodes like those. Of too many nodes the first `count` are used, as RLinf does.
    """
    if isinstance(machines, Cluster) and len(machines.nodes) < count:
        has = len(machines.nodes)
        report(notes, "cluster too small", "", at, count=count, nodes=has, exist=f"{has} exist{'s' * (has == 1)}")
        kinds = {(stretch.node.accelerator_model, len(stretch.node.accelerators)) for stretch in machines.alike}
        model, per_node = kinds.pop() if len(kinds) == 1 else ("", 0)
        return machines_of(notes, count, at, groups, DeclaredNodes(per_node, model) if per_node else None)
    if isinstance(machines, Cluster):
        if len(machines.nodes) > count:
            report(notes, "cluster larger", "", at, nodes=len(machines.nodes), count=count)
        nodes, is_counted = machines.nodes[:count], machines.counted
    elif isinstance(machines, DeclaredNodes):
        special = merge([ranks for group in groups if group.hardware for ranks in group.ranks.ranges])
        bare = without(special, merge([ranks for group in groups if not group.hardware for ranks in group.ranks.ranges]))
        nodes, is_counted = machines.nodes(count, bare), True
    else:
        nodes, is_counted = Nodes([numbered_nodes(Node(0, ""), count)]), False
    nodes, devices = nodes if isinstance(nodes, Nodes) else Nodes(map(EqualNodes, nodes)), dict[int, list[Hardware]]()
    for rank, device in (item for group in groups for item in (group.hardware.devices if group.hardware else ())):
        devices.setdefault(rank, []).append(device)
    cluster = Cluster(nodes.equip(devices, {group.hardware.type for group in groups if group.hardware}), counted=is_counted)
    return cluster.with_groups(
        NodeGroup(group.label, members, group.kind or cluster.default_kind(members), group.env_configs)
        for group in groups
        if (members := group.ranks.members)
    )


def warn_of_hidden(notes: Notes, cluster: Cluster) -> None:
    """Warn that RLinf also uses the accelerators that a script hides from its programs.

    RLinf counts those that the driver has, whatever is visible. Sources: RLinf,
    rlinf/scheduler/hardware/accelerators/nvidia_gpu.py (get_num_devices); Ray,
    ray/_private/accelerators/nvidia_gpu.py (nvmlDeviceGetCount).
    """
    program = notes.document.program
    machine = program.machine if program is not None else None
    most = max((len(group.node.accelerators) for group in cluster.alike), default=0)
    if machine is None or machine.variable != "CUDA_VISIBLE_DEVICES" or not 0 < (machine.accelerators or 0) < most:
        return
    report(notes, "accelerators hidden", "", machine.accelerators_span or notes.document.root.span, shown=machine.accelerators, most=most)
