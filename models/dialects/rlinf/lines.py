"""Lines of `component_placement`: new ones, and as few changes of written ones as possible."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Collection
from typing import Mapping as MappingType

from ...findings.finding import UnusableInput, error
from ...findings.span import Edit, Span
from ...machines.node_group import CLUSTER_LABEL
from ...record import dataclass
from ...text.reshape import without_entry
from ...text.scalar_text import in_flow_map, plain_or_quoted
from ...text.source import Source
from ...text.splice import at_line_end, indent_of, line_end, line_stop, point, quotes_keys
from ...text.tree import Entry, Mapping, Scalar


@dataclass(frozen=True, slots=True)
class Line:
    """One component: its name, its placement, and its node groups ("" for the whole cluster)."""

    name: str
    placement: str
    groups: str

    def block(self, indent: str, step: str) -> list[str]:
        """As lines of a block map."""
        key, placement = plain_or_quoted(self.name), plain_or_quoted(self.placement)
        if not self.groups:
            return [f"{indent}{key}: {placement}"]
        inner = indent + step
        return [f"{indent}{key}:", f"{inner}node_group: {plain_or_quoted(self.groups)}", f"{inner}placement: {placement}"]

    def flow(self, quoted: bool) -> str:
        """As an entry of a flow map, everything in double quotes if `quoted`."""
        texts = (self.name, "node_group", self.groups, "placement", self.placement)
        key, group_key, groups, placement_key, placement = (_json(text) if quoted else in_flow_map(text) for text in texts)
        return f"{key}: {{{group_key}: {groups}, {placement_key}: {placement}}}" if self.groups else f"{key}: {placement}"


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def insert_lines(source: Source, lines: list[Line]) -> list[Edit]:
    """The edit that adds the lines to `component_placement` of the `cluster` map, and these keys where they are missing.

    Raises UnusableInput (PW603) where one of the maps is written elsewhere, through an interpolation.
    """
    section = source.root.get("cluster")
    if section is None:
        return [_new_section(source, lines)]
    if not isinstance(section, Mapping):
        message = "the answer cannot be written into this file: `cluster` is written elsewhere"
        raise UnusableInput([error("PW603", "", message, section.span, help="write `cluster:` as a map here")])
    entry = section.entry("component_placement")
    if entry is None:
        return [_new_key(source, section, lines)]
    value = entry.value
    if isinstance(value, Mapping):
        return [_into_flow(source, section, value, lines) if value.flow else _into_block(source, section, value, lines)]
    if isinstance(value, Scalar) and value.is_null:
        text = _nested(source, section, entry, lines)
        if value.span.length:
            return [Edit(value.span, text)]
        return [at_line_end(source, entry.key.span.end, text)]
    message = "the answer cannot be written into this file: `component_placement` is written elsewhere"
    raise UnusableInput([error("PW603", "", message, value.span, help="write `component_placement:` as a map here")])


def _into_flow(source: Source, section: Mapping, value: Mapping, lines: list[Line]) -> Edit:
    text = _flow(source, section, lines)
    if not value.entries:
        return Edit(point(source, value.span.start + 1), text)
    return Edit(point(source, value.entries[-1].value.span.end), ", " + text)


def _into_block(source: Source, section: Mapping, value: Mapping, lines: list[Line]) -> Edit:
    first = value.entries[0].key.span
    indent = indent_of(first)
    return at_line_end(source, value.span.end, _text(source, lines, indent, _step(section)))


def _new_section(source: Source, lines: list[Line]) -> Edit:
    """`cluster:` in a file whose cluster stands in its `defaults`: what is written here is merged onto that."""
    root = source.root
    if root.flow:
        quoted = quotes_keys(source, root)
        inner = ", ".join(line.flow(quoted) for line in lines)
        names = [_json(name) if quoted else name for name in ("cluster", "component_placement")]
        text = f"{names[0]}: {{{names[1]}: {{{inner}}}}}"
        at = root.entries[-1].value.span.end if root.entries else root.span.start + 1
        return Edit(point(source, at), (", " if root.entries else "") + text)
    end = line_end(source)
    return at_line_end(source, root.span.end, f"{end}cluster:{end}  component_placement:" + _text(source, lines, "    ", "  "))


def _new_key(source: Source, section: Mapping, lines: list[Line]) -> Edit:
    if section.flow:
        name = '"component_placement"' if quotes_keys(source, section) else "component_placement"
        text = f"{name}: {{{_flow(source, section, lines)}}}"
        at = section.entries[-1].value.span.end if section.entries else section.span.start + 1
        return Edit(point(source, at), (", " if section.entries else "") + text)
    indent, step = indent_of(section.entries[0].key.span), _step(section)
    text = f"{line_end(source)}{indent}component_placement:" + _text(source, lines, indent + step, step)
    return at_line_end(source, section.span.end, text)


def _nested(source: Source, section: Mapping, entry: Entry, lines: list[Line]) -> str:
    if section.flow:
        return f"{{{_flow(source, section, lines)}}}"
    step = _step(section)
    return _text(source, lines, indent_of(entry.key.span) + step, step)


def _flow(source: Source, section: Mapping, lines: list[Line]) -> str:
    quoted = quotes_keys(source, section)
    return ", ".join(line.flow(quoted) for line in lines)


def _text(source: Source, lines: list[Line], indent: str, step: str) -> str:
    end = line_end(source)
    return "".join(end + text for line in lines for text in line.block(indent, step))


def _step(section: Mapping) -> str:
    """One level of indentation: that of the keys in `cluster`, which stands at the top."""
    return indent_of(section.entries[0].key.span) if not section.flow and section.entries else "  "


@dataclass(frozen=True, slots=True)
class _Change:
    """What becomes of one entry: the line that it is, if any is left, and the lines that come after it."""

    entry: Entry
    names: str
    line: Line | None
    after: tuple[Line, ...]


def rewrite_lines(source: Source, lines: MappingType[str, Line | None], stays: Collection[str] = ()) -> list[Edit]:
    """The edits that give these components their lines, and take out those that have None; all other lines stay as they are.

    So do those of the components of `stays`, whose lines say the same in other words; what the file does not place yet is written.
    Raises UnusableInput (PW603) where the lines are written elsewhere: in another file, or through an interpolation.
    """
    section = source.root.get("cluster")
    placed = section.get("component_placement") if isinstance(section, Mapping) else None
    there = {name for entry in placed for name in _names(entry)} if isinstance(placed, Mapping) else set()
    done = {name for name, line in lines.items() if (line is None and name not in there) or (name in stays and name in there)}
    lines = {name: line for name, line in lines.items() if name not in done}
    if not isinstance(section, Mapping) or not isinstance(placed, Mapping):
        raise _elsewhere(source)
    changes = [_change(entry, lines) for entry in placed if not there.isdisjoint(lines) and not lines.keys().isdisjoint(_names(entry))]
    new = _joined([line for name, line in lines.items() if line is not None and name not in there])
    if not changes:
        return insert_lines(source, list(new)) if new else []
    changes[-1] = replace(changes[-1], after=(*changes[-1].after, *new))
    edits: list[Edit] = []
    for change in changes:
        edits += _edits(source, section, placed, change)
    return edits


def _names(entry: Entry) -> list[str]:
    return [name.strip() for name in entry.key.text.split(",")]


def _change(entry: Entry, lines: MappingType[str, Line | None]) -> _Change:
    names = _names(entry)
    kept = [name for name in names if name not in lines]
    found = _joined([line for name in names if name in lines and (line := lines[name]) is not None])
    if kept:
        return _Change(entry, ",".join(kept), None, found)
    first = next((line for line in found if _as_written(entry, line)), found[0] if found else None)
    return _Change(entry, first.name if first else "", first, tuple(line for line in found if line is not first))


def _as_written(entry: Entry, line: Line) -> bool:
    """Does the entry say this place already?"""
    return isinstance(entry.value, Scalar) and not line.groups and entry.value.text == line.placement


def _joined(lines: list[Line]) -> tuple[Line, ...]:
    """Lines of the same place as one."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        found.setdefault((line.placement, line.groups), []).append(line.name)
    return tuple(Line(",".join(names), placement, groups) for (placement, groups), names in found.items())


def _edits(source: Source, section: Mapping, placed: Mapping, change: _Change) -> list[Edit]:
    entry, line, after = change.entry, change.line, change.after
    if not change.names:
        edit = without_entry(source.text, placed, entry)
        if edit is None:
            raise _elsewhere(source)
        return [edit, *_after(source, section, placed, entry, after)]
    value, groups = _place(entry)
    if line is not None and (value is None or value.origin is not None):
        raise _elsewhere(source)
    if line is not None and groups != line.groups:
        return [_instead(source, section, placed, entry, (line, *after))]
    edits = [] if change.names == entry.key.text else [_key(source, placed, entry, change.names)]
    if line is None or value is None:
        return edits + _after(source, section, placed, entry, after)
    if value.text != line.placement:
        edits.append(Edit(value.span, _in_same_quotes(source, value, line.placement, placed.flow or value is not entry.value)))
    return edits + _after(source, section, placed, entry, after)


def _place(entry: Entry) -> tuple[Scalar | None, str]:
    """Where the ranks of an entry stand, and its node groups as they are written."""
    if isinstance(entry.value, Scalar):
        return entry.value, ""
    inner, group = (entry.value.get(key) for key in ("placement", "node_group")) if isinstance(entry.value, Mapping) else (None, None)
    return (inner if isinstance(inner, Scalar) else None), _whole_cluster(group)


def _whole_cluster(group: object) -> str:
    """The node groups, "" for the whole cluster."""
    label = group.text.strip() if isinstance(group, Scalar) else ""
    return "" if label == CLUSTER_LABEL else label


def _in_same_quotes(source: Source, value: Scalar, ranks: str, flow: bool) -> str:
    """The ranks in the quotes that the value has."""
    quote = source.text[value.span.start] if value.span.length else ""
    if quote in ("'", '"'):
        return f"{quote}{ranks}{quote}"
    return in_flow_map(ranks) if flow else plain_or_quoted(ranks)


def _key(source: Source, placed: Mapping, entry: Entry, names: str) -> Edit:
    span = entry.key.span
    if source.text[span.start] in "'\"":
        return Edit(span.part(1, span.length - 1), names)
    return Edit(span, in_flow_map(names) if placed.flow else plain_or_quoted(names))


def _instead(source: Source, section: Mapping, placed: Mapping, entry: Entry, lines: tuple[Line, ...]) -> Edit:
    """The lines in the place of a whole entry."""
    start = entry.key.span
    if placed.flow:
        quoted = quotes_keys(source, placed)
        end, text = entry.value.span.end, ", ".join(line.flow(quoted) for line in lines)
    else:
        end = line_stop(source.text, entry.value.span.end)
        text = _block(source, section, entry, lines).lstrip()
    return Edit(Span(start.file, start.start, end, start.line, start.column), text)


def _block(source: Source, section: Mapping, entry: Entry, lines: tuple[Line, ...]) -> str:
    """The lines as they stand in a block map, each after a line end."""
    indent, step = indent_of(entry.key.span), indent_of(section.entries[0].key.span)
    return "".join(line_end(source) + each for line in lines for each in line.block(indent, step))


def _after(source: Source, section: Mapping, placed: Mapping, entry: Entry, lines: tuple[Line, ...]) -> list[Edit]:
    if not lines:
        return []
    if placed.flow:
        quoted = quotes_keys(source, placed)
        return [Edit(point(source, entry.value.span.end), "".join(f", {line.flow(quoted)}" for line in lines))]
    return [at_line_end(source, entry.value.span.end, _block(source, section, entry, lines))]


def _elsewhere(source: Source) -> UnusableInput:
    message = "the answer cannot be written into this file: the ranks that it changes are written elsewhere"
    return UnusableInput([error("PW603", "", message, source.whole(), help="write `component_placement:` here, with each component")])
