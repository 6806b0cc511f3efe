"""Node ranks and `env_configs` of a node group.

Source: RLinf, rlinf/scheduler/cluster/config.py, NodeGroupEnvConfig and NodeGroupConfig.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...configuration.notes import Notes, is_unknown
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...machines.node_group import EnvConfig
from ...placements.claims import Claims
from ...ranks import CODES_BY_REASON, RankError, Ranks, merge, parse_ranks, without, write_ranks
from ...text.reshape import as_list, split_item, without_item
from ...text.scalar_text import in_flow_map, plain_or_quoted
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of


def read_node_ranks(
    notes: Notes, value: Value, subject: str, size: int | None, whole: Ranks | None = None, in_flow: bool = False
) -> Ranks | None:
    """The node ranks, or None if they cannot be told (the reason is noted).

    `size`: nodes of the cluster, None if not known. `whole`: what `all` stands for, if not all of them. `in_flow`: the
    value stands in a flow map, where an edit must quote commas.
    """
    if is_unknown(value):
        return None
    if isinstance(value, Scalar):
        return _expression(notes, value, subject, size, whole, in_flow)
    items = value.items if isinstance(value, Sequence) else ()
    if not items or not all(isinstance(item, Scalar) and not is_unknown(item) for item in items):
        notes.wrong_type(subject, "node_ranks", value, "a rank expression such as `0-3`", "write `0-3` or `0,2`")
        return None
    found = [_expression(notes, item, subject, size, whole, True) for item in items if isinstance(item, Scalar)]
    ranges = merge([each for ranks in found if ranks is not None for each in ranks.ranges])
    text = write_ranks(ranges)
    message = f"`node_ranks` of `{subject}` is a YAML list: RLinf's documentation allows it, its parser refuses it"
    edit = Edit(value.span, in_flow_map(text) if in_flow else plain_or_quoted(text)) if text else None
    notes.warn("PW105", subject, message, value, "a list", f"write `{text}`", edit)
    return None if None in found else Ranks(ranges)


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
        better = _mended(text.text, size)
        edit = text.replaced(better, in_flow) if better is not None else None
        help = f"write `{better}`" if better is not None else "write ranks such as `0-3` or `0,2`"
        place = text.scalar if text.shift is None else text.part(problem.start, problem.end)
        message = f"`node_ranks` of `{subject}`: {problem}"
        notes.error(CODES_BY_REASON[problem.reason], subject, message, place, problem.label, help, edit)
        return parse_ranks(better, size, "node rank") if better is not None else None


def _mended(text: str, size: int | None) -> str | None:
    """The ranks with every range turned round or cut to what exists; None if one of them cannot be told."""
    pieces = []
    for piece in text.split(","):
        try:
            parse_ranks(piece, size, "node rank")
        except RankError as problem:
            if problem.reason == "order" and problem.replacement is not None:
                piece = _mended(problem.replacement, size) or ""
            elif problem.reason == "range":
                piece = problem.replacement or ""
            else:
                return None
        if piece.strip().lower() == "all":
            return "all"
        if piece.strip():
            pieces.append(piece.strip())
    return ",".join(pieces) or None


_KEYS = ("node_ranks", "env_vars", "python_interpreter_path")


@dataclass(frozen=True)
class _Variable:
    name: str
    value: str
    item: Value
    owner: Sequence


@dataclass(frozen=True)
class _Item:
    """One item of `env_configs`, read."""

    mapping: Mapping
    ranks: Ranks
    variables: tuple[_Variable, ...]
    interpreter: str | None


def read_env_configs(notes: Notes, value: Value, group: str, nodes: Ranks, size: int | None) -> tuple[EnvConfig, ...]:
    """The readable items, checked against each other: no node twice, no variable twice in the whole group.

    The cost grows with items and ranges, not with nodes.
    """
    if is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return ()
    if not isinstance(value, Sequence):
        message = f"`env_configs` of group `{group}` must be a list, but it is {kind_of(value)}"
        edit = as_list(notes.document.text_of(value.span.file), value, each=False) if isinstance(value, Mapping) else None
        notes.error("PW115", group, message, value, kind_of(value), "start each item with `- `: is a `-` missing?", edit)
        if edit is None:
            return ()
        first = len(notes.findings)
        meant = read_env_configs(notes, Sequence((value,), value.span), group, nodes, size)
        notes.in_new_form(first)
        return meant
    alone = len(value.items) == 1
    found = [item for item in (_item(notes, item, group, nodes, size, alone) for item in value.items) if item is not None]
    kept = _nodes_once(notes, value, group, found)
    _variables_once(notes, group, found)
    return tuple(
        EnvConfig(ranks.members, tuple((each.name, each.value) for each in item.variables), item.interpreter)
        for item, ranks in zip(found, kept)
    )


def _item(notes: Notes, item: Value, group: str, nodes: Ranks, size: int | None, alone: bool) -> _Item | None:
    if is_unknown(item):
        return None
    if not isinstance(item, Mapping):
        message = f"an item of `env_configs` of group `{group}` must be a map, but it is {kind_of(item)}"
        notes.error("PW115", group, message, item, kind_of(item), "write `- node_ranks: ...`")
        return None
    item = notes.unknown_keys(item, group, _KEYS, True, "an item of `env_configs`")
    variables = _variables(notes, item.get("env_vars"), group)
    entry = item.entry("node_ranks")
    if entry is None:
        message = f"an item of `env_configs` of group `{group}` has no `node_ranks`"
        notes.error("PW101", group, message, item.span, "here", "add `node_ranks: all`", notes.added(item, "node_ranks", "all"))
        return None
    ranks = read_node_ranks(notes, entry.value, group, size, nodes, item.flow)
    if ranks is None:
        return None
    outside = without(ranks.ranges, nodes.ranges)
    if outside:
        inside = without(ranks.ranges, outside)
        help, edit = f"name nodes of {nodes}", None
        if inside or (alone and nodes):
            text = write_ranks(inside) or "all"
            help, edit = f"write `{text}`", notes.instead(entry.value, in_flow_map(text) if item.flow else plain_or_quoted(text))
        crash = "" if nodes else " (RLinf: IndexError)"
        message = f"`env_configs` names node {outside[0].start}, but group `{group}` has the nodes {nodes if nodes else 'none'}{crash}"
        notes.error("PW115", group, message, entry.value, "not a node of the group", help, edit)
        return None
    path = item.get("python_interpreter_path")
    interpreter = path.text if isinstance(path, Scalar) and not path.is_null and not is_unknown(path) else None
    return _Item(item, ranks, variables, interpreter)


def _variables(notes: Notes, value: Value | None, group: str) -> tuple[_Variable, ...]:
    if value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return ()
    text = notes.document.text_of(value.span.file)
    if not isinstance(value, Sequence):
        message = f"`env_vars` of group `{group}` must be a list of one-key maps, but it is {kind_of(value)}"
        edit = as_list(text, value, each=True) if isinstance(value, Mapping) else None
        notes.error("PW115", group, message, value, kind_of(value), "write each variable as `- NAME: value`: is a `-` missing?", edit)
        return ()
    found = []
    for item in value.items:
        if is_unknown(item):
            continue
        if not isinstance(item, Mapping) or len(item.entries) != 1:
            has = f"a map of {with_noun(len(item.entries), 'key')}" if isinstance(item, Mapping) else kind_of(item)
            message = f"each item of `env_vars` must be a map of one key, but this one is {has}"
            edit = split_item(text, value, item) if isinstance(item, Mapping) else None
            notes.error("PW115", group, message, item, has, "write one `- NAME: value` per variable", edit)
            continue
        entry = item.entries[0]
        shown = str(entry.value.value) if isinstance(entry.value, Scalar) else ""
        found.append(_Variable(str(entry.key.value), shown, item, value))
    return tuple(found)


def _nodes_once(notes: Notes, value: Sequence, group: str, items: list[_Item]) -> list[Ranks]:
    """The nodes of each item that no item before it has; RLinf refuses a node in two items."""
    claims = Claims()
    kept = []
    for item in items:
        twice = tuple(part for each in item.ranks.ranges for part in claims.claim(each))
        left = without(item.ranks.ranges, twice)
        if twice:
            message = f"node {twice[0].start} is in two items of `env_configs` of group `{group}`"
            entry = item.mapping.entry("node_ranks")
            help, edit = "give each node one item", None
            if left and entry is not None:
                text = write_ranks(left)
                help, edit = (
                    f"write `{text}`",
                    notes.instead(entry.value, in_flow_map(text) if item.mapping.flow else plain_or_quoted(text)),
                )
            elif not left:
                help, edit = "remove this item", without_item(notes.document.text_of(value.span.file), value, item.mapping)
            notes.error("PW115", group, message, entry.value if entry else item.mapping, "again here", help, edit)
        kept.append(Ranks(left))
    return kept


def _variables_once(notes: Notes, group: str, items: list[_Item]) -> None:
    """RLinf refuses a variable that stands twice in a group, even for different nodes."""
    first: dict[str, str] = {}
    for item in items:
        for each in item.variables:
            if each.name in first:
                same = first[each.name] == each.value
                message = f"`{each.name}` stands twice in the `env_vars` of group `{group}`; RLinf refuses that even for different nodes"
                help, edit = "put these nodes into a group of their own", None
                if same and item is items[0]:
                    help, edit = "remove one of the two", without_item(notes.document.text_of(each.item.span.file), each.owner, each.item)
                notes.error("PW115", group, message, each.item, "again here", help, edit)
            first.setdefault(each.name, each.value)
