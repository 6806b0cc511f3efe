"""Node groups of a file, each checked alone and against the others.

Source: RLinf, rlinf/scheduler/cluster/config.py (NodeGroupConfig, NodeGroupEnvConfig,
ClusterConfig, reserved labels) and node.py (NodeProbe: no label twice).
"""

from __future__ import annotations

from dataclasses import field
from typing import Iterator

from ...configuration.notes import Notes, is_unknown
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...machines.node_group import ACCELERATOR, NODE, EnvConfig
from ...placements.mend import corrected
from ...placements.placement_text import Numbered
from ...placements.sound import Claims
from ...ranks import CODES_BY_REASON, RankError, Ranks, merge, parse_ranks, without, write_ranks
from ...record import dataclass
from ...text.edit import as_list, in_flow_map, plain_or_quoted, split_item
from ...text.tree import ListNode, MapNode, Scalar, Value, find, kind_of, plain
from .hardware import GroupHardware, read_hardware
from .known import RESERVED_LABELS
from .section import ClusterSection, is_absent


def read_node_ranks(
    notes: Notes, value: Value, subject: str, size: int | None, whole: Ranks | None = None, in_flow: bool = False
) -> Ranks | None:
    """Return the node ranks; None (noted) if unreadable.

    `size`: nodes of the cluster, None if unknown. `whole`: meaning of `all`, by default all nodes.
    `in_flow`: True if the value is in a flow map, where an edit must quote commas.
    """
    if is_unknown(value):
        return None
    if isinstance(value, Scalar):
        return _expression(notes, value, subject, size, whole, in_flow)
    items = value.items if isinstance(value, ListNode) else ()
    if not items or not all(isinstance(item, Scalar) and not is_unknown(item) for item in items):
        notes.wrong_type(subject, "node_ranks", value, "a rank expression such as `0-3`", "write `0-3` or `0,2`")
        return None
    parsed = [_expression(notes, item, subject, size, whole, True) for item in items if isinstance(item, Scalar)]
    ranges = merge([interval for ranks in parsed if ranks is not None for interval in ranks.ranges])
    text = write_ranks(ranges)
    message = f"`node_ranks` of `{subject}` is a YAML list: RLinf's documentation allows it, its parser refuses it"
    edit = Edit(value.span, in_flow_map(text) if in_flow else plain_or_quoted(text)) if text else None
    notes.warn("PW105", subject, message, value, "a list", f"write `{text}`", edit)
    return None if None in parsed else Ranks(ranges)


def _expression(notes: Notes, scalar: Scalar, subject: str, size: int | None, whole: Ranks | None, in_flow: bool) -> Ranks | None:
    if scalar.is_null:
        message = f"`node_ranks` of `{subject}` is empty: RLinf takes that for the rank `None`, which it refuses"
        notes.error("PW103", subject, message, scalar, "no rank", "write ranks such as `0-3`, or `all`", notes.instead(scalar, "all"))
        return whole or (Ranks((range(size),)) if size is not None else None)
    text = notes.ranks(scalar, subject, in_flow, of_processes=False)
    if text.text.strip().lower() == "all":
        if text.text != text.text.strip():
            message = f"`node_ranks` of `{subject}`: RLinf knows `all` only without blanks around it"
            notes.error("PW103", subject, message, scalar, "blanks", "write `all`", text.replaced("all", in_flow))
        if whole is not None or size is None:
            return whole
    try:
        return parse_ranks(text.text, size, "node rank")
    except RankError as problem:
        better = corrected(text.text, Numbered(size, "node rank", "", "")) if ":" not in text.text else None
        edit = text.replaced(better, in_flow) if better is not None else None
        help = f"write `{better}`" if better is not None else "write ranks such as `0-3` or `0,2`"
        place = text.scalar if text.shift is None else text.part(problem.start, problem.end)
        code, message = CODES_BY_REASON[problem.reason], f"`node_ranks` of `{subject}`: {problem}"
        notes.error(code, subject, message, place, problem.label, help, edit)
        return parse_ranks(better, size, "node rank") if better is not None else None


_SOFTWARE_KEYS = ("node_ranks", "env_vars", "python_interpreter_path")


@dataclass(frozen=True)
class _Software:
    """Reader of the `env_configs` of a group, which has each node and variable once."""

    part: ClusterSection
    nodes: Ranks
    size: int | None
    claims: Claims = field(default_factory=Claims)
    names: set[str] = field(default_factory=set)

    def read(self, configs: ListNode) -> tuple[EnvConfig, ...]:
        """Return the readable items."""
        return tuple(item for config in configs.items if (item := self._item(configs, config)) is not None)

    def _item(self, configs: ListNode, value: Value) -> EnvConfig | None:
        part, group = self.part, self.part.subject
        item = part.mapping(value, f"an item of `env_configs` of group `{group}`", "write `- node_ranks: ...`")
        if item is None:
            return None
        item = part.notes.unknown_keys(item, group, _SOFTWARE_KEYS, True, "an item of `env_configs`")
        variables = tuple(self._variables(item.get("env_vars")))
        written, path = item.get("node_ranks"), item.get("python_interpreter_path")
        if written is None:
            part.missing(item, "node_ranks", f"an item of `env_configs` of group `{group}` has no `node_ranks`", "all")
            return None
        ranks = read_node_ranks(part.notes, written, group, self.size, self.nodes, item.flow)
        if ranks is None:
            return None
        if outside := without(ranks.ranges, self.nodes.ranges):
            inside = without(ranks.ranges, outside)
            text = write_ranks(inside) or "all" if inside or (len(configs.items) == 1 and self.nodes) else ""
            help = f"write `{text}`" if text else f"name nodes of {self.nodes}"
            message = (
                f"`env_configs` names node {outside[0].start}, but group `{group}` has the nodes {self.nodes if self.nodes else 'none'}"
            )
            part.error(message, written, "not a node of the group", help, self._instead(item, written, text) if text else None)
            return None
        interpreter = path.text if isinstance(path, Scalar) and not is_absent(path) else None
        return EnvConfig(self._unclaimed(configs, item, written, ranks).members, variables, interpreter)

    def _instead(self, owner: MapNode, value: Value, text: str) -> Edit | None:
        return self.part.notes.instead(value, in_flow_map(text) if owner.flow else plain_or_quoted(text))

    def _unclaimed(self, configs: ListNode, item: MapNode, written: Value, ranks: Ranks) -> Ranks:
        """Return the nodes without those of earlier items; RLinf refuses duplicates."""
        duplicates = tuple(stretch for interval in ranks.ranges for stretch in self.claims.claim(interval))
        if not duplicates:
            return ranks
        unclaimed = without(ranks.ranges, duplicates)
        help, edit = "remove this item", self.part.without(configs, item)
        if unclaimed:
            help, edit = f"write `{write_ranks(unclaimed)}`", self._instead(item, written, write_ranks(unclaimed))
        message = f"node {duplicates[0].start} is in two items of `env_configs` of group `{self.part.subject}`"
        self.part.error(message, written, "again here", help, edit)
        return Ranks(unclaimed)

    def _variables(self, value: Value | None) -> Iterator[tuple[str, str]]:
        """Yield the variables; RLinf refuses the same one again, even for different nodes."""
        part = self.part
        if value is None or is_absent(value):
            return
        if not isinstance(value, ListNode):
            edit = as_list(part.text(value), value, per_entry=True) if isinstance(value, MapNode) else None
            help = "write each variable as `- NAME: value`: is a `-` missing?"
            part.wrong(f"`env_vars` of group `{part.subject}`", "a list of one-key maps", value, help, edit)
            return
        for item in value.items:
            if isinstance(item, MapNode) and len(item.entries) == 1:
                name, setting = str(item.entries[0].key.value), item.entries[0].value
                if name in self.names:
                    message = f"`{name}` is in the `env_vars` of group `{part.subject}` twice, which RLinf refuses"
                    part.error(message, item, "again here", "put these nodes into a group of their own")
                self.names.add(name)
                yield name, str(setting.value) if isinstance(setting, Scalar) else ""
            elif not is_unknown(item):
                has = f"a map of {with_noun(len(item.entries), 'key')}" if isinstance(item, MapNode) else kind_of(item)
                edit = split_item(part.text(value), value, item) if isinstance(item, MapNode) else None
                message = f"each item of `env_vars` must be a map of one key, but this one is {has}"
                part.error(message, item, has, "write one `- NAME: value` per variable", edit)


@dataclass(frozen=True)
class DeclaredGroup:
    """Group as declared in the file; `kind` is None if the nodes' hardware decides."""

    label: str
    ranks: Ranks
    kind: str | None = None
    ignores_hardware: bool = False
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

    @property
    def open(self) -> set[str]:
        """Labels of groups where RLinf may find more hardware than the file states."""
        return {group.label for group in self.groups if group.hardware and group.hardware.open}


def read_node_groups(notes: Notes, value: Value | None, size: int | None) -> DeclaredGroups:
    """Return all groups of the file; `size` is the number of nodes, None if unknown."""
    result = DeclaredGroups()
    if value is None or not _is_said(value) or (isinstance(value, MapNode) and not value.entries):
        return result

    def read(groups: ListNode) -> bool:
        labels: set[str] = set()
        members = 0
        for item in groups.items:
            _read_group(notes, item, size, result, labels)
            members += len(result.groups[-1].ranks) if result.groups else 0
            if members > MAX_MEMBERS:
                notes.error("PW002", "node_groups", f"the node groups have more than {MAX_MEMBERS:,} nodes in all", item, "too many")
                result.nameless = True
                break
        _check_over_groups(notes, groups, result.groups)
        return True

    result.nameless |= not ClusterSection(notes, "PW105", "node_groups").items(value, "`node_groups`", read, False)
    return result


def _read_group(notes: Notes, value: Value, size: int | None, result: DeclaredGroups, labels: set[str]) -> None:
    item = ClusterSection(notes, "PW105", "node_groups").mapping(
        value, "`each item of node_groups`", "write `- label: ...` and `node_ranks: ...`"
    )
    if item is None:
        result.nameless = True
        return
    named = item.get("label")
    item = notes.unknown_keys(item, named.text if isinstance(named, Scalar) else "node_groups", _KEYS, True, "a node group")
    label = _read_label(notes, item, labels)
    subject = label or "node_groups"
    written = item.get("node_ranks")
    if written is None:
        default_ranks = _nodes_of_hardware(item, size)
        help, added = f"add `node_ranks: {default_ranks}`", (item, "node_ranks", plain_or_quoted(default_ranks))
        notes.missing(subject, "node_ranks", item.span, help, shared=False, added=added)
    ranks = read_node_ranks(notes, written, subject, size, in_flow=item.flow) if written is not None else None
    if label is None:
        result.nameless = True
    elif ranks is None:
        result.broken.add(label)
    elif not ranks and written is not None:
        result.empty.add(subject)
        edit = notes.instead(written, "all") if written.span.length else None
        notes.warn("PW112", subject, f"group `{subject}` has no nodes", written, "no nodes", "write `all`", edit, "RLinf drops it silently")
    # The rest of the group is checked as if on all nodes.
    members = Ranks((range(size or 0),)) if ranks is None else ranks
    declared = _declared(notes, item, subject, members if size is not None else Ranks(()), size)
    if _is_said(item.get("hardware")) and (declared.hardware is None or not declared.hardware.complete):
        result.broken.add(subject)
    if label is not None and ranks is not None:
        result.groups.append(declared)


def _is_said(value: Value | None) -> bool:
    """Return True if a value is present and not null."""
    return value is not None and not (isinstance(value, Scalar) and value.is_null)


def _nodes_of_hardware(item: MapNode, size: int | None) -> str:
    """Return the nodes that a group's hardware names, else `all`."""
    configs = find(item, "hardware.configs")
    named = [find(config, "node_rank") for config in configs.items] if isinstance(configs, ListNode) else []
    ranks = {value.value for value in named if isinstance(value, Scalar) and type(value.value) is int and 0 <= value.value < (size or 0)}
    return write_ranks(merge([range(rank, rank + 1) for rank in ranks if isinstance(rank, int)])) if ranks else "all"


def _declared(notes: Notes, item: MapNode, label: str, nodes: Ranks, size: int | None) -> DeclaredGroup:
    """Return the group with hardware and software; without them if the node count is unknown."""
    flag, named, hardware_value, environment = (item.get(key) for key in ("ignore_hardware", "hardware_type", "hardware", "env_configs"))
    configs: tuple[EnvConfig, ...] = ()
    if environment is not None and size is not None:
        part = ClusterSection(notes, "PW115", label)
        configs = part.items(environment, f"`env_configs` of group `{label}`", _Software(part, nodes, size).read, ())
    has_hardware = _is_said(hardware_value)
    hardware = read_hardware(notes, hardware_value, label, nodes, size) if hardware_value and has_hardware and size is not None else None
    ignores = bool(flag.value) if isinstance(flag, Scalar) and not is_unknown(flag) else False
    has_type = isinstance(named, Scalar) and not named.is_null
    for key, is_said in (("ignore_hardware", ignores), ("hardware_type", has_type)):
        entry = item.entry(key)
        if entry is not None and is_said and has_hardware:
            message = f"group `{label}` has both `hardware` and `{key}`"
            help, edit = f"remove `{key}`, or `hardware`", notes.removed(item, entry)
            notes.error("PW116", label, message, entry.key.span, "with `hardware`", help, edit, "RLinf refuses both together")
    kind = hardware.type if hardware else None
    if isinstance(named, Scalar) and has_type and not has_hardware and not is_unknown(named):
        # RLinf reads `node` here as a hardware type like any other; no such type exists.
        kind = named.text if named.text != NODE else f"hardware of type {NODE}"
        if kind != ACCELERATOR:
            message = f"`hardware_type` alone configures no {named.text}: RLinf finds only what the nodes report"
            notes.warn("PW116", label, message, named, "no `hardware`", "describe it under `hardware:`")
    return DeclaredGroup(label, nodes, kind, ignores, hardware, configs)


def _read_label(notes: Notes, group: MapNode, labels: set[str]) -> str | None:
    """Return the label, usable or not, and add it to `labels`; None if missing."""
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
    report, better, mark = notes.error, "", "reserved"
    if label in RESERVED_LABELS:
        better, message = f"my_{label}", f"the label `{label}` is reserved: it names a group that always exists"
    elif label in labels:
        better, mark = f"{without_comma}_2", "again here"
        message = f"two node groups have the label `{label}`, which RLinf notices only when the cluster starts"
    elif "," in label:
        report, better, mark = notes.warn, without_comma or "group", "a comma"
        message = f"the label `{label}` has a comma: no component can refer to it"
    while better in labels or better in RESERVED_LABELS:
        better += "_"
    if better:
        report("PW113", label, message, value, mark, f"choose another label, such as `{better}`", text.replaced(better, group.flow))
    labels.add(label)
    return label


def _check_over_groups(notes: Notes, value: ListNode, groups: list[DeclaredGroup]) -> None:
    """Note nodes with the same hardware (RLinf refuses it) or different interpreters in two groups."""
    first: dict[tuple[int, str], tuple[str, str]] = {}
    reported = set()
    for group in groups:
        devices = [(rank, device.type, "") for rank, device in (group.hardware.devices if group.hardware else ())]
        paths = [(config.node_ranks, config.python_interpreter_path) for config in group.env_configs if config.python_interpreter_path]
        for rank, kind, path in [*devices, *((rank, "interpreter", path) for ranks, path in paths for rank in ranks)]:
            before, label = first.setdefault((rank, kind), (path, group.label))
            if label == group.label or (before == path and path) or (kind, label, group.label) in reported:
                continue
            reported.add((kind, label, group.label))
            named = ((item, find(item, "label")) for item in value.items)
            item = next((item for item, name in named if isinstance(name, Scalar) and str(name.value) == group.label), value)
            if path:
                message = f"node {rank} has the interpreter `{before}` in group `{label}` and `{path}` in group `{group.label}`"
                notes.warn("PW115", group.label, message, item.span, "another interpreter", "write the same path in both groups")
            else:
                message = f"node {rank} has its {kind} configured in group `{label}` and in group `{group.label}`"
                notes.error("PW116", group.label, message, item.span, kind_of(item), "configure it in one group")
