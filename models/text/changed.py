"""A tree with another value in it, or without one, where nobody wrote that: what a configuration would be then."""

from __future__ import annotations

from dataclasses import replace

from ..findings.span import Span
from .tree import Entry, MapNode, Scalar, Value


def number(value: int, span: Span) -> Scalar:
    """A whole number as it is read, at a place."""
    return Scalar(str(value), "tag:yaml.org,2002:int", span)


def with_value(owner: MapNode, path: str, value: Value | int | None) -> MapNode:
    """The map with another value at a dotted path, in place of what is there, or without that; maps on the way are added for a value.

    A number stands where what it replaces stood, or its map.
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
        return replace(owner, entries=tuple(each for each in owner.entries if each is not entry))
    if entry is None:
        return replace(owner, entries=(*owner.entries, Entry(Scalar(name, "tag:yaml.org,2002:str", owner.span), value)))
    return replace(owner, entries=tuple(Entry(each.key, value) if each is entry else each for each in owner.entries))
