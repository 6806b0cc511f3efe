"""Node ranks and `env_configs` of a node group.

Source: RLinf, rlinf/scheduler/cluster/config.py, NodeGroupEnvConfig and NodeGroupConfig.
"""

from __future__ import annotations

from ...configuration.notes import Notes, is_unknown
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...machines.node_group import EnvConfig
from ...placements.claims import Claims
from ...ranks import CODES_BY_REASON, RankError, Ranks, merge, parse_ranks, without, write_ranks
from ...record import dataclass
from ...text.reshape import as_list, split_item
from ...text.scalar_text import in_flow_map, plain_or_quoted
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of
from .section import Structure, is_absent


def read_node_ranks(
    notes: Notes, value: Value, subject: str, size: int | None, whole: Ranks | None = None, in_flow: bool = False
) -> Ranks | None:
    """Node ranks; None if they are unreadable (the reason is noted).

    `size`: nodes of the cluster, None if unknown. `whole`: what `all` stands for, if not all of them. `in_flow`: the value stands in a
    flow map, where an edit must quote commas.
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
        code, message = CODES_BY_REASON[problem.reason], f"`node_ranks` of `{subject}`: {problem}"
        notes.error(code, subject, message, place, problem.label, help, edit)
        return parse_ranks(better, size, "node rank") if better is not None else None


def _mended(text: str, size: int | None) -> str | None:
    """Ranks with every range turned round or cut to what exists; None if one of them is unreadable."""
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
        if piece.strip():
            pieces.append(piece.strip())
    return ",".join(pieces) or None


_KEYS = ("node_ranks", "env_vars", "python_interpreter_path")


@dataclass(frozen=True)
class _Item:
    """One item of `env_configs`: its nodes, its variables (name, value, where) and their list, its interpreter."""

    mapping: Mapping
    ranks: Ranks
    variables: tuple[tuple[str, str, Value], ...]
    interpreter: str | None


def read_env_configs(notes: Notes, value: Value, group: str, nodes: Ranks, size: int | None) -> tuple[EnvConfig, ...]:
    """Readable items, checked against each other: no node twice, no variable twice in the whole group.

    The cost grows with items and ranges, not with nodes.
    """
    part = Structure(notes, "PW115", group)

    def read(configs: Sequence) -> tuple[EnvConfig, ...]:
        alone = len(configs.items) == 1
        found = [item for each in configs.items if (item := _item(part, each, nodes, size, alone)) is not None]
        kept = _nodes_once(part, configs, found)
        _check_variables_once(part, found)
        pairs = zip(found, kept)
        return tuple(
            EnvConfig(ranks.members, tuple((name, text) for name, text, _ in item.variables), item.interpreter) for item, ranks in pairs
        )

    return part.items(value, f"`env_configs` of group `{group}`", read, ())


def _item(part: Structure, value: Value, nodes: Ranks, size: int | None, alone: bool) -> _Item | None:
    notes, group = part.notes, part.subject
    item = part.mapping(value, f"an item of `env_configs` of group `{group}`", "write `- node_ranks: ...`")
    if item is None:
        return None
    item = notes.unknown_keys(item, group, _KEYS, True, "an item of `env_configs`")
    variables = _variables(part, item.get("env_vars"))
    entry = item.entry("node_ranks")
    if entry is None:
        part.missing(item, "node_ranks", f"an item of `env_configs` of group `{group}` has no `node_ranks`", "all")
        return None
    ranks = read_node_ranks(notes, entry.value, group, size, nodes, item.flow)
    if ranks is None:
        return None
    if outside := without(ranks.ranges, nodes.ranges):
        inside = without(ranks.ranges, outside)
        text = write_ranks(inside) or "all" if inside or (alone and nodes) else ""
        help = f"write `{text}`" if text else f"name nodes of {nodes}"
        message = f"`env_configs` names node {outside[0].start}, but group `{group}` has the nodes {nodes if nodes else 'none'}"
        part.error(message, entry.value, "not a node of the group", help, _instead(notes, item, entry.value, text) if text else None)
        return None
    path = item.get("python_interpreter_path")
    return _Item(item, ranks, variables, path.text if isinstance(path, Scalar) and not is_absent(path) else None)


def _instead(notes: Notes, owner: Mapping, value: Value, text: str) -> Edit | None:
    return notes.instead(value, in_flow_map(text) if owner.flow else plain_or_quoted(text))


def _variables(part: Structure, value: Value | None) -> tuple[tuple[str, str, Value], ...]:
    if value is None or is_absent(value):
        return ()
    if not isinstance(value, Sequence):
        edit = as_list(part.text(value), value, each=True) if isinstance(value, Mapping) else None
        help = "write each variable as `- NAME: value`: is a `-` missing?"
        part.wrong(f"`env_vars` of group `{part.subject}`", "a list of one-key maps", value, help, edit)
        return ()
    found: list[tuple[str, str, Value]] = []
    for item in value.items:
        if isinstance(item, Mapping) and len(item.entries) == 1:
            entry = item.entries[0]
            found.append((str(entry.key.value), str(entry.value.value) if isinstance(entry.value, Scalar) else "", item))
        elif not is_unknown(item):
            has = f"a map of {with_noun(len(item.entries), 'key')}" if isinstance(item, Mapping) else kind_of(item)
            edit = split_item(part.text(value), value, item) if isinstance(item, Mapping) else None
            message = f"each item of `env_vars` must be a map of one key, but this one is {has}"
            part.error(message, item, has, "write one `- NAME: value` per variable", edit)
    return tuple(found)


def _nodes_once(part: Structure, value: Sequence, items: list[_Item]) -> list[Ranks]:
    """Nodes of each item that no item before it has; RLinf refuses a node in two items."""
    claims, kept = Claims(), []
    for item in items:
        twice = tuple(stretch for each in item.ranks.ranges for stretch in claims.claim(each))
        left = without(item.ranks.ranges, twice)
        kept.append(Ranks(left))
        entry = item.mapping.entry("node_ranks")
        if not twice or entry is None:
            continue
        help, edit = "remove this item", part.without(value, item.mapping)
        if left:
            help, edit = f"write `{write_ranks(left)}`", _instead(part.notes, item.mapping, entry.value, write_ranks(left))
        message = f"node {twice[0].start} is in two items of `env_configs` of group `{part.subject}`"
        part.error(message, entry.value, "again here", help, edit)
    return kept


def _check_variables_once(part: Structure, items: list[_Item]) -> None:
    """RLinf refuses a variable that stands twice in a group, even for different nodes."""
    names = set()
    for item in items:
        for name, _, place in item.variables:
            if name in names:
                message = f"`{name}` stands twice in the `env_vars` of group `{part.subject}`; RLinf refuses that even for different nodes"
                part.error(message, place, "again here", "put these nodes into a group of their own")
            names.add(name)
