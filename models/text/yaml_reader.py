"""YAML text to a tree of values with spans, over PyYAML's event stream.

The limits hold before anything is built: no aliases, core tags only, at most 64 levels and 100,000 values, whole
numbers of at most 19 digits, unique keys. PyYAML's C parser is used where it is there, the pure one where it is not.
"""

from __future__ import annotations

import re
from typing import Any, Iterator

import yaml

from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Span
from .tree import Entry, Mapping, Scalar, Sequence, Value

MAX_DEPTH = 64
MAX_VALUES = 100_000
MAX_DIGITS = 19
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Resolver(yaml.resolver.Resolver):
    """YAML 1.1 with one difference: `1e-6` is a number, as OmegaConf reads it (omegaconf/_utils.py, get_yaml_loader)."""


EXPONENT = "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(?:_[0-9]+)*[eE][-+]?[0-9]+", re.ASCII), list("-+0123456789")
"""That difference, as an implicit resolver: whoever writes text that is read here must quote what it takes for a number."""
_Resolver.add_implicit_resolver(*EXPONENT)
_RESOLVER: Any = _Resolver()
_CORE = "tag:yaml.org,2002:"
_TAGS = {_CORE + name for name in ("str", "int", "float", "bool", "null", "map", "seq")}


def read_yaml(name: str, text: str) -> Value:
    """The one document of a text, called `name` in every span. Raises UnusableInput with the place and the reason."""
    try:
        return _Reader(name, text).read()
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        span = _point(name, mark) if mark else _start(name)
        detail = " ".join(part for part in (problem.context, problem.problem) if part)
        if mark and text[mark.index : mark.index + 1] == "\t":
            raise _unusable(error("PW003", "", "this is not YAML: a tab indents this line", span, help="indent with spaces")) from None
        raise _unusable(error("PW003", "", f"this is not YAML: {detail}", span, help="mend the text at this place")) from None
    except yaml.YAMLError as problem:
        message = "this is not YAML: " + " ".join(str(problem).split())
        raise _unusable(error("PW003", "", message, _start(name), help="name a YAML text file")) from None


def _unusable(finding: Finding) -> UnusableInput:
    return UnusableInput([finding])


def _start(name: str) -> Span:
    return Span(name, 0, 0, 1, 1)


def _point(name: str, mark: Any) -> Span:
    return Span(name, mark.index, mark.index + 1, mark.line + 1, mark.column + 1)


class _Open:
    """A collection whose end has not been read yet."""

    __slots__ = ("start", "is_map", "flow", "children", "keys", "last")

    def __init__(self, start: Any, is_map: bool) -> None:
        self.start, self.is_map, self.flow = start.start_mark, is_map, bool(start.flow_style)
        self.children: list[Value] = []
        self.keys: dict[str, Span] = {}
        self.last: int = start.end_mark.index


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.values = 0

    def read(self) -> Value:
        stack: list[_Open] = []
        root: Value | None = None
        for event in self._events():
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._count(event)
                self._allowed_tag(event)
                if len(stack) >= MAX_DEPTH:
                    raise self._refuse("PW005", f"values are nested more than {MAX_DEPTH} levels deep", event)
                stack.append(_Open(event, isinstance(event, yaml.MappingStartEvent)))
                continue
            if isinstance(event, yaml.ScalarEvent):
                self._count(event)
                value: Value = self._scalar(event)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                value = self._close(stack.pop(), event)
            elif isinstance(event, yaml.AliasEvent):
                raise self._refuse("PW004", f"`*{event.anchor}` is an alias; aliases are not read", event)
            elif isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self._refuse("PW003", "a second document starts here; a configuration is one document", event)
            else:
                continue
            if stack:
                self._add(stack[-1], value, event)
            else:
                root = value
        if root is None:
            raise _unusable(error("PW003", "", f"`{self.name}` is empty", _start(self.name), help="name a configuration file"))
        return root

    def _events(self) -> Iterator[Any]:
        loader = _LOADER(self.text)
        try:
            while loader.check_event():
                yield loader.get_event()
        finally:
            loader.dispose()

    def _count(self, event: Any) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise self._refuse("PW002", f"the text holds more than {MAX_VALUES:,} values", event)

    def _scalar(self, event: Any) -> Scalar:
        tag = event.tag
        if tag is None or tag == "!":
            tag = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)
            if tag not in _TAGS:  # timestamps, `=` and the like are text to every framework here
                tag = _CORE + "str"
        self._allowed_tag(event)
        if tag == _CORE + "int" and sum(map(str.isdigit, event.value)) > MAX_DIGITS:
            raise self._refuse("PW002", f"a whole number has more than {MAX_DIGITS} digits", event)
        return Scalar(event.value, tag, self._span(event.start_mark, event.end_mark))

    def _allowed_tag(self, event: Any) -> None:
        if event.tag not in (None, "!") and event.tag not in _TAGS:
            raise self._refuse("PW007", f"the tag `{event.tag}` is not one of YAML's core tags", event)

    def _add(self, parent: _Open, value: Value, event: Any) -> None:
        parent.last = value.span.end
        if parent.is_map and len(parent.children) % 2 == 0:
            if not isinstance(value, Scalar):
                raise self._refuse("PW003", "a key must be a plain word, not a map or a list", event)
            if value.is_null:  # OmegaConf has no such key either
                raise self._refuse("PW003", "a key must be a plain word, not nothing (`null` in quotes is one)", event)
            if value.text == "<<" and value.span.length == 2:  # quoted, it is a key like any other
                raise self._refuse("PW004", "`<<` merges another map; merges are not read", event)
            if value.text in parent.keys:
                first = parent.keys[value.text]
                message = f"the key `{value.text}` stands twice in one map (first in line {first.line})"
                raise _unusable(error("PW006", "", message, value.span, label="again here", help="remove one of the two"))
            parent.keys[value.text] = value.span
        parent.children.append(value)

    def _close(self, collection: _Open, event: Any) -> Value:
        children = collection.children
        end = event.end_mark.index if collection.flow else collection.last
        start = collection.start
        span = Span(self.name, start.index, end, start.line + 1, start.column + 1)
        if not collection.is_map:
            return Sequence(tuple(children), span)
        pairs = zip(children[::2], children[1::2])
        return Mapping(tuple(Entry(key, value) for key, value in pairs if isinstance(key, Scalar)), span, collection.flow)

    def _span(self, start: Any, end: Any) -> Span:
        return Span(self.name, start.index, max(start.index, end.index), start.line + 1, start.column + 1)

    def _refuse(self, code: str, message: str, event: Any) -> UnusableInput:
        span = self._span(event.start_mark, event.end_mark)
        helps = {
            "PW002": "split the file, or remove what is not configuration",
            "PW003": "mend the text at this place",
            "PW004": "write the value out where it is used",
            "PW005": "flatten the file",
            "PW007": "remove the tag",
        }
        return _unusable(error(code, "", message, span, help=helps[code]))
