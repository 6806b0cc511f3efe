"""The software of a node group: `env_configs`, a list of node ranks with environment variables and an interpreter.

Source: RLinf, rlinf/scheduler/cluster/config.py, NodeGroupEnvConfig.
"""

from __future__ import annotations

from ...node_group import EnvConfig
from ...ranks import Ranks
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of
from .node_ranks import read_node_ranks
from .notes import Notes, is_unknown

_KEYS = ("node_ranks", "env_vars", "python_interpreter_path")


def read_env_configs(notes: Notes, value: Value, group: str, nodes: Ranks, size: int | None) -> tuple[EnvConfig, ...]:
    """The readable items, checked against each other: no node twice, no variable twice in the whole group."""
    if is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return ()
    if not isinstance(value, Sequence):
        message = f"`env_configs` of group `{group}` must be a list, but it is {kind_of(value)}"
        notes.error("PW115", group, message, value, kind_of(value), "start each item with `- `: is a `-` missing?")
        return ()
    found = [_item(notes, item, group, nodes, size) for item in value.items]
    _unique(notes, value, group, found)
    return tuple(config for config in found if config is not None)


def _item(notes: Notes, item: Value, group: str, nodes: Ranks, size: int | None) -> EnvConfig | None:
    if is_unknown(item):
        return None
    if not isinstance(item, Mapping):
        message = f"an item of `env_configs` of group `{group}` must be a map, but it is {kind_of(item)}"
        notes.error("PW115", group, message, item, kind_of(item), "write `- node_ranks: ...`")
        return None
    notes.unknown_keys(item, group, _KEYS, True, "an item of `env_configs`")
    entry = item.entry("node_ranks")
    if entry is None:
        message = f"an item of `env_configs` of group `{group}` has no `node_ranks`"
        notes.error("PW101", group, message, item.span, "here", "add `node_ranks: all`")
        return None
    ranks = read_node_ranks(notes, entry.value, group, size, nodes)
    if ranks is None:
        return None
    outside = sorted(set(ranks) - set(nodes))
    if outside:
        message = f"`env_configs` names node {outside[0]}, but group `{group}` has the nodes {nodes or 'none'}"
        notes.error("PW115", group, message, entry.value, "not a node of the group", f"name nodes of {nodes}")
        return None
    path = item.get("python_interpreter_path")
    interpreter = path.text if isinstance(path, Scalar) and not path.is_null else None
    return EnvConfig(tuple(ranks), _variables(notes, item.get("env_vars"), group), interpreter)


def _variables(notes: Notes, value: Value | None, group: str) -> tuple[tuple[str, str], ...]:
    if value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return ()
    if not isinstance(value, Sequence):
        message = f"`env_vars` of group `{group}` must be a list of one-key maps, but it is {kind_of(value)}"
        notes.error("PW115", group, message, value, kind_of(value), "write each variable as `- NAME: value`: is a `-` missing?")
        return ()
    found = []
    for item in value.items:
        if is_unknown(item):
            continue
        if not isinstance(item, Mapping) or len(item.entries) != 1:
            has = f"a map of {len(item.entries)} keys" if isinstance(item, Mapping) else kind_of(item)
            message = f"each item of `env_vars` must be a map of one key, but this one is {has}"
            notes.error("PW115", group, message, item, has, "write one `- NAME: value` per variable")
            continue
        entry = item.entries[0]
        found.append((entry.key.text, str(entry.value.value) if isinstance(entry.value, Scalar) else ""))
    return tuple(found)


def _unique(notes: Notes, value: Sequence, group: str, configs: list[EnvConfig | None]) -> None:
    nodes: set[int] = set()
    names: set[str] = set()
    for item, config in zip(value.items, configs):
        if config is None:
            continue
        twice = sorted(nodes.intersection(config.node_ranks))
        if twice:
            message = f"node {twice[0]} is in two items of `env_configs` of group `{group}`"
            notes.error("PW115", group, message, item, "again here", "give each node one item")
        nodes.update(config.node_ranks)
        for name, _ in config.env_vars:
            if name in names:
                message = f"`{name}` stands twice in the `env_vars` of group `{group}`; RLinf refuses that even for different nodes"
                notes.error("PW115", group, message, item, "again here", "put these nodes into a group of their own")
            names.add(name)
