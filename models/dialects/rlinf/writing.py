"""Edits of the user's file for an answer: as few as possible, in the style of the file.

In addition to new ranks, chosen degrees are written into hints and RLinf's own keys.
"""

from __future__ import annotations

from dataclasses import replace
from operator import eq
from typing import Any, Collection, Mapping, Sequence, Union

from ...component import Component
from ...findings.span import Edit, Span
from ...hints.amount import KEY as PARALLEL
from ...hints.amount import degrees_of as degrees_in_hints
from ...hints.block import COMPONENTS, NAME
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...placements.assignment import Assignment, seats
from ...placements.run import Run
from ...placements.runs_text import best_text, labels_used
from ...problem import Problem
from ...ranks import write_range
from ...reading import Reading
from ...text.edit import indent_of, line_end, plain_or_quoted, quotes_keys, without_entry
from ...text.source import Source
from ...text.tree import MapNode, find
from ..dialect import UNCHANGED, Degrees
from ..written import Values, check_places, edits_of, put, read_again, refuse_writing, text_of
from .known import names_of
from .modes.state import SECTIONS, degree_keys, extent_of
from .reader import read_with

NODE_GROUP = "node_group"
PLACED = "cluster.component_placement"
_WHOLE: tuple[str, ...] = (CLUSTER_LABEL,)
Line = Union[int, str, Values, None]
"""Value of a component in `component_placement`; None for a component that is not started."""


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits that place components without ranks, and planned ones anew.

    Components of `degrees` get these degrees, in the hints and in RLinf's own keys.

    Only the file itself is edited: if its `cluster` is in `defaults`, a new `cluster` is merged
    onto that. Raises UnusableInput (PW603) if RLinf cannot express a placement, or if the text,
    read back, would not give the same Assignment.
    """
    problem, source = reading.problem, reading.source
    if problem is None:
        raise refuse_writing("", "the file states no problem")
    by_name, planning = {component.name: component for component in problem.components}, problem.job.planning
    packs, section = problem.job.capabilities.packs, find(source.root, PLACED)
    if planning.own and not isinstance(section, MapNode):
        raise refuse_writing("", f"`{PLACED}` is written elsewhere")
    entries = section if isinstance(section, MapNode) else MapNode((), source.root.span)
    in_file = {name for entry in entries for name in names_of(entry)}
    masks_by_name = {name: assignment.masks(name) for name in assignment.runs}
    arrangements = (arrangement for arrangement in planning.ways if arrangement.together)
    candidates = (c for c in arrangements if all(masks_by_name.get(first) == masks_by_name.get(second) for first, second in c.together))
    idle = next((arrangement.without for arrangement in candidates), frozenset())  # not started by RLinf
    new_names = [name for name in assignment.runs if name not in by_name or by_name[name].runs is None]
    lines: dict[str, Line] = {name: _line(name, by_name.get(name), problem, assignment.of(name)) for name in new_names if name not in idle}
    own_runs = {name: [planning.own[name], assignment.of(name)] for name in lines if name in planning.own}
    keeps = {name for name, both in own_runs.items() if eq(*(list(seats(_relabel(runs) if packs else runs)) for runs in both))}
    new_lines = {name: line for name, line in (lines | dict.fromkeys(idle)).items() if name not in keeps & in_file}
    edits = rewrite(source, entries, new_lines)
    values: dict[str, Any] = {}
    if new := {name: line for name, line in new_lines.items() if line is not None and name not in in_file}:
        values["cluster"] = {"component_placement": new}
    for name, parallel in degrees.items():
        if name not in planning.tied:
            hint_node = find(source.root, f"{NAME}.{COMPONENTS}.{name}")
            edits += degrees_in_hints(source, hint_node, parallel) if isinstance(hint_node, MapNode) else []
            values = put(values, degree_keys(source.root, name, parallel))
    changes = [*edits, *edits_of(source, source.root, values)]
    _check(reading, problem, assignment, degrees, changes, new_names, idle)
    return changes


def _relabel(runs: Sequence[Run], labels: tuple[str, ...] = _WHOLE) -> Sequence[Run]:
    return [replace(run, node_group=labels[0]) for run in runs] if len(labels) == 1 else runs


def _line(name: str, component: Component | None, problem: Problem, runs: Sequence[Run]) -> Line:
    def extent_in(labels: tuple[str, ...]) -> range:
        return extent_of(_relabel(runs, labels), problem.cluster, labels)

    if not name or "," in name or name != name.strip():
        raise refuse_writing(name, f"`{name}` cannot be a key of `component_placement`")
    if component and component.contiguous and problem.job.capabilities.packs:
        own_groups, labels = component.node_groups, _WHOLE
        if problem.kind(component) != ACCELERATOR:
            labels = labels_used(runs, own_groups)
        elif problem.job.planning.own and len(own_groups) == 1 and extent_in(own_groups) == extent_in(_WHOLE):
            labels = own_groups  # the file's own group, whose ranks equal the cluster's
        extent = extent_in(labels)
        text = "all" if len(extent) == problem.cluster.numbering(labels).size > 1 else write_range(extent)
    else:
        labels, text = best_text(name, runs, problem.cluster, component.node_groups if component else ())
    return plain_or_quoted(text) if labels == _WHOLE else {NODE_GROUP: ",".join(labels), "placement": text}


def rewrite(source: Source, section: MapNode, lines: Mapping[str, Line]) -> list[Edit]:
    """Return the edits of the entries of `component_placement` with changed components.

    The others of an entry keep its value; the changed ones stand behind it, equal ones together.
    """
    edits = []
    first = section.entries[0].key.span if section.entries else section.span
    separator = ", " if section.flow else line_end(source.text) + indent_of(first)
    for entry in section:
        key, end, names = entry.key.span, entry.value.span.end_in_use, names_of(entry)
        by_line: dict[str, list[str]] = {}
        for name in names:
            if (line := lines.get(name)) is not None:
                by_line.setdefault(_text(source, section, line), []).append(name)
        remaining = [name for name in names if name not in lines]
        if remaining == names:
            continue
        pieces = [f"{_text(source, section, ','.join(remaining))}{source.text[key.end : end]}"] if remaining else []
        pieces += [f"{_text(source, section, ','.join(members))}: {text}" for text, members in by_line.items()]
        edit = Edit(Span(key.file, key.start, end, key.line, key.column), separator.join(pieces))
        removal = edit if pieces else without_entry(source.text, section, entry)
        if removal is None:
            raise refuse_writing("", f"`{PLACED}` is written elsewhere")
        edits.append(removal)
    return [edit for edit in edits if edit.text != source.text[edit.span.start : edit.span.end]]


def _text(source: Source, section: MapNode, value: object) -> str:
    return text_of(value, section.flow, quotes_keys(source, source.root))


def _check(
    reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees, edits: list[Edit], new_names: Sequence[str],
    idle: Collection[str],
) -> None:  # fmt: skip
    """Raise UnusableInput unless the edited text gives the assignment and nothing else changes."""
    new_problem = _reread(reading, problem, edits, degrees, hints=False)
    components = {component.name: component for component in new_problem.components} if new_problem else {}
    new_runs = dict(assignment.runs)
    for name in new_names if problem.job.capabilities.packs else ():
        new_runs[name] = _relabel(assignment.of(name))
        if (component := components.get(name)) and component.runs is not None:
            components[name] = replace(component, runs=tuple(_relabel(component.runs)))
    check_places(Assignment(new_runs), components, idle)
    hinted_problem = _reread(reading, problem, edits, degrees) if degrees else None
    for component in hinted_problem.components if hinted_problem else ():
        name = component.name
        if name in degrees and component.parallel != problem.divide(name, degrees[name]):
            raise refuse_writing(name, f"`{name}`, written down and read again, would have {component.parallel}")


def _reread(reading: Reading, problem: Problem, edits: list[Edit], degrees: Degrees, hints: bool = True) -> Problem | None:
    """Return the problem of the edited text; only the answer's own keys may change."""
    sections = (SECTIONS[name] for name in degrees if name in SECTIONS)
    changed_keys = [PLACED, *(f"{path}.{key}" for path, keys in sections for key in keys.values())]
    changed_keys += [f"{NAME}.{COMPONENTS}.{component.name}.{PARALLEL}" for component in problem.components]
    return read_again(reading, edits, changed_keys, lambda document: read_with(document, problem.cluster, "placement", hints))
