"""Edits of the user's file for an answer: as few as possible.

In addition to new ranks, hints are edited: node groups that RLinf's own entries cannot state, since
it counts ranks over the whole cluster; counts on which costs were measured; chosen degrees.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Collection, Mapping, Sequence

from ...component import Component
from ...findings.finding import UnusableInput, error
from ...findings.span import Edit
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
from ...text.edit import in_flow_map, with_entry
from ...text.source import Source
from ...text.tree import MapNode, Scalar, find, plain
from ...times import times_with
from ..dialect import UNCHANGED, Degrees
from .known import COST, KEY
from .lines import PlacementLine, insert_lines, rewrite_lines
from .modes.degrees import SECTIONS
from .modes.state import extent_of
from .planning.hints import MEASURED_ON
from .reader import read_with


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits that place components without ranks, and planned ones anew.

    Components of `degrees` get these degrees, in the hints and in RLinf's own keys.

    Only the file itself is edited: if its `cluster` is in `defaults`, a new `cluster` is merged
    onto that. Raises UnusableInput (PW603) if RLinf cannot express a placement, or if the text,
    read back, would not give the same Assignment.
    """
    problem = reading.problem
    if problem is None:
        raise _refused("", "the file states no problem")
    known = {component.name: component for component in problem.components}
    explicit = {component.name for component in problem.components if component.runs is not None}
    added = [name for name in assignment.runs if name not in explicit]
    idle = _not_started(problem, assignment)
    lines = {name: _line(name, known.get(name), problem, assignment.of(name)) for name in added if name not in idle}
    stays: list[str] = []
    if problem.job.planning.own:
        stays = [name for name in lines if _is_where_it_was(problem, assignment, name)]
        edits = rewrite_lines(reading.source, {**lines, **dict.fromkeys(idle)}, stays)
    else:
        edits = insert_lines(reading.source, list(lines.values())) if lines else []
    chosen = {name: parallel for name, parallel in degrees.items() if name not in problem.job.planning.tied}
    for name, parallel in chosen.items():
        edits += degrees_of(reading.source, name, parallel)
    edits += hint_edits(reading.source, NODE_GROUP, _dropped(problem, {name: line for name, line in lines.items() if name not in stays}))
    if problem.job.planning.own and edits:
        edits += hint_edits(reading.source, MEASURED_ON, _measured_on(reading, problem, edits, degrees))
    _check(reading, problem, assignment, degrees, edits, added, idle)
    return edits


def _measured_on(reading: Reading, problem: Problem, edits: list[Edit], degrees: Degrees) -> dict[str, int]:
    """Return the accelerators of measured costs, where the edited text would imply others."""
    try:
        source = reading.source.edited(edits)
        after = read_with(reading.document.compose(source), problem.cluster, "placement", hints=True, anew=True).problem
    except UnusableInput as broken:
        raise _refused("", f"with it, {broken}") from None
    return measured_counts(reading.source, problem, after, degrees) if after else {}


def _not_started(problem: Problem, assignment: Assignment) -> frozenset[str]:
    """Return the components that RLinf does not start in the assignment's arrangement."""
    masks_by_name = {name: assignment.masks(name) for name in assignment.runs}
    for way in problem.job.planning.ways:
        if way.together and all(masks_by_name.get(first) == masks_by_name.get(second) for first, second in way.together):
            return way.without
    return frozenset()


def _dropped(problem: Problem, lines: Mapping[str, PlacementLine]) -> dict[str, str]:
    """Return planned components whose lines omit the node group of the plan."""
    if not problem.job.planning.own or not problem.job.capabilities.packs:
        return {}
    without_group = [problem[name] for name, line in lines.items() if not line.groups and problem.kind(problem[name]) == ACCELERATOR]
    named = {component.name: component.node_groups for component in without_group}
    return {name: labels[0] for name, labels in named.items() if len(labels) == 1 and labels != (CLUSTER_LABEL,)}


def _is_where_it_was(problem: Problem, assignment: Assignment, name: str) -> bool:
    """Return True if the file's own ranks of a component equal the assignment."""
    own_runs = problem.job.planning.own.get(name, ())
    return bool(own_runs) and _is_same(own_runs, assignment.of(name), problem.job.capabilities.packs)


def _is_same(runs: Sequence[Run], reread_runs: Sequence[Run], drops_groups: bool) -> bool:
    """Return True if runs have equal seats; node groups count unless RLinf drops them."""
    if drops_groups:
        runs, reread_runs = _relabelled(runs, (CLUSTER_LABEL,)), _relabelled(reread_runs, (CLUSTER_LABEL,))
    return list(seats(runs)) == list(seats(reread_runs))


def _line(name: str, component: Component | None, problem: Problem, runs: Sequence[Run]) -> PlacementLine:
    if not name or "," in name or name != name.strip():
        raise _refused(name, f"`{name}` cannot be a key of `component_placement`")
    named = component.node_groups if component else ()
    if component and component.contiguous and problem.job.capabilities.packs:
        labels = _labels(component, problem, runs)
        extent = extent_of(_relabelled(runs, labels), problem.cluster, labels)
        everything = extent.size == problem.cluster.numbering(labels).size > 1
        text = "all" if everything else str(extent)
    else:
        labels, text = best_text(name, runs, problem.cluster, named)
    return PlacementLine(name, text, "" if labels == (CLUSTER_LABEL,) else ",".join(labels))


def _labels(component: Component, problem: Problem, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the groups to write: the file's own if its ranks equal the cluster's."""
    if problem.kind(component) != ACCELERATOR:
        return labels_used(runs, component.node_groups)
    named, whole = component.node_groups, (CLUSTER_LABEL,)
    if not problem.job.planning.own or len(named) != 1 or named == whole:
        return whole
    in_group, in_all = (extent_of(_relabelled(runs, labels), problem.cluster, labels) for labels in (named, whole))
    return named if in_group == in_all else whole


def _relabelled(runs: Sequence[Run], labels: tuple[str, ...]) -> Sequence[Run]:
    """Return the runs with the label, if there is only one label."""
    return [replace(run, node_group=labels[0]) for run in runs] if len(labels) == 1 else runs


def _check(
    reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees, edits: list[Edit], added: Sequence[str],
    idle: Collection[str],
) -> None:  # fmt: skip
    """Raise UnusableInput unless the edited text gives the assignment and nothing else changes."""
    source = reading.source.edited(edits)
    try:
        document = reading.document.compose(source)
        reread_problem = read_with(document, problem.cluster, "placement", hints=False).problem
    except UnusableInput as broken:
        raise _refused("", f"with it, {broken}") from None
    placed = {*problem.job.planning.own, *added}
    if _without_answer(source.root, placed) != _without_answer(reading.source.root, placed):
        raise _refused("", "another value of it would change")
    reread = {component.name: component for component in reread_problem.components} if reread_problem else {}
    for name, runs in assignment.runs.items():
        reread_runs = reread[name].runs if name in reread else None
        drops_groups = problem.job.capabilities.packs and name in added
        if name not in idle and (reread_runs is None or not _is_same(runs, reread_runs, drops_groups)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")
    hinted = read_with(document, problem.cluster, "placement", hints=True).problem if degrees else None
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


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])


NODE_GROUP = "node_group"


def hint_edits(source: Source, key: str, values: Mapping[str, object]) -> list[Edit]:
    """Return the edits that add a key to hints without this key.

    Empty if the file has no place for the key. A node group names the nodes that a plan may use,
    and a count the accelerators behind a cost.
    """
    root, block = source.root, source.root.get(NAME)
    inner = block.get(COMPONENTS) if isinstance(block, MapNode) else None
    hints = {name: inner.get(name) if isinstance(inner, MapNode) else None for name in values}
    wanted = {name: value for name, value in values.items() if find(hints[name], key) is None}
    new = {name: {key: value} for name, value in wanted.items()}
    if not wanted:
        return []
    if block is None:
        return _added(source, root, {NAME: {COMPONENTS: new}})
    if isinstance(block, MapNode) and inner is None:
        return _added(source, block, {COMPONENTS: new})
    if not isinstance(inner, MapNode):
        return []
    edits = [
        edit for name, value in wanted.items() if isinstance(hint := hints[name], MapNode) for edit in _added(source, hint, {key: value})
    ]
    return edits + _added(source, inner, {name: new[name] for name in new if hints[name] is None})


def _added(source: Source, mapping: MapNode, values: Mapping[str, object]) -> list[Edit]:
    """Return edits that add values to a map, or replace empty braces."""
    if values and mapping.flow and not mapping.entries:
        return [Edit(mapping.span, _text(source, dict(values)))]
    edits = (with_entry(source.text, mapping, in_flow_map(key), _text(source, value)) for key, value in values.items())
    return [edit for edit in edits if edit]


def _text(source: Source, value: object) -> str:
    """Return a value as a flow map, quoted if the file may be JSON."""
    if source.text.lstrip().startswith("{"):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{in_flow_map(key)}: {_text(source, inner)}" for key, inner in value.items()) + "}"
    return in_flow_map(str(value))


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
