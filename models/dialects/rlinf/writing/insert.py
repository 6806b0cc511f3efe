"""Where new lines of `component_placement` go, and in whose style: block or flow, the file's own indentation and line ends."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ....findings.finding import UnusableInput, error
from ....findings.span import Edit
from ....text.scalar_text import in_flow_map, plain_or_quoted
from ....text.source import Source
from ....text.splice import at_line_end, indent_of, line_end, point, quotes_keys
from ....text.tree import Entry, Mapping, Scalar


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
