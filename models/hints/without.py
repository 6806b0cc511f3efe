"""Hints without those that are of nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from ..text.tree import Entry, MapNode, Value


def without(block: Value | None, entries: Collection[Entry]) -> Value | None:
    """The block without these entries of its `components`; None where nothing else is in it."""
    inner = block.get("components") if isinstance(block, MapNode) else None
    if not isinstance(block, MapNode) or not isinstance(inner, MapNode):
        return block
    left = replace(inner, entries=tuple(each for each in inner if each not in entries))
    its = (replace(each, value=left) if each.value is inner else each for each in block)
    kept = tuple(each for each in its if each.value is not left or left.entries)
    return replace(block, entries=kept) if kept else None
