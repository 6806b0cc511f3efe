"""Edits that reshape a map or a list: in its own style, and nothing else changes."""

from __future__ import annotations

import pytest
from placewright.models.findings.span import Edit, apply_edits
from placewright.models.text.edit import with_entry, without_entry
from placewright.models.text.source import Source
from placewright.models.text.tree import ListNode, MapNode


def edited(text: str, edit: Edit | None) -> str | None:
    return apply_edits(text, [edit]) if edit else None


def at(text: str) -> MapNode | ListNode:
    value = Source("t", text).root.get("a")
    assert isinstance(value, (MapNode, ListNode))
    return value


@pytest.mark.parametrize(
    ("before", "position", "after"),
    [
        ("a:\n  x: 1 # one\n  y: 2 # two\nb: 3\n", 0, "a:\n  y: 2 # two\nb: 3\n"),
        ("a:\n  x: 1 # one\n  y:\n    z: 2\nb: 3\n", 1, "a:\n  x: 1 # one\nb: 3\n"),
        ("a: {x: 1, y: 2, z: 3}\n", 1, "a: {x: 1, z: 3}\n"),
        ("a: {x: 1, y: 2}\n", 1, "a: {x: 1}\n"),
        ("a:\r\n  x: 1\r\n  y: 2\r\n", 1, "a:\r\n  x: 1\r\n"),
        ("a: {x: 1}\n", 0, None),
    ],
)
def test_without_an_entry(before: str, position: int, after: str | None) -> None:
    value = at(before)
    assert isinstance(value, MapNode)
    assert edited(before, without_entry(before, value, value.entries[position])) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n    x: 1 # one\nb: 2", "a:\n    x: 1 # one\n    n: all\nb: 2"),
        ("a:\r  x: 1\r", "a:\r  x: 1\r  n: all\r"),
        ("a: {x: 1}", "a: {x: 1, n: all}"),
        ('{"a": {"x": 1}}', '{"a": {"x": 1, "n": all}}'),
        ("a: {}", None),
    ],
)
def test_with_an_entry(before: str, after: str | None) -> None:
    value = at(before)
    assert isinstance(value, MapNode)
    assert edited(before, with_entry(before, value, "n", "all")) == after
