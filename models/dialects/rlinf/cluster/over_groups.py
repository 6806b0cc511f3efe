"""What node groups may not say of the same node: its hardware of one type, its interpreter, its variables.

Source: RLinf, rlinf/scheduler/cluster/config.py (ClusterConfig) for the hardware, its documentation for the rest.
"""

from __future__ import annotations

from typing import Iterable, NamedTuple

from ....configuration.notes import Notes
from ....ranks import merge
from ....text.tree import Mapping, Scalar, Sequence, kind_of
from .declared_group import DeclaredGroup


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
            "PW115", other.label, message, _group(value, other.label).span, "another interpreter", "write the same path in both groups"
        )
    for name, said in variables.items():
        if found := _different(said):
            one, other, node = found
            message = (
                f"`{name}` differs on node {node} between the groups `{one.label}` and `{other.label}`: a worker gets the value of "
                "the group that it is placed on"
            )
            notes.info("PW115", other.label, message, _group(value, other.label).span)


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
                item = _group(value, group.label)
                notes.error("PW116", group.label, message, item.span, kind_of(item), "configure it in one group")


def _group(value: Sequence, label: str) -> Mapping | Sequence:
    """The item of a label; all of them where it cannot be found."""
    return next((item for item in value.items if isinstance(item, Mapping) and _says(item, label)), value)


def _says(item: Mapping, label: str) -> bool:
    found = item.get("label")
    return isinstance(found, Scalar) and str(found.value) == label
