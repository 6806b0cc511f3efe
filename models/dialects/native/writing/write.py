"""An answer into a native file: a `placement:` for every component that has none, every other byte unchanged."""

from __future__ import annotations

import json
from typing import Sequence

from ....component import Component
from ....findings.finding import UnusableInput, error
from ....findings.span import Edit, apply_edits
from ....notation.runs_list import placement_list
from ....notation.runs_text import placement_text
from ....placements.assignment import Assignment, Run, seats
from ....placements.ranks import merge, write_ranks
from ....problem import Problem
from ....reading import Reading
from ....text.scalar_text import in_flow_map, plain_or_quoted
from ....text.source import Source
from ....text.splice import at_line_end, indent_of, line_end, point, quotes_keys
from ....text.tree import Mapping, find, leaves, plain
from ..reader import read
from .shared import sharing


def write(reading: Reading, assignment: Assignment) -> list[Edit]:
    """The edits that give every component of the assignment its place, where the file gives it none, and let it share as it does.

    What a placement text cannot say is written node by node. Raises UnusableInput (PW603) where the file cannot be edited so that
    it gives this Assignment when it is read back, and no other value of it changes.
    """
    problem, written = reading.problem, reading.source.root.get("components")
    if problem is None or not isinstance(written, Mapping):
        raise _refused("", "the file has no `components:` map that could be edited")
    edits, added = [], sharing(problem, assignment)
    for component in problem.hinted:
        hints = written.get(component.name)
        if not isinstance(hints, Mapping):
            raise _refused(component.name, "its hints are written elsewhere, through an interpolation")
        runs = assignment.of(component.name)
        try:
            text = plain_or_quoted(text_of(problem, component, runs, component.node_groups))
            edits.append(_edit(reading.source, hints, text))
        except UnusableInput:
            edits.append(_edit_list(reading.source, hints, placement_list(runs, grouped=len(component.node_groups) > 1)))
        for key, names in added.get(component.name, {}).items():
            edits.append(_edit_names(reading.source, hints, key, names))
    _check(reading, assignment, edits)
    return edits


def text_of(problem: Problem, component: Component, runs: Sequence[Run], labels: tuple[str, ...]) -> str:
    """The placement of a component in the numbering of these groups. Raises UnusableInput (PW603) where a text cannot say it."""
    if component.unit == component.group_size:
        return placement_text(component.name, runs, problem.cluster, labels)
    # The component's own stride says how its range is dealt out.
    first = problem.cluster.numbering(labels).first
    ranks = [first[node] + index for _, its in seats(runs) for (node, index), _, _ in its]
    text = write_ranks(merge([range(rank, rank + 1) for rank in ranks]))
    if component.per_process > 1:
        text += f":0-{len(ranks) // component.per_process - 1}"
    return text


def _edit(source: Source, hints: Mapping, text: str) -> Edit:
    if not hints.flow:
        indent = indent_of(source, hints.entries[0].key.span)
        return at_line_end(source, hints.span.end, f"{line_end(source)}{indent}placement: {text}")
    key = '"placement"' if quotes_keys(source, hints) else "placement"
    shown = f'"{text}"' if not text.startswith('"') and ("," in text or ":" in text or key != "placement") else text
    if not hints.entries:
        return Edit(point(source, hints.span.start + 1), f"{key}: {shown}")
    return Edit(point(source, hints.entries[-1].value.span.end), f", {key}: {shown}")


def _edit_list(source: Source, hints: Mapping, entries: list[dict[str, object]]) -> Edit:
    quoted = hints.flow and quotes_keys(source, hints)
    if quoted:
        shown = [json.dumps(entry) for entry in entries]
    else:
        shown = ["{" + ", ".join(f"{key}: {_in_flow(value)}" for key, value in entry.items()) + "}" for entry in entries]
    if not hints.flow:
        end, indent = line_end(source), indent_of(source, hints.entries[0].key.span)
        return at_line_end(source, hints.span.end, f"{end}{indent}placement:" + "".join(f"{end}{indent}  - {entry}" for entry in shown))
    text = ('"placement"' if quoted else "placement") + f": [{', '.join(shown)}]"
    if not hints.entries:
        return Edit(point(source, hints.span.start + 1), text)
    return Edit(point(source, hints.entries[-1].value.span.end), f", {text}")


def _edit_names(source: Source, hints: Mapping, key: str, names: list[str]) -> Edit:
    """A key with names, or these added to those that it has."""
    there = hints.get(key)
    if there is not None:
        return Edit(there.span, "[" + ", ".join(in_flow_map(name) for name in (*(leaf.text for leaf in leaves(there)), *names)) + "]")
    if not hints.flow:
        indent = indent_of(source, hints.entries[0].key.span)
        text = ", ".join(in_flow_map(name) for name in names)
        return at_line_end(source, hints.span.end, f"{line_end(source)}{indent}{key}: [{text}]")
    quoted = quotes_keys(source, hints)
    text = ", ".join(json.dumps(name) if quoted else in_flow_map(name) for name in names)
    return Edit(point(source, hints.entries[-1].value.span.end), f", {json.dumps(key) if quoted else key}: [{text}]")


def _in_flow(value: object) -> str:
    return str(value) if isinstance(value, (int, list)) else in_flow_map(str(value))


def _check(reading: Reading, assignment: Assignment, edits: list[Edit]) -> None:
    """The edited text must say exactly this Assignment, of the same cluster."""
    problem = reading.problem
    edited = Source(reading.source.name, apply_edits(reading.source.text, edits))
    for name in [component.name for component in problem.hinted] if problem else ():
        if find(edited.root, f"components.{name}.placement") is None and "." not in name:
            raise _refused(name, f"the place of `{name}` would not be found in the text")
    if _without(plain(edited.root), reading.source.root, problem, sharing(problem, assignment) if problem else {}) != plain(
        reading.source.root
    ):
        raise _refused("", "another value of it would change")
    again = read(reading.document.compose(edited), problem.cluster if problem else None).problem
    found = {component.name: component.runs or () for component in again.components} if again else {}
    for name, runs in assignment.runs.items():
        if list(seats(found.get(name, ()))) != list(seats(runs)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")


def _without(root: object, written: Mapping, problem: Problem | None, added: dict[str, dict[str, list[str]]]) -> object:
    """The values of a file without the placements and the keys that were added to what was `written`."""
    components = root.get("components") if isinstance(root, dict) else None
    if problem is not None and isinstance(components, dict):
        for component in problem.hinted:
            components[component.name].pop("placement", None)
            for key in added.get(component.name, {}):
                before = find(written, f"components.{component.name}.{key}")
                components[component.name].pop(key, None)
                if before is not None:
                    components[component.name][key] = plain(before)
    return root


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
