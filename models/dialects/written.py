"""Answers written into a file: edits of its keys, the check of the edited text, and keys of new files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Callable, Collection, Mapping

import yaml

from ..component import Component
from ..findings.finding import UnusableInput, error
from ..findings.span import Edit, Span
from ..placements.assignment import Assignment, seats
from ..problem import Problem
from ..reading import Reading
from ..text.document import Document
from ..text.edit import in_flow_map, indent_of, line_end, point, quotes_keys, to_yaml, with_entry
from ..text.source import Source
from ..text.tree import ListNode, MapNode, Scalar, plain
from .following import scalars_by_path

Values = Mapping[str, Any]
"""Key -> number, list, map of keys, or text of a block map in YAML."""
Data = dict[str, Any]


def refuse_writing(name: str, why: str, help: str = "use the plan itself") -> UnusableInput:
    """Build the error for an answer that cannot be written (PW603)."""
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help=help)])


def edits_of(source: Source, owner: MapNode, values: Values, path: str = "") -> list[Edit]:
    """Return the edits that set values in a map; missing keys come last.

    Raises UnusableInput (PW603) for a value without a place of its own.
    """
    edits, missing = list[Edit](), dict[str, Any]()
    for name, value in values.items():
        node, key = owner.get(name), f"{path}{name}"
        if node is None:
            missing[name] = value
        elif isinstance(node, Scalar) and node.is_null and isinstance(value, Mapping):
            text = text_of(value, True, quotes_keys(source, owner))
            edits.append(Edit(node.span, text if node.span.length else f" {text}"))
        elif isinstance(node, MapNode) and isinstance(value, Mapping) and node.entries:
            edits += edits_of(source, node, value, f"{key}.")
        elif isinstance(node, MapNode) != isinstance(value, Mapping) or (not isinstance(node, (MapNode, ListNode)) and node.origin):
            raise refuse_writing(key, f"`{key}` is written elsewhere, or in another form")
        elif plain(node) != value:
            edits.append(Edit(node.span, text_of(value, owner.flow or isinstance(node, MapNode), quotes_keys(source, owner))))
    return edits + ([_add_keys(source, owner, missing, path)] if missing else [])


def _add_keys(source: Source, owner: MapNode, values: Values, path: str) -> Edit:
    """Return the edit that adds keys at the end of a map."""
    has_quotes, end = quotes_keys(source, owner), line_end(source.text)
    if owner is source.root and not owner.flow:
        text = "" if source.text.endswith(("\n", "\r")) else end
        for name, value in values.items():
            inner = (f"{end}  {key}: {text_of(item, isinstance(item, Mapping))}" for key, item in value.items())
            text += f"{name}:{''.join(inner)}{end}"
        return Edit(point(source, len(source.text)), text)
    if owner.flow and not owner.entries:
        return Edit(point(source, owner.span.start + 1), text_of(values, True)[1:-1])
    line = f"{end}{indent_of(owner.entries[0].key.span)}  - "
    keys = {key: json.dumps(key)[1:-1] if has_quotes else in_flow_map(key) for key in values}
    entries = [with_entry(source.text, owner, keys[key], text_of(value, owner.flow, has_quotes, line)) for key, value in values.items()]
    edits = [edit for edit in entries if edit is not None]
    if len(edits) < len(entries):
        raise refuse_writing(path.rstrip("."), f"there is no place for {', '.join(f'`{path}{key}`' for key in values)}")
    return Edit(edits[0].span, "".join(edit.text for edit in edits).replace(f": {end}", f":{end}"))


def text_of(value: Any, flow: bool, has_quotes: bool = False, line: str = "") -> str:
    """Return a value as YAML; as JSON with `has_quotes` (of the keys). Maps in a list of a block map start a `line` each."""
    if has_quotes and not (isinstance(value, str) and value.startswith('"')):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{in_flow_map(key)}: {text_of(item, True)}" for key, item in value.items()) + "}"
    if isinstance(value, list) and line and not flow and isinstance(value[0], Mapping):
        return "".join(f"{line}{text_of(item, True)}" for item in value)
    if isinstance(value, list):
        return "[" + ", ".join(text_of(item, True) for item in value) + "]"
    return in_flow_map(value) if flow and isinstance(value, str) and not value.startswith('"') else str(value)


def append_settings(reading: Reading, settings: list[str]) -> list[Edit]:
    """Return the edit that adds settings at the end of the command of a script."""
    program = reading.document.program
    if not settings or program is None:
        return []
    if not program.name or program.command is None:
        raise refuse_writing("", "it is not a script that starts a program", f"add `{' '.join(settings)}` to the settings of the program")
    text, end = reading.source.text, program.command.end
    lines = text[program.command.start : end].split("\n")
    between = " \\\n" + lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())] if len(lines) > 1 else " "
    place = Span(reading.source.name, end, end, text.count("\n", 0, end) + 1, end - text.rfind("\n", 0, end))
    return [Edit(place, "".join(f"{between}{setting}" for setting in settings))]


def read_again(reading: Reading, edits: list[Edit], changed_paths: Collection[str], read: Callable[[Document], Reading]) -> Problem | None:
    """Return the problem of the edited text. Refuse a change of values beside `changed_paths`."""
    source = reading.source.edit(edits)
    try:
        values = _values(source.root, changed_paths)
        problem = read(replace(reading.document.compose(source), release=reading.document.release)).problem
    except UnusableInput as fault:
        raise refuse_writing("", f"with it, {fault}") from None
    if values != _values(reading.source.root, changed_paths):
        raise refuse_writing("", "another value of it would change")
    return problem


def _values(root: MapNode, changed_paths: Collection[str]) -> dict[str, object]:
    """Return the values of a file by path, without those at or below `changed_paths`."""
    prefixes = tuple(f"{path}." for path in changed_paths)
    return {path: leaf.value for path, leaf in scalars_by_path(root) if not f"{path}.".startswith(prefixes)}


def check_places(assignment: Assignment, components: Mapping[str, Component], without: Collection[str] = ()) -> None:
    """Refuse components that are not where the assignment has them; `without` some."""
    for name, runs in assignment.runs.items():
        component = components.get(name)
        current_runs = component.runs if component is not None else None
        if name not in without and (current_runs is None or list(seats(current_runs)) != list(seats(runs))):
            raise refuse_writing(name, f"the place of `{name}`, written down and read again, is another one")


def put(tree: Data, keys: Mapping[str, object]) -> Data:
    """Set dotted keys in a tree, and return the tree."""
    for path, value in keys.items():
        *owners, last = path.split(".")
        section = tree
        for owner in owners:
            section = section.setdefault(owner, {})
        section[last] = value
    return tree


def merge_keys(text: str, keys: Mapping[str, object], without: tuple[str, ...] = ()) -> Data:
    """Return the tree of a file with dotted keys set, `without` some sections."""
    return put({name: value for name, value in yaml.safe_load(text).items() if name not in without}, keys)


def flat(tree: Mapping[str, Any], before: str = "") -> dict[str, object]:
    """Return dotted key -> value of every leaf."""
    leaves: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            leaves |= flat(value, f"{before}{name}.")
        else:
            leaves[f"{before}{name}"] = value
    return leaves


def add_title(title: str, tree: Data) -> str:
    """Return a YAML text with a comment at its head."""
    return f"# {title}\n{to_yaml(tree)}"
