"""Lines of `component_placement`: new lines, and minimal edits of existing lines."""

from __future__ import annotations

import json
from typing import Collection, Mapping, Sequence

from ...findings.finding import UnusableInput, error
from ...findings.span import Edit, Span
from ...machines.node_group import CLUSTER_LABEL
from ...record import dataclass
from ...text.edit import at_line_end, in_flow_map, indent_of, line_end, line_stop, plain_or_quoted, point, quotes_keys, without_entry
from ...text.source import Source
from ...text.tree import Entry, MapNode, Scalar

KEYS = ("cluster", "component_placement")


@dataclass(frozen=True, slots=True)
class PlacementLine:
    """Place of components: names, placement, and node groups ("" for the whole cluster)."""

    name: str
    placement: str
    groups: str

    def block(self, indent: str, step: str) -> list[str]:
        """Return the lines of a block map."""
        key, placement = plain_or_quoted(self.name), plain_or_quoted(self.placement)
        if not self.groups:
            return [f"{indent}{key}: {placement}"]
        inner = indent + step
        return [f"{indent}{key}:", f"{inner}node_group: {plain_or_quoted(self.groups)}", f"{inner}placement: {placement}"]

    def flow(self, quoted: bool) -> str:
        """Return an entry of a flow map, with everything in double quotes if `quoted`."""
        write = _json if quoted else in_flow_map
        key, placement = write(self.name), write(self.placement)
        if not self.groups:
            return f"{key}: {placement}"
        return f"{key}: {{{write('node_group')}: {write(self.groups)}, {write('placement')}: {placement}}}"


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _text(source: Source, owner: MapNode, lines: Sequence[PlacementLine], keys: Sequence[str], indent: str, step: str) -> str:
    """Return the lines below the missing keys, in the style of the surrounding map."""
    if owner.flow:
        quoted = quotes_keys(source, owner if owner.entries else source.root)
        text = ", ".join(line.flow(quoted) for line in lines)
        for key in reversed(keys):
            text = f"{_json(key) if quoted else key}: {{{text}}}"
        return text
    texts = [f"{indent}{step * depth}{key}:" for depth, key in enumerate(keys)]
    texts += [text for line in lines for text in line.block(indent + step * len(keys), step)]
    return "".join(line_end(source) + text for text in texts)


def insert_lines(source: Source, lines: Sequence[PlacementLine]) -> list[Edit]:
    """Return the edits that add lines, and missing keys, to `component_placement`.

    Raises UnusableInput (PW603) if a map is written elsewhere, through an interpolation.
    """
    owner, missing = source.root, list(KEYS)
    while missing and (entry := owner.entry(missing[0])):
        if isinstance(entry.value, MapNode):
            owner = entry.value
            missing.pop(0)
        elif isinstance(entry.value, Scalar) and entry.value.is_null and len(missing) == 1:
            return [_instead_of_null(source, owner, entry, lines)]
        else:
            raise _elsewhere(entry.value.span, missing[0])
    if owner.flow:
        text = _text(source, owner, lines, missing, "", "")
        position = owner.entries[-1].value.span.end if owner.entries else owner.span.start + 1
        return [Edit(point(source, position), (", " if owner.entries else "") + text)]
    indent = indent_of(owner.entries[0].key.span) if owner.entries else ""
    return [at_line_end(source, owner.span.end, _text(source, owner, lines, missing, indent, _step(source)))]


def _instead_of_null(source: Source, section: MapNode, entry: Entry, lines: Sequence[PlacementLine]) -> Edit:
    step = _step(source)
    text = _text(source, section, lines, (), indent_of(entry.key.span) + step, step)
    if section.flow:
        text = f"{{{text}}}"
    return Edit(entry.value.span, text) if entry.value.span.length else at_line_end(source, entry.key.span.end, text)


def _step(source: Source) -> str:
    """Return one level of indentation, as in the top-level map `cluster`."""
    section = source.root.get(KEYS[0])
    is_block = isinstance(section, MapNode) and not section.flow and section.entries
    return indent_of(section.entries[0].key.span) if isinstance(section, MapNode) and is_block else "  "


def rewrite_lines(source: Source, lines: Mapping[str, PlacementLine | None], stays: Collection[str] = ()) -> list[Edit]:
    """Return the edits that replace, add or (for None) remove the lines of components.

    All other lines stay. The lines of the components of `stays` stay too, as they mean the same;
    components without a line are added. Raises UnusableInput (PW603) if the lines are written
    elsewhere: in another file, or through an interpolation.
    """
    section = source.root.get(KEYS[0])
    placed = section.get(KEYS[1]) if isinstance(section, MapNode) else None
    if not isinstance(placed, MapNode):
        raise _elsewhere(source.whole(), KEYS[1])
    placed_names = {name for entry in placed for name in _names(entry)}
    wanted = {name: line for name, line in lines.items() if (name not in stays if name in placed_names else line is not None)}
    new = _joined([line for name, line in wanted.items() if line is not None and name not in placed_names])
    changed = [entry for entry in placed if not wanted.keys().isdisjoint(_names(entry))]
    if not changed:
        return insert_lines(source, new) if new else []
    edits: list[Edit] = []
    for entry in changed:
        edits += _rewritten(source, placed, entry, wanted, new if entry is changed[-1] else [])
    return edits


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
    value, groups = _place(entry)
    remaining = [name for name in _names(entry) if name not in lines]
    new_lines = _joined([line for name in _names(entry) if (line := lines.get(name)) is not None])
    line = None
    if not remaining and new_lines:
        unchanged = (
            candidate
            for candidate in new_lines
            if value is entry.value and not candidate.groups and value and value.text == candidate.placement
        )
        line = next(unchanged, new_lines[0])
    after = [*(candidate for candidate in new_lines if candidate is not line), *new]
    if not remaining and line is None:
        edit = without_entry(source.text, placed, entry)
        if edit is None:
            raise _elsewhere(source.whole(), KEYS[1])
        return [edit, *_after(source, placed, entry, after)]
    if line is not None and (value is None or value.origin is not None):
        raise _elsewhere(source.whole(), KEYS[1])
    if line is not None and groups != line.groups:
        return [_instead(source, placed, entry, [line, *after])]
    names = ",".join(remaining) if line is None else line.name
    edits = [] if names == entry.key.text else [_in_same_quotes(source, entry.key, names, placed.flow)]
    if line is not None and value is not None and value.text != line.placement:
        edits.append(_in_same_quotes(source, value, line.placement, placed.flow or value is not entry.value))
    return edits + _after(source, placed, entry, after)


def _place(entry: Entry) -> tuple[Scalar | None, str]:
    """Return the ranks of an entry and the node groups as written ("": whole cluster)."""
    if not isinstance(entry.value, MapNode):
        return (entry.value if isinstance(entry.value, Scalar) else None), ""
    inner, group = entry.value.get("placement"), entry.value.get("node_group")
    label = group.text.strip() if isinstance(group, Scalar) else ""
    return (inner if isinstance(inner, Scalar) else None), "" if label == CLUSTER_LABEL else label


def _in_same_quotes(source: Source, scalar: Scalar, text: str, flow: bool) -> Edit:
    span = scalar.span
    if span.length and source.text[span.start] in "'\"":
        return Edit(span.part(1, span.length - 1), text)
    return Edit(span, in_flow_map(text) if flow else plain_or_quoted(text))


def _instead(source: Source, placed: MapNode, entry: Entry, lines: Sequence[PlacementLine]) -> Edit:
    """Return the edit that replaces a whole entry by lines."""
    start, end = entry.key.span, entry.value.span.end
    end = end if placed.flow else line_stop(source.text, end)
    text = _text(source, placed, lines, (), indent_of(start), _step(source)).lstrip()
    return Edit(Span(start.file, start.start, end, start.line, start.column), text)


def _after(source: Source, placed: MapNode, entry: Entry, lines: Sequence[PlacementLine]) -> list[Edit]:
    if not lines:
        return []
    text, end = _text(source, placed, lines, (), indent_of(entry.key.span), _step(source)), entry.value.span.end
    return [Edit(point(source, end), f", {text}")] if placed.flow else [at_line_end(source, end, text)]


def _elsewhere(span: Span, key: str) -> UnusableInput:
    message = f"the answer cannot be written into this file: `{key}` is written elsewhere"
    return UnusableInput([error("PW603", "", message, span, help=f"write `{key}:` as a map here, with each component")])
