"""The key `measured_on` beside the costs of a file whose ranks a plan changes, so that they are read as they were."""

from __future__ import annotations

import json
from typing import Iterator
from typing import Mapping as MappingType

from ....findings.span import Edit
from ....hints.block import COMPONENTS, NAME
from ....hints.said import timed_names
from ....parallel import Parallel
from ....planning.workload import Timed
from ....problem import Problem
from ....text.reshape import with_entry
from ....text.scalar_text import in_flow_map
from ....text.source import Source
from ....text.tree import Mapping, Value
from ....times.times_with import times_with
from ..planning.measured_on import MEASURED_ON
from ..profiled import COST, KEY


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
