"""Edits of hints beside new ranks: node groups, measured counts, chosen degrees."""

from __future__ import annotations

import json
from typing import Iterable, Iterator
from typing import Mapping as MappingType

from ...findings.finding import UnusableInput, error
from ...findings.span import Edit
from ...hints.block import COMPONENTS, NAME
from ...hints.degrees import KEY as PARALLEL
from ...hints.degrees import degrees_of as degrees_in_hints
from ...hints.said import timed_names
from ...parallel import Parallel
from ...planning.workload import Timed
from ...problem import Problem
from ...text.reshape import with_entry
from ...text.scalar_text import in_flow_map
from ...text.source import Source
from ...text.tree import Mapping, Scalar, Value, find
from ...times.times_with import times_with
from .capabilities import COST, KEY
from .modes.parts import SECTIONS
from .planning.hints import MEASURED_ON

NODE_GROUP = "node_group"


def groups_of(source: Source, groups: MappingType[str, str]) -> list[Edit]:
    """The edits that name the group of each of these components in its hints, where these say none; none where the block has no place for it.

    So the file says once more which nodes a plan may use, and on how many accelerators its times were measured.
    """
    root = source.root
    block = root.get(NAME)
    inner = block.get(COMPONENTS) if isinstance(block, Mapping) else None
    wanted = {name: label for name, label in groups.items() if not _names_one(inner, name)}
    if not wanted or source.text.lstrip().startswith("{"):
        return []
    entries = {in_flow_map(name): f"{{{NODE_GROUP}: {in_flow_map(label)}}}" for name, label in wanted.items()}
    every = f"{{{', '.join(f'{name}: {text}' for name, text in entries.items())}}}"
    if block is None:
        return _known(with_entry(source.text, root, NAME, f"{{{COMPONENTS}: {every}}}"))
    if isinstance(block, Mapping) and inner is None:
        return _known(with_entry(source.text, block, COMPONENTS, every))
    if not isinstance(inner, Mapping):
        return []
    edits = []
    for name, label in wanted.items():
        mine = inner.get(name)
        if isinstance(mine, Mapping):
            edits += _known(with_entry(source.text, mine, NODE_GROUP, in_flow_map(label)))
        elif mine is None:
            edits += _known(with_entry(source.text, inner, in_flow_map(name), f"{{{NODE_GROUP}: {in_flow_map(label)}}}"))
    return edits


def without_groups(after: object, before: object, names: Iterable[str]) -> None:
    """Takes the groups of these components out of plain values where they were not there `before`, and maps that are left empty by that."""
    mine, was = _inner(after), _inner(before) or {}
    if not isinstance(after, dict) or mine is None:
        return
    for name in names:
        its, theirs = mine.get(name), was.get(name)
        if isinstance(its, dict) and not (isinstance(theirs, dict) and NODE_GROUP in theirs):
            its.pop(NODE_GROUP, None)
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
    mine = inner.get(name) if isinstance(inner, Mapping) else None
    return isinstance(mine, Mapping) and mine.get(NODE_GROUP) is not None


def _known(edit: Edit | None) -> list[Edit]:
    return [edit] if edit is not None else []


def counts_to_say(source: Source, before: Problem, after: Problem, degrees: MappingType[str, Parallel]) -> dict[str, int]:
    """Component with a cost -> on how many accelerators that was measured, of those whose times are others in the second problem.

    `degrees` are those that were chosen.
    """
    costs, hinted = source.root.get(KEY), timed_names(source.root.get(NAME))
    now, found = times_with(after.job, degrees), dict[str, int]()
    for name, timed in times_with(before.job, degrees).items():
        has_cost = isinstance(costs, Mapping) and costs.get(f"{name}{COST}") is not None and name not in hinted
        if has_cost and now.get(name) not in (None, timed) and (count := _measured_on(timed)):
            found[name] = count
    return found


def _measured_on(timed: Timed) -> int:
    """The one count that no formula says the time of; 0 if there is none such."""
    counts = {row.accelerators for row in timed.measured if not row.assumed}
    return counts.pop() if len(counts) == 1 else 0


def measured_on(source: Source, counts: MappingType[str, int]) -> list[Edit]:
    """The edits that say these counts in the hints; none where the file has no place for them. What stands deeper comes first."""
    if not counts:
        return []
    root = source.root
    block = root.get(NAME)
    if block is None:
        return _added(source, root, root, {NAME: {COMPONENTS: _keys(counts)}})
    inner = block.get(COMPONENTS) if isinstance(block, Mapping) else None
    if isinstance(block, Mapping) and inner is None:
        return _added(source, block, root, {COMPONENTS: _keys(counts)})
    return list(_in(source, inner, counts)) if isinstance(inner, Mapping) else []


def _in(source: Source, inner: Mapping, counts: MappingType[str, int]) -> Iterator[Edit]:
    for name in counts:
        its: Value | None = inner.get(name)
        if isinstance(its, Mapping) and its.get(MEASURED_ON) is None:
            yield from _added(source, its, inner, {MEASURED_ON: counts[name]})
    yield from _added(source, inner, inner, {name: its for name, its in _keys(counts).items() if inner.get(name) is None})


def _added(source: Source, mapping: Mapping, around: Mapping, values: MappingType[str, object]) -> list[Edit]:
    """The edits that add these values to a map, written as in the map `around`; an empty one in braces is written anew."""
    if values and mapping.flow and not mapping.entries:
        return [Edit(mapping.span, _text(source.root, dict(values)))]
    edits = (with_entry(source.text, mapping, in_flow_map(key), _text(around, value)) for key, value in values.items())
    return [edit for edit in edits if edit]


def _keys(counts: MappingType[str, int]) -> dict[str, object]:
    return {name: {MEASURED_ON: count} for name, count in counts.items()}


def _text(around: Mapping, value: object) -> str:
    """As a flow map, quoted where the map around it is flow, which may be JSON."""
    if around.flow or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "{" + ", ".join(f"{in_flow_map(key)}: {_text(around, its)}" for key, its in value.items()) + "}"


def _at(root: object, *path: str) -> dict[str, object] | None:
    for name in path:
        root = root.get(name) if isinstance(root, dict) else None
    return root if isinstance(root, dict) else None


def without_counts(after: object, before: object, counts: MappingType[str, int]) -> None:
    """Takes these keys out of plain values, and the maps with them that were not there `before`."""
    inner, before_inner = _at(after, NAME, COMPONENTS), _at(before, NAME, COMPONENTS) or {}
    for name in counts:
        its = inner.get(name) if inner is not None else None
        if isinstance(its, dict) and inner is not None:
            its.pop(MEASURED_ON, None)
            if not its and name not in before_inner:
                del inner[name]
    for path, key in (((NAME,), COMPONENTS), ((), NAME)):
        owner = _at(after, *path)
        if owner is not None and owner.get(key) == {} and key not in (_at(before, *path) or {}):
            del owner[key]


def degrees_of(source: Source, name: str, parallel: Parallel) -> list[Edit]:
    """The edits that give a component these degrees. Raises UnusableInput (PW603) where its keys have no place in the file."""
    hints = find(source.root.get(NAME), COMPONENTS)
    mine = hints.get(name) if isinstance(hints, Mapping) else None
    edits = degrees_in_hints(source, mine, parallel) if isinstance(mine, Mapping) else []
    path, keys = SECTIONS.get(name, ("", {}))
    section = find(source.root, path) if path else None
    added = []
    for degree, key in keys.items() if isinstance(section, Mapping) else ():
        value, here = getattr(parallel, degree), section.get(key) if isinstance(section, Mapping) else None
        if here is not None and not isinstance(here, Scalar):
            raise _refused(name, f"`{path}.{key}` is no number")
        if here is not None and here.value != value:
            edits.append(Edit(here.span, str(value)))
        elif here is None and value > 1 and isinstance(section, Mapping):
            entry = with_entry(source.text, section, key, str(value))
            if entry is None:
                raise _refused(name, f"`{path}` has no place for `{key}`")
            added.append(entry)
    return edits + added


def restored(after: object, before: object, name: str) -> None:
    """Gives plain values the degrees of a component that they had `before`."""
    path, keys = SECTIONS.get(name, ("", {}))
    for owner, key in ((f"{NAME}.{COMPONENTS}.{name}", PARALLEL), *((path, key) for key in keys.values())):
        now, was = _map_at(after, owner), _map_at(before, owner)
        if now is not None and was is not None:
            now.pop(key, None)
            if key in was:
                now[key] = was[key]


def _map_at(root: object, path: str) -> dict[str, object] | None:
    for name in path.split("."):
        root = root.get(name) if isinstance(root, dict) else None
    return root if isinstance(root, dict) else None


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
