"""Node groups that RLinf's own entries cannot say, since it takes ranks as those of the whole cluster: in the hints, which it ignores."""

from __future__ import annotations

from typing import Iterable, Mapping

from ....findings.span import Edit
from ....hints.block import COMPONENTS, NAME
from ....text.reshape import with_entry
from ....text.scalar_text import in_flow_map
from ....text.source import Source
from ....text.tree import Mapping as Tree

KEY = "node_group"


def groups_of(source: Source, groups: Mapping[str, str]) -> list[Edit]:
    """The edits that name the group of each of these components in its hints, where these say none; none where the block has no place for it.

    So the file says once more which nodes a plan may use, and on how many accelerators its times were measured.
    """
    root = source.root
    block = root.get(NAME)
    inner = block.get(COMPONENTS) if isinstance(block, Tree) else None
    wanted = {name: label for name, label in groups.items() if not _names_one(inner, name)}
    if not wanted or source.text.lstrip().startswith("{"):
        return []
    entries = {in_flow_map(name): f"{{{KEY}: {in_flow_map(label)}}}" for name, label in wanted.items()}
    every = f"{{{', '.join(f'{name}: {text}' for name, text in entries.items())}}}"
    if block is None:
        return _known(with_entry(source.text, root, NAME, f"{{{COMPONENTS}: {every}}}"))
    if isinstance(block, Tree) and inner is None:
        return _known(with_entry(source.text, block, COMPONENTS, every))
    if not isinstance(inner, Tree):
        return []
    edits = []
    for name, label in wanted.items():
        mine = inner.get(name)
        if isinstance(mine, Tree):
            edits += _known(with_entry(source.text, mine, KEY, in_flow_map(label)))
        elif mine is None:
            edits += _known(with_entry(source.text, inner, in_flow_map(name), f"{{{KEY}: {in_flow_map(label)}}}"))
    return edits


def without_groups(after: object, before: object, names: Iterable[str]) -> None:
    """Takes the groups of these components out of plain values where they were not there `before`, and maps that are left empty by that."""
    mine, was = _inner(after), _inner(before) or {}
    if not isinstance(after, dict) or mine is None:
        return
    for name in names:
        its, theirs = mine.get(name), was.get(name)
        if isinstance(its, dict) and not (isinstance(theirs, dict) and KEY in theirs):
            its.pop(KEY, None)
            if not its and name not in was:
                del mine[name]
    block, known = after[NAME], before.get(NAME) if isinstance(before, dict) else None
    if not mine and not (isinstance(known, dict) and COMPONENTS in known):
        del block[COMPONENTS]
    if not block and known is None:
        del after[NAME]


def _inner(root: object) -> dict[str, object] | None:
    block = root.get(NAME) if isinstance(root, dict) else None
    inner = block.get(COMPONENTS) if isinstance(block, dict) else None
    return inner if isinstance(inner, dict) else None


def _names_one(inner: object, name: str) -> bool:
    mine = inner.get(name) if isinstance(inner, Tree) else None
    return isinstance(mine, Tree) and mine.get(KEY) is not None


def _known(edit: Edit | None) -> list[Edit]:
    return [edit] if edit is not None else []
