"""Edits of the user's file for an answer: as few as possible, in the style of the file.

In addition to new ranks, hints are edited: node groups that RLinf's own entries cannot state, since
it counts ranks over the whole cluster; counts on which costs were measured; chosen degrees.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Collection, Iterator, Mapping, Sequence

from ...component import Component
from ...findings.finding import UnusableInput, error
from ...findings.span import Edit, Span
from ...hints.amount import KEY as PARALLEL
from ...hints.amount import degrees_of as degrees_in_hints
from ...hints.block import COMPONENTS, NAME, timed_names
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...parallel import Parallel
from ...placements.assignment import Assignment, seats
from ...placements.run import Run
from ...placements.runs_text import best_text, labels_used
from ...problem import Problem
from ...reading import Reading
from ...record import dataclass
from ...text.edit import (
    at_line_end,
    in_flow_map,
    indent_of,
    line_end,
    line_stop,
    plain_or_quoted,
    point,
    quotes_keys,
    with_entry,
    without_entry,
)
from ...text.source import Source
from ...text.tree import Entry, MapNode, Scalar, Value, find, plain
from ...times import times_with
from ..dialect import UNCHANGED, Degrees
from .known import COST, KEY
from .modes.state import SECTIONS, Extent, extent_of
from .planning.hints import MEASURED_ON
from .reader import read_with

NODE_GROUP = "node_group"
_WHOLE: tuple[str, ...] = (CLUSTER_LABEL,)
Data = dict[str, object]


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits that place components without ranks, and planned ones anew.

    Components of `degrees` get these degrees, in the hints and in RLinf's own keys.

    Only the file itself is edited: if its `cluster` is in `defaults`, a new `cluster` is merged
    onto that. Raises UnusableInput (PW603) if RLinf cannot express a placement, or if the text,
    read back, would not give the same Assignment.
    """
    problem, source = reading.problem, reading.source
    if problem is None:
        raise _refused("", "the file states no problem")
    known, planning = {component.name: component for component in problem.components}, problem.job.planning
    added = [name for name in assignment.runs if name not in known or known[name].runs is None]
    idle = _not_started(problem, assignment)
    lines = {name: _line(name, known.get(name), problem, assignment.of(name)) for name in added if name not in idle}
    packs = problem.job.capabilities.packs
    stays = [name for name in lines if name in planning.own and _is_same(planning.own[name], assignment.of(name), packs)]
    edits = rewrite_lines(source, {**lines, **dict.fromkeys(idle)}, stays) if planning.own else insert_lines(source, [*lines.values()])
    for name, parallel in degrees.items():
        edits += degrees_of(source, name, parallel) if name not in planning.tied else []
    if planning.own and packs:
        unnamed = [known[name] for name, line in lines.items() if name not in stays and not line.groups]
        groups = {part.name: part.node_groups for part in unnamed if problem.kind(part) == ACCELERATOR and len(part.node_groups) == 1}
        edits += hint_edits(source, NODE_GROUP, {name: label for name, (label,) in groups.items() if label != CLUSTER_LABEL})
    if planning.own and edits and (after := _reread(reading, problem, edits, anew=True)):
        edits += hint_edits(source, MEASURED_ON, measured_counts(source, problem, after, degrees))
    _check(reading, problem, assignment, degrees, edits, added, idle)
    return edits


def _reread(reading: Reading, problem: Problem, edits: list[Edit], hints: bool = True, anew: bool = False) -> Problem | None:
    """Return the problem of the edited text."""
    try:
        document = reading.document.compose(reading.source.edited(edits))
        return read_with(document, problem.cluster, "placement", hints, anew).problem
    except UnusableInput as broken:
        raise _refused("", f"with it, {broken}") from None


def _not_started(problem: Problem, assignment: Assignment) -> frozenset[str]:
    """Return the components that RLinf does not start in the assignment's arrangement."""
    masks_by_name = {name: assignment.masks(name) for name in assignment.runs}
    for way in problem.job.planning.ways:
        if way.together and all(masks_by_name.get(first) == masks_by_name.get(second) for first, second in way.together):
            return way.without
    return frozenset()


def _is_same(runs: Sequence[Run], reread_runs: Sequence[Run], drops_groups: bool) -> bool:
    """Return True if runs have equal seats; node groups count unless RLinf drops them."""
    if drops_groups:
        runs, reread_runs = _relabelled(runs, (CLUSTER_LABEL,)), _relabelled(reread_runs, (CLUSTER_LABEL,))
    return list(seats(runs)) == list(seats(reread_runs))


def _relabelled(runs: Sequence[Run], labels: tuple[str, ...]) -> Sequence[Run]:
    """Return the runs with the label, if there is only one label."""
    return [replace(run, node_group=labels[0]) for run in runs] if len(labels) == 1 else runs


def _extent(problem: Problem, runs: Sequence[Run], labels: tuple[str, ...]) -> Extent:
    return extent_of(_relabelled(runs, labels), problem.cluster, labels)


def _line(name: str, component: Component | None, problem: Problem, runs: Sequence[Run]) -> PlacementLine:
    if not name or "," in name or name != name.strip():
        raise _refused(name, f"`{name}` cannot be a key of `component_placement`")
    if component and component.contiguous and problem.job.capabilities.packs:
        named, labels = component.node_groups, _WHOLE
        if problem.kind(component) != ACCELERATOR:
            labels = labels_used(runs, named)
        elif problem.job.planning.own and len(named) == 1 and _extent(problem, runs, named) == _extent(problem, runs, _WHOLE):
            labels = named  # the file's own group, whose ranks equal the cluster's
        extent = _extent(problem, runs, labels)
        text = "all" if extent.size == problem.cluster.numbering(labels).size > 1 else str(extent)
    else:
        labels, text = best_text(name, runs, problem.cluster, component.node_groups if component else ())
    return PlacementLine(name, text, "" if labels == _WHOLE else ",".join(labels))


def _check(
    reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees, edits: list[Edit], added: Sequence[str],
    idle: Collection[str],
) -> None:  # fmt: skip
    """Raise UnusableInput unless the edited text gives the assignment and nothing else changes."""
    reread_problem = _reread(reading, problem, edits, hints=False)
    placed = {*problem.job.planning.own, *added}
    if _without_answer(reading.source.edited(edits).root, placed) != _without_answer(reading.source.root, placed):
        raise _refused("", "another value of it would change")
    reread = {component.name: component for component in reread_problem.components} if reread_problem else {}
    for name, runs in assignment.runs.items():
        reread_runs = reread[name].runs if name in reread else None
        drops_groups = problem.job.capabilities.packs and name in added
        if name not in idle and (reread_runs is None or not _is_same(runs, reread_runs, drops_groups)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")
    hinted = _reread(reading, problem, edits) if degrees else None
    for component in hinted.components if hinted else ():
        name = component.name
        if name in degrees and component.parallel != problem.divided(name, degrees[name]):
            raise _refused(name, f"`{name}`, written down and read again, would have {component.parallel}")


def _without_answer(root: MapNode, placed: Collection[str]) -> object:
    """Return the values of a file without those of an answer."""
    paths = [f"{path}.{key}" for path, keys in SECTIONS.values() for key in keys.values()]

    def kept(value: object, path: str) -> object:
        if not isinstance(value, dict):
            return value
        entries = {key: kept(inner, f"{path}.{key}" if path else str(key)) for key, inner in value.items()}
        if path == "cluster.component_placement":
            single_names = [(name, inner) for names, inner in entries.items() for name in str(names).split(",")]
            entries = {name: inner for name, inner in single_names if name.strip() not in placed}
        elif path.startswith(f"{NAME}.{COMPONENTS}."):
            entries = {key: inner for key, inner in entries.items() if key not in (NODE_GROUP, MEASURED_ON, PARALLEL)}
        return {key: inner for key, inner in entries.items() if f"{path}.{key}" not in paths and inner not in ({}, None)}

    return kept(plain(root), "")


def _refused(name: str, why: str, span: Span | None = None, help: str = "use the plan itself") -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", span, help=help)])


def hint_edits(source: Source, key: str, values: Mapping[str, object]) -> list[Edit]:
    """Return the edits that add a key to hints without this key.

    Empty if the file has no place for the key. A node group names the nodes that a plan may use,
    and a count the accelerators behind a cost.
    """
    block = source.root.get(NAME)
    inner = find(block, COMPONENTS)
    hints = {name: inner.get(name) if isinstance(inner, MapNode) else None for name in values}
    wanted = {name: value for name, value in values.items() if find(hints[name], key) is None}
    new: Data = {name: {key: value} for name, value in wanted.items()}
    if not wanted:
        return []
    if block is None:
        return _added(source, source.root, {NAME: {COMPONENTS: new}})
    if isinstance(block, MapNode) and inner is None:
        return _added(source, block, {COMPONENTS: new})
    if not isinstance(inner, MapNode):
        return []
    edits = [
        edit for name, value in wanted.items() if isinstance(hint := hints[name], MapNode) for edit in _added(source, hint, {key: value})
    ]
    return edits + _added(source, inner, {name: new[name] for name in new if hints[name] is None})


def _added(source: Source, mapping: MapNode, values: Data) -> list[Edit]:
    """Return edits that add values to a map, or replace empty braces."""
    is_json = source.text.lstrip().startswith("{")
    if values and mapping.flow and not mapping.entries:
        return [Edit(mapping.span, _flow(values, is_json))]
    edits = (with_entry(source.text, mapping, in_flow_map(key), _flow(value, is_json)) for key, value in values.items())
    return [edit for edit in edits if edit]


def measured_counts(source: Source, before: Problem, after: Problem, degrees: Mapping[str, Parallel]) -> dict[str, int]:
    """Return component with a cost -> measured accelerators, where the times would change."""
    costs, hinted = source.root.get(KEY), timed_names(source.root.get(NAME))
    times_after, counts_by_name = times_with(after.job, degrees), dict[str, int]()
    for name, timed in times_with(before.job, degrees).items():
        has_cost = isinstance(costs, MapNode) and costs.get(f"{name}{COST}") is not None and name not in hinted
        counts = {row.accelerators for row in timed.measured if not row.assumed}
        if has_cost and times_after.get(name) not in (None, timed) and len(counts) == 1:
            counts_by_name[name] = counts.pop()
    return counts_by_name


def degrees_of(source: Source, name: str, parallel: Parallel) -> list[Edit]:
    """Return edits for a component's degrees; UnusableInput (PW603) without a place."""
    hints = find(source.root.get(NAME), COMPONENTS)
    component_hints = hints.get(name) if isinstance(hints, MapNode) else None
    edits = degrees_in_hints(source, component_hints, parallel) if isinstance(component_hints, MapNode) else []
    path, keys = SECTIONS.get(name, ("", {}))
    section = find(source.root, path) if path else None
    for degree, key in keys.items() if isinstance(section, MapNode) else ():
        value, current = getattr(parallel, degree), section.get(key) if isinstance(section, MapNode) else None
        if isinstance(current, Scalar):
            edits += [Edit(current.span, str(value))] if current.value != value else []
        elif value > 1 and isinstance(section, MapNode):
            entry = with_entry(source.text, section, key, str(value)) if current is None else None
            if entry is None:
                raise _refused(name, f"`{path}` has no place for `{key}`")
            edits.append(entry)
    return edits


KEYS = ("cluster", "component_placement")


@dataclass(frozen=True, slots=True)
class PlacementLine:
    """Place of components: names, placement, and node groups ("" for the whole cluster)."""

    name: str
    placement: str
    groups: str


def _data(lines: Sequence[PlacementLine]) -> Data:
    return {line.name: {NODE_GROUP: line.groups, "placement": line.placement} if line.groups else line.placement for line in lines}


def _flow(value: object, is_json: bool) -> str:
    """Return a value in one line, with all texts in double quotes for JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key, is_json)}: {_flow(inner, is_json)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if is_json else in_flow_map(str(value))


def _block(data: Mapping[str, object], indent: str, step: str) -> Iterator[str]:
    """Yield the lines of a block map."""
    for key, value in data.items():
        yield f"{indent}{plain_or_quoted(key)}:" + ("" if isinstance(value, dict) else f" {plain_or_quoted(str(value))}")
        yield from _block(value, indent + step, step) if isinstance(value, dict) else ()


def _entries(source: Source, owner: MapNode, data: Data, indent: str) -> str:
    """Return further entries of a map, in its style."""
    if owner.flow:
        return _flow(data, quotes_keys(source, owner if owner.entries else source.root))[1:-1]
    return "".join(line_end(source) + line for line in _block(data, indent, _step(source)))


def _step(source: Source) -> str:
    """Return one level of indentation, as in the top-level map `cluster`."""
    section = source.root.get(KEYS[0])
    return indent_of(section.entries[0].key.span) if isinstance(section, MapNode) and not section.flow and section.entries else "  "


def insert_lines(source: Source, lines: Sequence[PlacementLine]) -> list[Edit]:
    """Return the edits that add lines, and missing keys, to `component_placement`.

    Raises UnusableInput (PW603) if a map is written elsewhere, through an interpolation.
    """
    owner, missing, data = source.root, list(KEYS), _data(lines)
    while lines and missing and (entry := owner.entry(missing[0])):
        if isinstance(entry.value, MapNode):
            owner = entry.value
            missing.pop(0)
        elif isinstance(entry.value, Scalar) and entry.value.is_null and len(missing) == 1:
            text = _entries(source, owner, data, indent_of(entry.key.span) + _step(source))
            text = f"{{{text}}}" if owner.flow else text
            return [Edit(entry.value.span, text) if entry.value.span.length else at_line_end(source, entry.key.span.end, text)]
        else:
            raise _elsewhere(entry.value.span, missing[0])
    for key in reversed(missing):
        data = {key: data}
    text = _entries(source, owner, data, indent_of(owner.entries[0].key.span) if owner.entries else "")
    if not owner.flow:
        return [at_line_end(source, owner.span.end, text)] if lines else []
    position = owner.entries[-1].value.span.end if owner.entries else owner.span.start + 1
    return [Edit(point(source, position), (", " if owner.entries else "") + text)] if lines else []


def rewrite_lines(source: Source, lines: Mapping[str, PlacementLine | None], stays: Collection[str] = ()) -> list[Edit]:
    """Return the edits that replace, add or (for None) remove the lines of components.

    All other lines stay. The lines of the components of `stays` stay too, as they mean the same;
    components without a line are added. Raises UnusableInput (PW603) if the lines are written
    elsewhere: in another file, or through an interpolation.
    """
    placed = find(source.root, ".".join(KEYS))
    if not isinstance(placed, MapNode):
        raise _elsewhere(source.whole(), KEYS[1])
    placed_names = {name for entry in placed for name in _names(entry)}
    wanted = {name: line for name, line in lines.items() if (name not in stays if name in placed_names else line is not None)}
    new = _joined([line for name, line in wanted.items() if line is not None and name not in placed_names])
    changed = [entry for entry in placed if not wanted.keys().isdisjoint(_names(entry))]
    if not changed:
        return insert_lines(source, new)
    return [edit for entry in changed for edit in _rewritten(source, placed, entry, wanted, new if entry is changed[-1] else [])]


def _names(entry: Entry) -> list[str]:
    return [name.strip() for name in entry.key.text.split(",")]


def _joined(lines: Sequence[PlacementLine]) -> list[PlacementLine]:
    """Return the lines with those of the same place merged."""
    names_by_place: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        names_by_place.setdefault((line.placement, line.groups), []).append(line.name)
    return [PlacementLine(",".join(names), placement, groups) for (placement, groups), names in names_by_place.items()]


def _rewritten(
    source: Source, placed: MapNode, entry: Entry, lines: Mapping[str, PlacementLine | None], new: list[PlacementLine]
) -> list[Edit]:
    """Return the edits of an entry: remaining names or a new line, then further lines."""
    value: Value | None = entry.value
    group = value.get(NODE_GROUP) if isinstance(value, MapNode) else None
    value = value.get("placement") if isinstance(value, MapNode) else value
    groups = group.text.strip() if isinstance(group, Scalar) and group.text.strip() != CLUSTER_LABEL else ""
    remaining = [name for name in _names(entry) if name not in lines]
    new_lines = _joined([line for name in _names(entry) if (line := lines.get(name)) is not None])
    line = None
    if not remaining and new_lines:
        same = (new_line for new_line in new_lines if value is entry.value and not new_line.groups)
        line = next((new_line for new_line in same if isinstance(value, Scalar) and value.text == new_line.placement), new_lines[0])
    after = _data([*(new_line for new_line in new_lines if new_line is not line), *new])
    edits: list[Edit] = []
    if line is not None and (not isinstance(value, Scalar) or value.origin is not None):
        raise _elsewhere(source.whole(), KEYS[1])
    if line is not None and groups != line.groups:
        start, end = entry.key.span, entry.value.span.end
        end = end if placed.flow else line_stop(source.text, end)
        text = _entries(source, placed, _data([line]) | after, indent_of(start)).lstrip()
        return [Edit(Span(start.file, start.start, end, start.line, start.column), text)]
    if line is None and not remaining:
        if (removal := without_entry(source.text, placed, entry)) is None:
            raise _elsewhere(source.whole(), KEYS[1])
        edits.append(removal)
    elif (names := ",".join(remaining) if line is None else line.name) != entry.key.text:
        edits.append(_in_same_quotes(source, entry.key, names, placed.flow))
    if line is not None and isinstance(value, Scalar) and value.text != line.placement:
        edits.append(_in_same_quotes(source, value, line.placement, placed.flow or value is not entry.value))
    if after:
        text, end = _entries(source, placed, after, indent_of(entry.key.span)), entry.value.span.end
        edits.append(Edit(point(source, end), f", {text}") if placed.flow else at_line_end(source, end, text))
    return edits


def _in_same_quotes(source: Source, scalar: Scalar, text: str, flow: bool) -> Edit:
    span = scalar.span
    if span.length and source.text[span.start] in "'\"":
        return Edit(span.part(1, span.length - 1), text)
    return Edit(span, in_flow_map(text) if flow else plain_or_quoted(text))


def _elsewhere(span: Span, key: str) -> UnusableInput:
    return _refused("", f"`{key}` is written elsewhere", span, f"write `{key}:` as a map here, with each component")
