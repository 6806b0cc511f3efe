"""Merging of trees: maps by key, every other value by replacement."""

from __future__ import annotations

from typing import Callable

from ..findings.span import Span
from ..text.interpolation_text import holds_interpolation
from ..text.tree import Entry, ListNode, MapNode, Scalar, Value
from ..text.unresolved import MANDATORY, UNRESOLVED

Path = tuple[str, ...]
Resolve = Callable[[Scalar, Path], tuple[Value, Path]]
"""Resolver: scalar and its path -> target value and path; a plain scalar maps to itself."""


class Unmergeable(Exception):
    """A map meets a list; `above` cannot be merged onto `below`."""

    def __init__(self, path: Path, below: Value, above: Value) -> None:
        self.path, self.below, self.above = path, below, above
        super().__init__(".".join(path))


def merged(below: MapNode, above: MapNode, follow: Resolve, path: Path = ()) -> MapNode:
    """Merge `above` onto `below`; keys of `below` come first.

    The result and its replaced entries have the places of `above`. Raises Unmergeable.
    """
    entries = {entry.key.text: entry for entry in below}
    for entry in above:
        old = entries.get(entry.key.text)
        if old is not None:
            value = _value(old.value, entry.value, follow, (*path, entry.key.text))
            entry = old if value is old.value else Entry(entry.key, value)
        entries[entry.key.text] = entry
    return MapNode(tuple(entries.values()), above.span, above.flow, below.merged or above.merged)


def _value(below: Value, above: Value, follow: Resolve, path: Path) -> Value:
    if isinstance(above, Scalar):
        return below if above.text == MANDATORY else above
    if isinstance(below, Scalar) and holds_interpolation(below.text) and below.tag != UNRESOLVED:
        below, _ = follow(below, path)
    if isinstance(below, MapNode) and isinstance(above, MapNode):
        return merged(below, above, follow, path)
    if isinstance(below, Scalar) or isinstance(below, ListNode) == isinstance(above, ListNode):
        return above
    raise Unmergeable(path, below, above)


def embed(value: Value, package: str, span: Span) -> Value:
    """Wrap a value in maps for a dotted path; the new keys get `span`."""
    for name in reversed(package.split(".") if package else []):
        value = MapNode((Entry(Scalar(name, "tag:yaml.org,2002:str", span), value),), value.span)
    return value


def mark_unknown(root: MapNode) -> MapNode:
    """Return the map with all scalars and lists unknown: an unread part may replace them."""
    return MapNode(tuple(Entry(entry.key, _unknown_copy(entry.value)) for entry in root), root.span, root.flow)


def _unknown_copy(value: Value) -> Value:
    if isinstance(value, MapNode):
        return mark_unknown(value)
    return Scalar(value.text if isinstance(value, Scalar) else "", UNRESOLVED, value.span)
