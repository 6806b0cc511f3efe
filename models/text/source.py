"""Source: text of a file, read within limits over PyYAML's event stream.

The limits hold before anything is built: core tags only, at most 64 levels and 100,000 values (with
those that aliases stand for), whole numbers of at most 19 digits, unique keys. PyYAML's C parser is
used if installed, else the pure one. Aliases and merges are expanded as PyYAML does it
(constructor.py, flatten_mapping); a value from an alias keeps its own place, and the place of the
alias.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Iterable, cast

import yaml

from ..findings.causes import meet
from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span, apply_edits
from ..record import cached_property, dataclass
from .tree import Entry, ListNode, MapNode, Scalar, Value, use_at

MAX_DEPTH = 64
MAX_VALUES = 100_000
MAX_DIGITS = 19
_LOADER: Any = getattr(getattr(yaml, "cyaml", None), "CParser", yaml.SafeLoader)
EXPONENT = "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+$", re.ASCII), list("-+0123456789")
"""Implicit resolver for numbers such as `1e-6`; writers must quote such texts."""
_CORE = "tag:yaml.org,2002:"
_TAGS = {_CORE + name for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_STR, _INT, _NULL, _MERGE = _CORE + "str", _CORE + "int", _CORE + "null", _CORE + "merge"
_STARTS = {yaml.MappingStartEvent, yaml.SequenceStartEvent}
_ENDS = {yaml.MappingEndEvent, yaml.SequenceEndEvent}
_ANCHOR = re.compile(r"(?:![^\s,\[\]{}]*\s+)?&[\w-]+(?:\s+|#[^\n]*\n)*")
_HELPS = {
    "PW002": "split the file, or remove what is not configuration",
    "PW003": "fix the text at this place",
    "PW004": "write the values out where they are used; real configurations have a few hundred",
    "PW005": "flatten the file",
    "PW007": "remove the tag",
}
MAX_BYTES = 1 << 20


class _Resolver(yaml.resolver.Resolver):
    """YAML 1.1, but `1e-6` is a number, as in OmegaConf (_utils.py, get_yaml_loader)."""


_Resolver.add_implicit_resolver(*EXPONENT)
_IMPLICIT: dict[str | None, list[tuple[str, re.Pattern[str]]]] = _Resolver.yaml_implicit_resolvers


def _plain_tag(text: str) -> str:
    """Return the tag of an unquoted text, as PyYAML resolves it."""
    for tag, pattern in _IMPLICIT.get(text[:1], ()):
        if pattern.match(text):
            return tag if tag in _TAGS else _STR  # timestamps, `=` and so on are text to all frameworks
    return _STR


@dataclass(frozen=True, slots=True)
class YamlText:
    """Single document of a text; `shared` are the places of values with aliases."""

    value: Value
    shared: tuple[Span, ...] = ()


def read_yaml(name: str, text: str) -> Value:
    """Return the value of `read_document`."""
    return read_document(name, text).value


def read_document(name: str, text: str) -> YamlText:
    """Parse the document of a text, `name` in spans. Raises UnusableInput with the place."""
    try:
        return _Reader(name, text).read()
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        span = Span(name, mark.index, mark.index + 1, mark.line + 1, mark.column + 1) if mark else _start(name)
        detail = " ".join(part for part in (problem.context, problem.problem) if part)
        if mark and text[mark.index : mark.index + 1] == "\t":
            raise _unusable(error("PW003", "", "this is not YAML: a tab indents this line", span, help="indent with spaces")) from None
        raise _unusable(error("PW003", "", f"this is not YAML: {detail}", span, help=_HELPS["PW003"])) from None
    except yaml.YAMLError as problem:
        message = "this is not YAML: " + " ".join(str(problem).split())
        raise _unusable(error("PW003", "", message, _start(name), help="name a YAML text file")) from None


def _unusable(finding: Finding) -> UnusableInput:
    return UnusableInput([finding])


def _start(name: str) -> Span:
    return Span(name, 0, 0, 1, 1)


@dataclass(slots=True)
class _Anchor:
    """Value of an anchor with its number of values and levels; None while open."""

    value: Value | None = None
    size: int = 1
    height: int = 0
    line: int = 1


class _Open:
    """Collection whose end has not been read yet."""

    __slots__ = ("start", "is_map", "flow", "children", "keys", "last", "anchored", "before", "height", "merges")

    def __init__(self, start: Any, is_map: bool, anchor: _Anchor | None, before: int) -> None:
        self.start, self.is_map, self.flow = start.start_mark, is_map, bool(start.flow_style)
        self.children: list[Value] = []
        self.keys: dict[str, Span] = {}
        self.last: int = start.end_mark.index
        self.anchored, self.before = anchor, before
        self.height, self.merges = 0, False


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.values = 0
        self.anchors: dict[str, _Anchor] = {}
        self.shared: dict[str, Span] = {}

    def read(self) -> YamlText:
        stack: list[_Open] = []
        root: Value | None = None
        for event in iter(_LOADER(self.text).get_event, None):
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._count(event)
                value: Value = self._scalar(event)
                if event.anchor is not None:
                    self._anchor(event).value = value
            elif kind in _STARTS:
                before = self.values
                self._count(event)
                if len(stack) >= MAX_DEPTH:
                    raise self._refuse_depth(event)
                opened_anchor = None if event.anchor is None else self._anchor(event)
                stack.append(_Open(event, kind is yaml.MappingStartEvent, opened_anchor, before))
                continue
            elif kind in _ENDS:
                node = stack.pop()
                value = self._close(node, event)
                if node.anchored is not None:
                    anchor = node.anchored
                    anchor.value, anchor.size, anchor.height = value, self.values - node.before, node.height + 1
                if stack and stack[-1].height <= node.height:
                    stack[-1].height = node.height + 1
            elif kind is yaml.AliasEvent:
                value = self._expand_alias(event, stack)
            elif kind is yaml.DocumentStartEvent and root is not None:
                raise self._refuse(
                    "PW003", "a second document starts here, but a configuration is one document", event, help_="keep one document"
                )
            else:
                continue
            if stack:
                self._add(stack[-1], value, event)
            else:
                root = value
        if root is None:
            fault = "holds comments alone" if self.text.strip() else "is empty"
            raise _unusable(error("PW003", "", f"`{self.name}` {fault}", _start(self.name), help="name a configuration file"))
        return YamlText(root, tuple(self.shared.values()))

    def _count(self, event: Any) -> None:
        """Count a value within the limit, of an allowed tag."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise self._refuse("PW002", f"the text holds more than {MAX_VALUES:,} values", event)
        if event.tag is not None and event.tag != "!" and event.tag not in _TAGS:
            raise self._refuse("PW007", f"the tag `{event.tag}` is not one of YAML's core tags", event)

    def _scalar(self, event: Any) -> Scalar:
        tag = event.tag
        if tag is None or tag == "!":
            tag = _plain_tag(event.value) if event.implicit[0] else _STR
        if tag == _INT and len(event.value) > MAX_DIGITS and sum(map(str.isdigit, event.value)) > MAX_DIGITS:
            raise self._refuse("PW002", f"a whole number has more than {MAX_DIGITS} digits", event)
        return Scalar(event.value, tag, self._span(event))

    def _anchor(self, event: Any) -> _Anchor:
        """Register the anchor of an event, once, as PyYAML (composer.py, compose_node)."""
        first = self.anchors.get(event.anchor)
        if first is not None:
            message = f"the anchor `&{event.anchor}` appears twice (first in line {first.line}), which PyYAML refuses"
            raise self._refuse("PW003", message, event, "rename one of the two")
        self.anchors[event.anchor] = anchor = _Anchor(line=event.start_mark.line + 1)
        return anchor

    def _expand_alias(self, event: Any, stack: list[_Open]) -> Value:
        """Return the value of an alias: a copy with both places."""
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            raise self._refuse("PW003", f"`*{event.anchor}` refers to `&{event.anchor}`, which is not defined before it", event)
        if anchor.value is None:
            raise self._refuse("PW003", f"`*{event.anchor}` refers to the value that it is a part of, which never ends", event)
        self.values += anchor.size
        if self.values > MAX_VALUES:
            raise self._refuse("PW004", f"with `*{event.anchor}`, aliases expand this text to more than {MAX_VALUES:,} values", event)
        if len(stack) + anchor.height > MAX_DEPTH:
            raise self._refuse_depth(event)
        if stack and stack[-1].height < anchor.height:
            stack[-1].height = anchor.height
        self.shared.setdefault(event.anchor, anchor.value.span)
        return use_at(anchor.value, self._span(event))

    def _add(self, parent: _Open, value: Value, event: Any) -> None:
        parent.last = value.span.end if value.span.via is None else event.end_mark.index
        if parent.is_map and len(parent.children) % 2 == 0:
            if not isinstance(value, Scalar):
                raise self._refuse("PW003", "a key must be a plain word, not a map or a list", event)
            if value.tag == _NULL:  # OmegaConf has no null key either
                raise self._refuse("PW003", "a key must be a plain word, not nothing (`null` in quotes is one)", event)
            if value.text == "<<" and value.span.length == 2:  # a quoted `<<` is a normal key
                parent.merges = True
                parent.children.append(replace(value, tag=_MERGE))
                return
            if value.text in parent.keys:
                first = parent.keys[value.text]
                message = f"the key `{value.text}` appears twice in one map (first in line {first.line})"
                raise _unusable(error("PW006", "", message, value.span, label="again here", help="remove one of the two"))
            parent.keys[value.text] = value.span
        parent.children.append(value)

    def _close(self, collection: _Open, event: Any) -> Value:
        children = collection.children
        end = event.end_mark.index if collection.flow else collection.last
        mark = collection.start
        span = Span(self.name, mark.index, end, mark.line + 1, mark.column + 1)
        if collection.anchored is not None:
            span = self._without_anchor(span)
        if not collection.is_map:
            return ListNode(tuple(children), span)
        entries: Iterable[Entry] = map(Entry, cast("list[Scalar]", children[::2]), children[1::2])
        if collection.merges:
            entries = self._merge(entries)
        return MapNode(tuple(entries), span, collection.flow, collection.merges)

    def _merge(self, entries: Iterable[Entry]) -> Iterable[Entry]:
        """Return the entries from `<<` first, then the written entries, which replace them."""
        own_entries, entry_of_key = list[Entry](), dict[str, Entry]()
        for entry in entries:
            if entry.key.tag != _MERGE:
                own_entries.append(entry)
                continue
            # Of a list the first map wins; of several `<<` the last one.
            for base in reversed(entry.value.items) if isinstance(entry.value, ListNode) else (entry.value,):
                if not isinstance(base, MapNode):
                    message = "`<<` takes a map or a list of maps, usually as `<<: *name`"
                    raise _unusable(error("PW003", "", message, entry.value.span, help=_HELPS["PW003"]))
                entry_of_key.update((inner.key.text, inner) for inner in base)
        entry_of_key.update((entry.key.text, entry) for entry in own_entries)
        return entry_of_key.values()

    def _span(self, event: Any) -> Span:
        start, stop = event.start_mark, event.end_mark.index
        first = start.index
        span = Span(self.name, first, stop if stop > first else first, start.line + 1, start.column + 1)
        return span if event.anchor is None or isinstance(event, yaml.AliasEvent) else self._without_anchor(span)

    def _without_anchor(self, span: Span) -> Span:
        """Return the span of the value alone, since an edit must keep the anchor."""
        match = _ANCHOR.match(self.text, span.start)
        if match is None:
            return span
        anchor_text = self.text[span.start : min(match.end(), span.end)]
        lines = anchor_text.count("\n")
        column = len(anchor_text) - anchor_text.rfind("\n") if lines else span.column + len(anchor_text)
        return Span(span.file, span.start + len(anchor_text), span.end, span.line + lines, column)

    def _refuse_depth(self, event: Any) -> UnusableInput:
        return self._refuse("PW005", f"values are nested more than {MAX_DEPTH} levels deep", event)

    def _refuse(self, code: str, message: str, event: Any, help_: str = "") -> UnusableInput:
        start, end = event.start_mark, event.end_mark
        span = Span(self.name, start.index, max(start.index, end.index), start.line + 1, start.column + 1)
        return _unusable(error(code, "", message, span, help=help_ or _HELPS[code]))


@dataclass(frozen=True)
class Source:
    """Text with a name; `root` is its YAML value, parsed on first use."""

    name: str
    text: str = field(repr=False)

    @staticmethod
    def read(path: str | Path, name: str = "") -> Source:
        """Read a file; `name` replaces its path in spans and messages.

        Raises UnusableInput if it is missing, unreadable, larger than 1 MiB or not UTF-8.
        """
        name = name or str(path)
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            raise UnusableInput([error("PW001", "", f"there is no file `{name}`", help="check the path")]) from None
        except (OSError, ValueError) as problem:  # a name with a null character is a ValueError
            message = f"`{name}` cannot be read: {getattr(problem, 'strerror', None) or problem}"
            raise UnusableInput([error("PW001", "", message, help="name a readable file")]) from None
        return Source.of(name, data)

    @staticmethod
    def of(name: str, data: bytes) -> Source:
        """Return the source of a file's bytes. Raises UnusableInput as `read` does."""
        if len(data) > MAX_BYTES:
            message = f"`{name}` is larger than {MAX_BYTES:,} bytes, the most that is read"
            raise UnusableInput([error("PW002", "", message, help="real configurations are below 40,000 bytes: is this the right file?")])
        try:
            return Source(name, data.decode("utf-8-sig"))
        except UnicodeDecodeError as problem:
            message = f"`{name}` is not UTF-8 text (byte {problem.start})"
            raise UnusableInput([error("PW003", "", message, help="name a YAML text file")]) from None

    @property
    def value(self) -> Value:
        """YAML value. Raises UnusableInput if the text is not YAML within the limits."""
        return self._read.value

    @cached_property
    def _read(self) -> YamlText:
        return read_document(self.name, self.text)

    @property
    def shared(self) -> tuple[Span, ...]:
        """Places of values with aliases; empty for a text that was not read as YAML."""
        return self._read.shared if "_read" in self.__dict__ else ()

    @cached_property
    def root(self) -> MapNode:
        """Top-level map. Raises UnusableInput if the text is not one YAML map."""
        value = self.value
        if not isinstance(value, MapNode):
            message = f"`{self.name}` does not hold a map at its top level"
            raise UnusableInput([error("PW003", "", message, value.span, help="a configuration starts with keys such as `cluster:`")])
        return value

    def holds(self, root: MapNode) -> bool:
        """Return True if a tree is that of this text, unchanged."""
        return self.__dict__.get("root") is root

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends, counted as a YAML reader does."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def edit(self, edits: list[Edit]) -> Source:
        """Apply edits. Raises UnusableInput (PW603) if they clash or change an aliased value."""
        alias_span = next((span for edit in edits for span in self.shared if meet(edit.span, span)), None)
        if alias_span is None:
            try:
                return Source(self.name, apply_edits(self.text, edits))
            except ValueError:
                alias_span = edits[0].span
        message = f"the answer cannot be written into this file: line {alias_span.line} holds one value for several places"
        raise UnusableInput([error("PW603", "", message, alias_span, help="write the value out where its alias is used")])

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` to `end`."""
        line = bisect_right(self._line_starts, start)
        return Span(self.name, start, max(start, end), line, start - self._line_starts[line - 1] + 1)

    def whole(self) -> Span:
        """Return the first character, the place of findings about the file as a whole."""
        return Span(self.name, 0, 0, 1, 1)
