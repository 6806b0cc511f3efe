"""Edits of a native file for an answer: a `placement:` per component, and chosen degrees.

No other byte changes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Sequence

from ....component import Component
from ....findings.finding import UnusableInput, error
from ....findings.span import Edit
from ....hints.amount import KEY, degrees_of
from ....placements.assignment import Assignment, seats
from ....placements.run import Run
from ....placements.runs_text import placement_list, placement_text
from ....problem import Problem
from ....ranks import merge, write_ranks
from ....reading import Reading
from ....text.edit import at_line_end, in_flow_map, indent_of, line_end, plain_or_quoted, point, quotes_keys
from ....text.source import Source
from ....text.tree import MapNode, find, leaves, plain
from ...dialect import UNCHANGED, Degrees
from ..reader import read
from .shared import sharing


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits that place the open components and permit their sharing.

    Components in `degrees` keep no other degrees than these.

    A placement without a text form is written node by node. Raises UnusableInput (PW603) if the
    edited file would not give this Assignment when read back, or if another value of the file would
    change.
    """
    problem, written = reading.problem, reading.source.root.get("components")
    if problem is None or not isinstance(written, MapNode):
        raise _refused("", "the file has no `components:` map that could be edited")
    edits, added = [], sharing(problem, assignment)
    for component in problem.components:
        hints, chosen = written.get(component.name), degrees.get(component.name)
        if component.runs is not None and chosen is None:
            continue
        if not isinstance(hints, MapNode):
            raise _refused(component.name, "its hints are written elsewhere, through an interpolation")
        if chosen is not None:
            edits += degrees_of(reading.source, hints, chosen)
            component = replace(component, parallel=chosen)
        if component.runs is not None:
            continue
        runs = assignment.of(component.name)
        try:
            text = plain_or_quoted(text_of(problem, component, runs, component.node_groups))
            edits.append(_edit(reading.source, hints, text))
        except UnusableInput:
            edits.append(_edit_list(reading.source, hints, placement_list(runs, grouped=len(component.node_groups) > 1)))
        for key, names in added.get(component.name, {}).items():
            edits.append(_edit_names(reading.source, hints, key, names))
    _check(reading, assignment, degrees, edits)
    return edits


def text_of(problem: Problem, component: Component, runs: Sequence[Run], labels: tuple[str, ...]) -> str:
    """Return the placement of a component as text, numbered by these groups.

    Raises UnusableInput (PW603) if a text cannot express the placement.
    """
    if component.unit == component.group_size:
        return placement_text(component.name, runs, problem.cluster, labels)
    # The stride of the component deals out the range, so the ranks alone suffice.
    first = problem.cluster.numbering(labels).first
    ranks = [first[node] + index for _, process_seats in seats(runs) for (node, index), _, _ in process_seats]
    text = write_ranks(merge([range(rank, rank + 1) for rank in ranks]))
    if component.per_process > 1:
        text += f":0-{len(ranks) // component.per_process - 1}"
    return text


def _edit(source: Source, hints: MapNode, text: str) -> Edit:
    if not hints.flow:
        indent = indent_of(hints.entries[0].key.span)
        return at_line_end(source, hints.span.end, f"{line_end(source)}{indent}placement: {text}")
    key = '"placement"' if quotes_keys(source, hints) else "placement"
    shown = f'"{text}"' if not text.startswith('"') and ("," in text or ":" in text or key != "placement") else text
    if not hints.entries:
        return Edit(point(source, hints.span.start + 1), f"{key}: {shown}")
    return Edit(point(source, hints.entries[-1].value.span.end), f", {key}: {shown}")


def _edit_list(source: Source, hints: MapNode, entries: list[dict[str, object]]) -> Edit:
    quoted = hints.flow and quotes_keys(source, hints)
    if quoted:
        shown = [json.dumps(entry) for entry in entries]
    else:
        shown = ["{" + ", ".join(f"{key}: {_in_flow(value)}" for key, value in entry.items()) + "}" for entry in entries]
    if not hints.flow:
        end, indent = line_end(source), indent_of(hints.entries[0].key.span)
        return at_line_end(source, hints.span.end, f"{end}{indent}placement:" + "".join(f"{end}{indent}  - {entry}" for entry in shown))
    text = ('"placement"' if quoted else "placement") + f": [{', '.join(shown)}]"
    if not hints.entries:
        return Edit(point(source, hints.span.start + 1), text)
    return Edit(point(source, hints.entries[-1].value.span.end), f", {text}")


def _edit_names(source: Source, hints: MapNode, key: str, names: list[str]) -> Edit:
    """Return an edit that adds a key with names, or adds names to the key."""
    current = hints.get(key)
    if current is not None:
        return Edit(current.span, "[" + ", ".join(in_flow_map(name) for name in (*(leaf.text for leaf in leaves(current)), *names)) + "]")
    if not hints.flow:
        indent = indent_of(hints.entries[0].key.span)
        text = ", ".join(in_flow_map(name) for name in names)
        return at_line_end(source, hints.span.end, f"{line_end(source)}{indent}{key}: [{text}]")
    quoted = quotes_keys(source, hints)
    text = ", ".join(json.dumps(name) if quoted else in_flow_map(name) for name in names)
    return Edit(point(source, hints.entries[-1].value.span.end), f", {json.dumps(key) if quoted else key}: [{text}]")


def _in_flow(value: object) -> str:
    return str(value) if isinstance(value, (int, list)) else in_flow_map(str(value))


def _check(reading: Reading, assignment: Assignment, degrees: Degrees, edits: list[Edit]) -> None:
    """Raise UnusableInput unless the edited text gives this Assignment and these degrees."""
    problem = reading.problem
    edited = reading.source.edited(edits)
    for name in [component.name for component in problem.hinted] if problem else ():
        if find(edited.root, f"components.{name}.placement") is None and "." not in name:
            raise _refused(name, f"the place of `{name}` would not be found in the text")
    added = {name: set(keys) for name, keys in sharing(problem, assignment).items()} if problem else {}
    for name in degrees:
        added.setdefault(name, set()).add(KEY)
    if _without(plain(edited.root), plain(reading.source.root), problem, added) != plain(reading.source.root):
        raise _refused("", "another value of it would change")
    reread_problem = read(reading.document.compose(edited), problem.cluster if problem else None, reading.level).problem
    reread = {component.name: component for component in reread_problem.components} if reread_problem else {}
    for name, runs in assignment.runs.items():
        reread_runs = reread[name].runs if name in reread else None
        if list(seats(reread_runs or ())) != list(seats(runs)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")
    for name, parallel in degrees.items():
        if reread_problem is None or name not in reread or reread[name].parallel != parallel or name in reread_problem.job.choices:
            raise _refused(name, f"`{name}`, written down and read again, would not have {parallel}")


def _without(root: object, written: object, problem: Problem | None, changed: dict[str, set[str]]) -> object:
    """Return a file's values without placements; `changed` keys have the values in `written`."""
    components, before = (tree.get("components") if isinstance(tree, dict) else None for tree in (root, written))
    if problem is not None and isinstance(components, dict) and isinstance(before, dict):
        for component in problem.hinted:
            components[component.name].pop("placement", None)
        for name, keys in changed.items():
            for key in keys:
                components[name].pop(key, None)
                if key in before[name]:
                    components[name][key] = before[name][key]
    return root


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
