"""Which keys the block `placewright` has, before any of it is read as what it means."""

from __future__ import annotations

from ..text.tree import MapNode, Value


def timed_names(block: Value | None) -> frozenset[str]:
    """The components whose hints in the block `placewright` say seconds."""
    return _saying(block, "seconds")


def may_leave_degrees(block: Value | None) -> bool:
    """Do its hints say anything of degrees, so that some may be open?"""
    return bool(_saying(block, "parallel"))


def _saying(block: Value | None, key: str) -> frozenset[str]:
    """The components whose hints in the block have a key."""
    inner = block.get("components") if isinstance(block, MapNode) else None
    entries = inner if isinstance(inner, MapNode) else ()
    return frozenset(each.key.text for each in entries if isinstance(each.value, MapNode) and each.value.get(key) is not None)


def said_of_plan(block: Value | None) -> frozenset[str]:
    """The keys of `plan` in the block `placewright`."""
    plan = block.get("plan") if isinstance(block, MapNode) else None
    return frozenset(each.key.text for each in plan) if isinstance(plan, MapNode) else frozenset()
