"""Tree of a YAML text: values with spans, and changed copies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Iterator, Union

import yaml

from ..findings.span import Span
from ..record import dataclass

MANDATORY = "???"
"""OmegaConf's mark of a value that must be given at the start of the job."""
UNRESOLVED = "unresolved"
"""Tag of a Scalar with an unknown value."""


class Unknown(Exception):
    """Value that is unknown here, but possibly known at run time."""


class Unread(Unknown):
    """Unknown environment variable; the message does not reveal its value."""


class Impossible(Exception):
    """Value that cannot exist: the chain of references is broken or circular."""


class UnresolvedKey(Impossible):
    """Key that does not exist in this file."""

    def __init__(self, key: str) -> None:
        super().__init__(f"there is no `{key[:80]}` in this file")
        self.key = key


_CORE = "tag:yaml.org,2002:"
_NULL = _CORE + "null"
_CONSTRUCTOR: Any = yaml.constructor.SafeConstructor()
_BUILD: dict[str, Callable[[Any], object]] = {
    _CORE + "int": _CONSTRUCTOR.construct_yaml_int,
    _CORE + "float": _CONSTRUCTOR.construct_yaml_float,
    _CORE + "bool": _CONSTRUCTOR.construct_yaml_bool,
    _NULL: lambda node: None,
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """Leaf of the tree.

    Attributes
    ----------
    tag : resolved YAML 1.1 tag.
    origin : real place of the text if it came through an interpolation.
    """

    text: str
    tag: str
    span: Span
    origin: Span | None = None

    @property
    def value(self) -> object:
        """Python value by YAML 1.1: int, float, bool, None or str."""
        build = _BUILD.get(self.tag)
        if build is None:
            return self.text
        try:
            return build(yaml.ScalarNode(self.tag, self.text))
        except (ValueError, KeyError, IndexError):  # `!!int ""`
            return self.text

    @property
    def is_null(self) -> bool:
        """True for YAML's null, also if nothing is written."""
        return self.tag == _NULL


@dataclass(frozen=True, slots=True)
class ListNode:
    """List with its span."""

    items: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry `key: value` of a map."""

    key: Scalar
    value: Value


@dataclass(frozen=True, slots=True)
class MapNode:
    """Map in the written order, with unique keys; `merged` entries came through `<<`."""

    entries: tuple[Entry, ...]
    span: Span
    flow: bool = False
    merged: bool = False

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def entry(self, key: str) -> Entry | None:
        """Return the entry of a key, or None."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry
        return None

    def get(self, key: str) -> Value | None:
        """Return the value of a key, or None."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry.value
        return None


Value = Union[Scalar, ListNode, MapNode]


def find(value: Value | None, path: str) -> Value | None:
    """Return the value at a dotted path such as ``cluster.node_groups.0.label``, or None."""
    for name in path.split(".") if path else []:
        if isinstance(value, MapNode):
            value = value.get(name)
        elif isinstance(value, ListNode) and name.isdecimal() and int(name) < len(value.items):
            value = value.items[int(name)]
        else:
            return None
    return value


def use_at(value: Value, alias: Span) -> Value:
    """Copy a value for an alias; every node in the copy has both places."""
    span = value.span.use_at(alias)
    if isinstance(value, Scalar):
        return Scalar(value.text, value.tag, span, value.origin)
    if isinstance(value, ListNode):
        return ListNode(tuple(use_at(item, alias) for item in value.items), span)
    keys = (Scalar(entry.key.text, entry.key.tag, entry.key.span.use_at(alias), entry.key.origin) for entry in value)
    entries = tuple(Entry(key, use_at(entry.value, alias)) for key, entry in zip(keys, value))
    return MapNode(entries, span, value.flow, value.merged)


def leaves(value: Value) -> Iterator[Scalar]:
    """Yield all scalars in a value."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Scalar):
            yield value
        else:
            waiting += reversed([entry.value for entry in value] if isinstance(value, MapNode) else value.items)


def plain(value: Value) -> object:
    """Convert a value to dicts, lists and Python scalars, without spans."""
    if isinstance(value, MapNode):
        return {entry.key.text: plain(entry.value) for entry in value}
    if isinstance(value, ListNode):
        return [plain(item) for item in value.items]
    return value.value


def kind_of(value: Value) -> str:
    """Name the kind of a value for users: a map, a list, a number, text, nothing and so on."""
    if isinstance(value, MapNode):
        return "a map"
    if isinstance(value, ListNode):
        return "a list"
    names = {"int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}
    return names.get(value.tag.removeprefix(_CORE), "text")


def number(value: int, span: Span) -> Scalar:
    """Build the scalar of a whole number at a place."""
    return Scalar(str(value), "tag:yaml.org,2002:int", span)


def with_value(owner: MapNode, path: str, value: Value | int | None) -> MapNode:
    """Return the map with a value set at a dotted path, or removed for None.

    Missing maps on the way are added for a value. A number takes the place of the replaced value,
    or of its map.
    """
    name, _, rest = path.partition(".")
    entry = owner.entry(name)
    if rest:
        inner: Value | None = entry.value if entry else None
        if value is None and not isinstance(inner, MapNode):
            return owner
        inner = inner if isinstance(inner, MapNode) else MapNode((), owner.span, owner.flow)
        value = with_value(inner, rest, value)
    elif isinstance(value, int):
        value = number(value, entry.value.span if entry else owner.span)
    if value is None:
        return replace(owner, entries=tuple(old for old in owner.entries if old is not entry))
    if entry is None:
        return replace(owner, entries=(*owner.entries, Entry(Scalar(name, "tag:yaml.org,2002:str", owner.span), value)))
    return replace(owner, entries=tuple(Entry(old.key, value) if old is entry else old for old in owner.entries))
